#include "dissent/matrix/product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dissent/base/random.hpp"

namespace dissent {
namespace {

PanelBuffer<double> random_panel(std::size_t rows, std::size_t columns, Stream& stream) {
  PanelBuffer<double> buffer(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < columns; ++b) {
      buffer.panel()(r, b) = stream.normal();
    }
  }
  return buffer;
}

std::vector<double> random_values(std::size_t count, Stream& stream) {
  std::vector<double> out(count);
  stream.fill_normal(out);
  return out;
}

struct Sizes {
  std::size_t rows;
  std::size_t terms;
  std::size_t columns;
};
constexpr Sizes kSizes[] = {{1, 1, 1},     {3, 0, 5},     {7, 5, 16},   {59, 61, 17},
                            {60, 256, 33}, {121, 300, 2}, {64, 513, 40}};

TEST(Product, MatchesTheFormulaAtAwkwardSizes) {
  Stream stream(1, Purpose::kTest);
  for (const auto& [rows, terms, columns] : kSizes) {
    for (const bool by_rows : {true, false}) {
      const std::vector<double> left = random_values(rows * terms + 1, stream);
      const Strided view = by_rows ? Strided{left.data(), terms, 1} : Strided{left.data(), 1, rows};
      const PanelBuffer<double> right = random_panel(terms, columns, stream);
      const PanelBuffer<double> before = random_panel(rows, columns, stream);
      PanelBuffer<double> out = before;
      multiply({view, -0.5, right.panel(), out.panel(), columns, by_rows});
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t b = 0; b < columns; ++b) {
          double expected = by_rows ? before.panel()(r, b) : 0;
          for (std::size_t k = 0; k < terms; ++k) {
            expected += -0.5 * view(r, k) * right.panel()(k, b);
          }
          ASSERT_NEAR(out.panel()(r, b), expected, 1e-12) << rows << " x " << terms << " x " << columns;
        }
      }
    }
  }
}

TEST(Product, AColumnDoesNotDependOnTheOthers) {
  Stream stream(2, Purpose::kTest);
  const std::vector<double> left = random_values(70 * 90, stream);
  const PanelBuffer<double> right = random_panel(90, 100, stream);
  PanelBuffer<double> all(70, 100);
  multiply({{left.data(), 90, 1}, 1, right.panel(), all.panel(), 100});
  PanelBuffer<double> one_right(90, 1);
  for (std::size_t k = 0; k < 90; ++k) {
    one_right.panel()(k, 0) = right.panel()(k, 77);
  }
  PanelBuffer<double> one(70, 1);
  multiply({{left.data(), 90, 1}, 1, one_right.panel(), one.panel(), 1});
  for (std::size_t r = 0; r < 70; ++r) {
    ASSERT_EQ(one.panel()(r, 0), all.panel()(r, 77));
  }
}

class TriangularSolve : public testing::TestWithParam<std::size_t> {};

// What is multiplied by L, or by its transpose, and solved for comes back. Above the diagonal lies what must not be
// read.
TEST_P(TriangularSolve, UndoesAProduct) {
  const std::size_t size = GetParam();
  Stream stream(3, Purpose::kTest, size);
  std::vector<double> lower(size * size, std::nan(""));
  const Strided view{lower.data(), 1, size};
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t r = k; r < size; ++r) {
      lower[k * size + r] = r == k ? 1 + stream.uniform() : stream.normal() / static_cast<double>(size);
    }
  }
  const PanelBuffer<double> x = random_panel(size, 19, stream);
  for (const bool upper : {false, true}) {
    PanelBuffer<double> values(size, 19);
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t b = 0; b < 19; ++b) {
        for (std::size_t k = upper ? r : 0; k < (upper ? size : r + 1); ++k) {
          values.panel()(r, b) += (upper ? view(k, r) : view(r, k)) * x.panel()(k, b);
        }
      }
    }
    upper ? solve_upper(view, values.panel(), 19) : solve_lower(view, values.panel(), 19);
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t b = 0; b < 19; ++b) {
        ASSERT_NEAR(values.panel()(r, b), x.panel()(r, b), 1e-11) << r << ", " << b;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, TriangularSolve, testing::Values(0, 1, 2, 29, 30, 31, 60, 61, 95, 257));

}  // namespace
}  // namespace dissent
