#include "dissent/process/waves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dissent/process/panels.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;

TEST(Matern, IsThePlainFormulaAtAwkwardSizes) {
  for (const Index columns : {0, 1, 5}) {
    for (const Index num_others : {1, 3, 4, 9}) {
      for (const Index num_rows : {1, 16, 19}) {
        const RowMatrix rows = normal_rows(num_rows, columns, 1);
        const RowMatrix others = normal_rows(num_others, columns, 2);
        const PanelBuffer<double> batch = batch_of(rows);
        PanelBuffer<double> out = make_panel(num_others, num_rows);
        PanelBuffer<double> slope = make_panel(num_others, num_rows);
        matern({batch.panel(), others.data(), 1.7, out.panel(), slope.panel(), batch.capacity()});
        for (Index k = 0; k < num_others; ++k) {
          for (Index b = 0; b < num_rows; ++b) {
            const double q = std::sqrt(5 * (rows.row(b) - others.row(k)).squaredNorm());
            EXPECT_NEAR(mapped(out.panel(), num_rows)(k, b), 1.7 * (1 + q + q * q / 3) * std::exp(-q), 1e-14);
            EXPECT_NEAR(mapped(slope.panel(), num_rows)(k, b), 1.7 * 5 / 3 * (1 + q) * std::exp(-q), 1e-14);
          }
        }
      }
    }
  }
}

TEST(Waves, AreCosinesAndSinesOfTurns) {
  RowMatrix turns(1, 9);
  turns << 0, 0.25, -0.25, 0.5, 0.4999999, 1.125, -7.3, 1e6 + 0.3, 1e300;
  const PanelBuffer<double> in = panel_of(turns);
  PanelBuffer<double> cosine = make_panel(1, 9);
  PanelBuffer<double> sine = make_panel(1, 9);
  waves({in.panel(), 3, cosine.panel(), sine.panel(), 9});
  for (Index k = 0; k < 8; ++k) {
    const double angle = 2 * std::numbers::pi * (turns(0, k) - std::round(turns(0, k)));
    EXPECT_NEAR(mapped(cosine.panel(), 9)(0, k), 3 * std::cos(angle), 1e-9) << turns(0, k);
    EXPECT_NEAR(mapped(sine.panel(), 9)(0, k), 3 * std::sin(angle), 1e-9) << turns(0, k);
  }
  EXPECT_EQ(mapped(cosine.panel(), 9)(0, 8), 3);  // whole turns
  EXPECT_EQ(mapped(sine.panel(), 9)(0, 8), 0);
}

}  // namespace
}  // namespace dissent
