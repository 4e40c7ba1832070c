// The three splines against golden values of the published implementation: outputs, log-slopes, inverses, gradients.
//
// Rows whose input is a knot (kind 2) may fall into either neighbouring bin by rounding; values and first derivatives
// agree there, gradients of the log-slope do not, so those rows are tested against the plain reference elsewhere. The
// golden inverse is NaN for all-zero parameters and loose near knots; there ours must round-trip. In float, a result
// may also differ by what moving x by four of its roundings does to it in double: next to a knot between a flat and a
// steep bin that is far more than 1e-4.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "flow/transform_fixture.hpp"
#include "support/golden.hpp"

namespace dissent {
namespace {

using test::Golden;
using test::TransformBatch;

constexpr double kBound = 1.2;

struct Case {
  const char* file;
  TransformKind kind;
};

class TransformGolden : public testing::TestWithParam<Case> {};

template <class T>
TransformBatch<T> load(const Golden& golden, TransformKind kind, const std::string& input_name) {
  const auto& inputs = golden[input_name];
  const Transform transform{kind, static_cast<int>(golden["num_bins"].scalar()), golden["tail_bound"].scalar()};
  TransformBatch<T> block(transform, 1, inputs.size());
  int p = 0;
  for (const char* name : {"unnormalized_widths", "unnormalized_heights", "unnormalized_derivatives"}) {
    const auto& values = golden[name];
    for (std::size_t k = 0; k < values.shape[1]; ++k, ++p) {
      for (std::size_t n = 0; n < inputs.size(); ++n) {
        block.raw.panel()(p, n) = static_cast<T>(values(n, k));
      }
    }
  }
  EXPECT_EQ(p, transform.num_params());
  std::copy(inputs.data.begin(), inputs.data.end(), block.in.panel().row(0));
  return block;
}

double relative_error(double got, double want) { return std::abs(got - want) / std::max(1.0, std::abs(want)); }

// Results of the double kernels for the golden inputs moved by `shift`.
TransformBatch<double> moved(const Golden& golden, TransformKind kind, double shift) {
  auto block = load<double>(golden, kind, "inputs");
  for (std::size_t n = 0; n < block.batch; ++n) {
    block.in.panel()(0, n) += shift;
    block.grad_out.panel()(0, n) = golden["grad_c1"](n);
    block.grad_log_slope[n] = golden["grad_c2"](n);
  }
  block.forward();
  block.backward();
  return block;
}

template <class T>
class Comparison {
 public:
  Comparison(const Golden& golden, TransformKind kind, double tolerance)
      : golden_(golden), block_(load<T>(golden, kind, "inputs")), tolerance_(tolerance) {
    const double shift = std::is_same_v<T, float> ? 4 * std::numeric_limits<T>::epsilon() * kBound : 0.0;
    below_ = std::make_unique<TransformBatch<double>>(moved(golden, kind, -shift));
    here_ = std::make_unique<TransformBatch<double>>(moved(golden, kind, 0));
    above_ = std::make_unique<TransformBatch<double>>(moved(golden, kind, shift));
    for (std::size_t n = 0; n < block_.batch; ++n) {
      block_.grad_out.panel()(0, n) = static_cast<T>(golden["grad_c1"](n));
      block_.grad_log_slope[n] = static_cast<T>(golden["grad_c2"](n));
    }
    block_.forward();
    block_.backward();
  }

  std::size_t size() const { return block_.batch; }

  // Rounded to T, an input an ulp outside the tail bound stands on it: another case.
  bool same_side(std::size_t n) const {
    return (std::abs(golden_["inputs"](n)) <= kBound) ==
           (std::abs(block_.in.panel()(0, n)) <= static_cast<T>(block_.transform.tail_bound));
  }

  void expect_values(std::size_t n) const {
    expect(
        n, [](const auto& b, std::size_t k) { return b.out.panel()(0, k); }, golden_["outputs"](n), 1, "output");
    expect(
        n, [](const auto& b, std::size_t k) { return b.log_slope[k]; }, golden_["logabsdet"](n), 1, "log slope");
  }

  // Relative to the largest gradient of the row, as the small ones are differences of the large.
  void expect_gradients(std::size_t n) const {
    double largest = std::abs(golden_["grad_inputs"](n));
    for (const char* name : {"grad_widths", "grad_heights", "grad_derivatives"}) {
      for (const double g : golden_[name].row(n)) {
        largest = std::max(largest, std::abs(g));
      }
    }
    expect(
        n, [](const auto& b, std::size_t k) { return b.grad_in.panel()(0, k); }, golden_["grad_inputs"](n), largest,
        "input gradient");
    std::size_t p = 0;
    for (const char* name : {"grad_widths", "grad_heights", "grad_derivatives"}) {
      for (const double g : golden_[name].row(n)) {
        expect(
            n, [p](const auto& b, std::size_t k) { return b.grad_raw.panel()(p, k); }, g, largest, name);
        ++p;
      }
    }
  }

