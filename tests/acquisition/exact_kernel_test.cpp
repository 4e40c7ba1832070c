#include "dissent/acquisition/exact_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dissent/base/random.hpp"

namespace dissent {
namespace {

// Against the plain formula, at sizes that fill no vector, and with rows that are the same to rounding.
TEST(ExactKernel, IsThePlainFormula) {
  Stream draw(1, Purpose::kTest);
  for (const std::size_t num_aim : {1UL, 7UL, 8UL, 21UL}) {
    for (const std::size_t num_rows : {1UL, 3UL, 256UL, 300UL}) {
      PanelBuffer<double> covariance(num_aim, num_rows);
      std::vector<double> aim(num_aim);
      std::vector<double> own(num_rows);
      for (double& precision : aim) {
        precision = 0.5 + draw.uniform();
      }
      for (double& precision : own) {
        precision = 0.5 + draw.uniform();
      }
      for (std::size_t a = 0; a < num_aim; ++a) {
        for (std::size_t n = 0; n < num_rows; ++n) {
          covariance.panel()(a, n) = (n == 2 ? 1 + 1e-15 : draw.uniform()) / std::sqrt(aim[a] * own[n]);
        }
      }
      const std::size_t begin = num_rows > 256 ? 256 : 0;
      std::vector<double> sum(num_rows - begin, 1.0);
      add_dependence({covariance.panel(), aim, std::span(own).subspan(begin), begin}, sum);
      for (std::size_t n = begin; n < num_rows; ++n) {
        double expected = 1;
        for (std::size_t a = 0; a < num_aim; ++a) {
          const double with = covariance.panel()(a, n);
          expected -= std::log(1 - std::min(with * with * own[n] * aim[a], Dependence::kMostCorrelated));
        }
        EXPECT_NEAR(sum[n - begin], expected, 1e-12 * std::abs(expected)) << num_aim << " " << num_rows << " " << n;
      }
    }
  }
}

}  // namespace
}  // namespace dissent