 private:
  template <class Get>
  void expect(std::size_t n, Get get, double want, double scale, const char* what) const {
    const double sensitivity =
        std::max(std::abs(get(*below_, n) - get(*here_, n)), std::abs(get(*above_, n) - get(*here_, n)));
    EXPECT_LE(std::abs(get(block_, n) - want), tolerance_ * std::max({1.0, scale, std::abs(want)}) + sensitivity)
        << what << " of row " << n << ": " << get(block_, n) << ", golden " << want;
  }

  const Golden& golden_;
  TransformBatch<T> block_;
  double tolerance_;
  std::unique_ptr<TransformBatch<double>> below_, here_, above_;
};

constexpr double kKnot = 2;  // of the golden `kind`: the input is an interior knot
constexpr double kEdge = 3;  // it is +-1.2 exactly

template <class T>
void expect_forward(const Case& c, double tolerance) {
  const auto golden = Golden::open(c.file);
  const Comparison<T> comparison(golden, c.kind, tolerance);
  int tested = 0;
  for (std::size_t n = 0; n < comparison.size(); ++n) {
    if (comparison.same_side(n)) {
      comparison.expect_values(n);
      ++tested;
    }
  }
  EXPECT_GT(tested, 550);
}

// At +-1.2 the golden quadratic clamps its output, which may cut its gradient; which way is its rounding's choice.
template <class T>
void expect_gradient(const Case& c, double tolerance) {
  const auto golden = Golden::open(c.file);
  const Comparison<T> comparison(golden, c.kind, tolerance);
  int tested = 0;
  for (std::size_t n = 0; n < comparison.size(); ++n) {
    const bool ambiguous =
        golden["kind"](n) == kKnot || (c.kind == TransformKind::kQuadratic && golden["kind"](n) == kEdge);
    if (!ambiguous && comparison.same_side(n)) {
      comparison.expect_gradients(n);
      ++tested;
    }
  }
  EXPECT_GT(tested, 400);
}

TEST_P(TransformGolden, ForwardDouble) {
  DISSENT_REQUIRE_GOLDEN();
  expect_forward<double>(GetParam(), 1e-9);
}
TEST_P(TransformGolden, ForwardFloat) {
  DISSENT_REQUIRE_GOLDEN();
  expect_forward<float>(GetParam(), 1e-4);
}
TEST_P(TransformGolden, GradientDouble) {
  DISSENT_REQUIRE_GOLDEN();
  expect_gradient<double>(GetParam(), 1e-9);
}
TEST_P(TransformGolden, GradientFloat) {
  DISSENT_REQUIRE_GOLDEN();
  expect_gradient<float>(GetParam(), 1e-4);
}

TEST_P(TransformGolden, InverseDouble) {
  DISSENT_REQUIRE_GOLDEN();
  const auto golden = Golden::open(GetParam().file);
  auto block = load<double>(golden, GetParam().kind, "inv_inputs");
  block.inverse();
  int exact = 0;
  for (std::size_t n = 0; n < block.batch; ++n) {
    ASSERT_TRUE(std::isfinite(block.out.panel()(0, n)) && std::isfinite(block.log_slope[n])) << n;
    const double want = golden["inv_outputs"](n);
    if (std::isnan(want)) {
      continue;
    }
    const double error = relative_error(block.out.panel()(0, n), want);
    EXPECT_LT(error, 5e-5) << n;  // how far the golden inverse strays at its worst
    exact += error < 1e-9;
  }
  EXPECT_GT(exact, 0.9 * static_cast<double>(block.batch));
}

TEST_P(TransformGolden, InverseOfOutputsReturnsToInputs) {
  DISSENT_REQUIRE_GOLDEN();
  const auto golden = Golden::open(GetParam().file);
  auto block = load<double>(golden, GetParam().kind, "outputs");
  block.inverse();
  for (std::size_t n = 0; n < block.batch; ++n) {
    const double flatness = std::max(1.0, std::exp(-golden["logabsdet"](n)));  // an output's rounding, in inputs
    EXPECT_NEAR(block.out.panel()(0, n), golden["inputs"](n), 1e-12 * flatness) << n;
    if (std::abs(golden["outputs"](n)) <= kBound) {  // the golden output of an edge may lie an ulp beyond it
      EXPECT_NEAR(block.log_slope[n], -golden["logabsdet"](n), 1e-7) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Splines, TransformGolden,
                         testing::Values(Case{"spline_cubic.npz", TransformKind::kCubic},
                                         Case{"spline_quadratic.npz", TransformKind::kQuadratic},
                                         Case{"spline_rational_quadratic.npz", TransformKind::kRationalQuadratic}),
                         [](const auto& info) { return std::string(transform_name(info.param.kind)); });

}  // namespace
}  // namespace dissent
