// Transforms against the plain reference (exact gradients by dual numbers), round trips under hostile parameters,
// tails, monotonicity, and that log-slopes are the logarithm of the slope.
#include "dissent/flow/transform.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/flow/transform_reference.hpp"
#include "flow/dual.hpp"
#include "flow/transform_fixture.hpp"

namespace dissent {
namespace {

using test::Dual;
using test::TransformBatch;

// RapidCheck reads its seed from here, once; without it the seed is the clock.
[[maybe_unused]] const int kSeedIsFixed = setenv("RC_PARAMS", "seed=20190605", 0);

constexpr TransformKind kKinds[] = {TransformKind::kCubic, TransformKind::kQuadratic, TransformKind::kRationalQuadratic,
                                    TransformKind::kAffine};

template <class T>
void fill(TransformBatch<T>& block, double raw_scale, std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest);
  const std::size_t dims = block.in.panel().rows;
  for (std::size_t b = 0; b < block.batch; ++b) {
    for (std::size_t d = 0; d < dims; ++d) {
      block.in.panel()(d, b) = static_cast<T>(1.1 * block.transform.tail_bound * (2 * stream.uniform() - 1));
      block.grad_out.panel()(d, b) = static_cast<T>(stream.normal());
    }
    for (std::size_t p = 0; p < block.raw.panel().rows; ++p) {
      block.raw.panel()(p, b) = static_cast<T>(raw_scale * stream.normal());
    }
    block.grad_log_slope[b] = static_cast<T>(stream.normal());
  }
}

template <class T>
std::vector<T> raw_of(const TransformBatch<T>& block, std::size_t dim, std::size_t item) {
  const int num_params = block.transform.num_params();
  std::vector<T> raw;
  for (int p = 0; p < num_params; ++p) {
    raw.push_back(block.raw.panel()(dim * num_params + p, item));
  }
  return raw;
}

// One value's reference output, log-slope and the gradient of c1 y + c2 ln f' with respect to x and raw, exactly.
struct Expected {
  double value;
  double log_slope;
  double grad_in;
  std::vector<double> grad_raw;
};

Expected expected(const Transform& transform, double x, const std::vector<double>& raw, double c1, double c2) {
  const std::size_t count = raw.size() + 1;
  std::vector<Dual> duals;
  for (std::size_t p = 0; p < raw.size(); ++p) {
    duals.push_back(Dual::variable(raw[p], p + 1, count));
  }
  const auto result = reference_forward<Dual>(transform, Dual::variable(x, 0, count), duals);
  Expected e{result.value.value, result.log_slope.value, 0, {}};
  e.grad_in = c1 * result.value.by(0) + c2 * result.log_slope.by(0);
  for (std::size_t p = 0; p < raw.size(); ++p) {
    e.grad_raw.push_back(c1 * result.value.by(p + 1) + c2 * result.log_slope.by(p + 1));
  }
  return e;
}

struct KernelCase {
  int num_bins;
  std::size_t dims;
  std::size_t batch;
  double raw_scale;
};

class TransformKernels : public testing::TestWithParam<KernelCase> {};

TEST_P(TransformKernels, AgreeWithReference) {
  const KernelCase c = GetParam();
  for (const TransformKind kind : kKinds) {
    TransformBatch<double> block({kind, c.num_bins, 1.2}, c.dims, c.batch);
    fill(block, c.raw_scale, 7 + c.batch);
    block.forward();
    block.backward();
    const int num_params = block.transform.num_params();
    for (std::size_t b = 0; b < c.batch; ++b) {
      double log_slope = 0;
      for (std::size_t d = 0; d < c.dims; ++d) {
        const Expected e = expected(block.transform, block.in.panel()(d, b), raw_of(block, d, b),
                                    block.grad_out.panel()(d, b), block.grad_log_slope[b]);
        log_slope += e.log_slope;
        double scale = std::max(1.0, std::abs(e.grad_in));
        for (const double g : e.grad_raw) {
          scale = std::max(scale, std::abs(g));
        }
        EXPECT_NEAR(block.out.panel()(d, b), e.value, 1e-12) << transform_name(kind);
        EXPECT_NEAR(block.grad_in.panel()(d, b), e.grad_in, 1e-9 * scale) << transform_name(kind);
        for (int p = 0; p < num_params; ++p) {
          EXPECT_NEAR(block.grad_raw.panel()(d * num_params + p, b), e.grad_raw[p], 1e-9 * scale)
              << transform_name(kind) << " raw " << p;
        }
      }
      EXPECT_NEAR(block.log_slope[b], log_slope, 1e-9) << transform_name(kind);
    }
  }
}

TEST_P(TransformKernels, PrecisionsAgree) {
  const KernelCase c = GetParam();
  for (const TransformKind kind : kKinds) {
    TransformBatch<double> wide({kind, c.num_bins, 1.2}, c.dims, c.batch);
    TransformBatch<float> narrow({kind, c.num_bins, 1.2}, c.dims, c.batch);
    fill(wide, std::min(c.raw_scale, 1.0), 11);
    fill(narrow, std::min(c.raw_scale, 1.0), 11);
    wide.forward();
    narrow.forward();
    for (std::size_t b = 0; b < c.batch; ++b) {
      EXPECT_NEAR(narrow.log_slope[b], wide.log_slope[b], 1e-4 * static_cast<double>(c.dims));
      for (std::size_t d = 0; d < c.dims; ++d) {
        EXPECT_NEAR(narrow.out.panel()(d, b), wide.out.panel()(d, b), 1e-5);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, TransformKernels,
                         testing::Values(KernelCase{10, 1, 1, 1.0}, KernelCase{10, 3, 7, 0.0},
                                         KernelCase{10, 2, 16, 3.0}, KernelCase{10, 5, 17, 0.5},
                                         KernelCase{10, 1, 255, 2.0}, KernelCase{2, 2, 33, 1.0},
                                         KernelCase{3, 2, 33, 1.0}, KernelCase{64, 1, 20, 1.0}),
                         [](const auto& info) { return fmt::format("K{}B{}", info.param.num_bins, info.param.batch); });

// Results of each instruction set this machine has, one after the other.
class EachTarget {
 public:
  ~EachTarget() { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }

  template <class Body>
  void run(Body body) {
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
      hwy::GetChosenTarget().Update(left & ~(left - 1));
      body();
    }
  }
};

TEST(Transform, InstructionSetsAgree) {
  for (const TransformKind kind : kKinds) {
    TransformBatch<double> first({kind, 10, 1.2}, 2, 37);
    bool is_first = true;
    EachTarget().run([&] {
      TransformBatch<double> block({kind, 10, 1.2}, 2, 37);
      fill(block, 1.5, 21);
      block.forward();
      block.backward();
      block.feed_back();
      block.inverse();
      if (is_first) {
        first = block;
        is_first = false;
      }
      for (std::size_t b = 0; b < block.batch; ++b) {
        ASSERT_NEAR(block.log_slope[b], first.log_slope[b], 1e-10);
        ASSERT_NEAR(block.out.panel()(1, b), first.out.panel()(1, b), 1e-12);
        for (std::size_t p = 0; p < block.raw.panel().rows; ++p) {
          ASSERT_NEAR(block.grad_raw.panel()(p, b), first.grad_raw.panel()(p, b), 1e-9);
        }
      }
    });
  }
}

// The gradient may overwrite the raw parameters, the values may be mapped in place; padding of gradients is zero.
// transform_step is transform_forward, then transform_backward with the gradient of the quadratic loss.
template <class T>
void expect_step(const Transform& transform, double tolerance) {
  for (const std::size_t batch : {1, 21, 64}) {
    TransformBatch<T> apart(transform, 3, batch);
    TransformBatch<T> at_once(transform, 3, batch);
    fill(apart, 1.0, 7);
    fill(at_once, 1.0, 7);
    const PanelBuffer<T> center = apart.grad_out;
    const PanelBuffer<T> curvature = apart.in;
    at_once.grad_out = curvature;
    at_once.step(center);
    apart.forward();
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t b = 0; b < batch; ++b) {
        apart.grad_out.panel()(d, b) = curvature.panel()(d, b) * (apart.out.panel()(d, b) - center.panel()(d, b));
      }
    }
    apart.backward();
    for (std::size_t b = 0; b < padded_batch(batch); ++b) {
      if (b < batch) {
        EXPECT_NEAR(at_once.log_slope[b], apart.log_slope[b], tolerance);
      }
      for (std::size_t d = 0; d < 3 && b < batch; ++d) {
        EXPECT_NEAR(at_once.out.panel()(d, b), apart.out.panel()(d, b), tolerance);
        EXPECT_NEAR(at_once.grad_in.panel()(d, b), apart.grad_in.panel()(d, b), tolerance * 10);
      }
      for (std::size_t p = 0; p < apart.raw.panel().rows; ++p) {
        const double expected = b < batch ? static_cast<double>(apart.grad_raw.panel()(p, b)) : 0.0;
        EXPECT_NEAR(at_once.grad_raw.panel()(p, b), expected, tolerance * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(Transform, StepIsForwardAndBackward) {
  for (const TransformKind kind : kKinds) {
    for (const int num_bins : {2, 10, 17}) {
      expect_step<float>({kind, num_bins, 1.2}, 2e-5);
      expect_step<double>({kind, num_bins, 1.2}, 1e-13);
    }
  }
}

TEST(Transform, WorksInPlaceAndClearsGradientPadding) {
  for (const TransformKind kind : kKinds) {
    TransformBatch<float> apart({kind, 10, 1.2}, 3, 21);
    TransformBatch<float> in_place({kind, 10, 1.2}, 3, 21);
    fill(apart, 1.0, 3);
    fill(in_place, 1.0, 3);
    for (std::size_t b = 21; b < padded_batch(21); ++b) {
      in_place.grad_out.panel()(1, b) = 5;
      in_place.grad_log_slope[b] = 5;
    }
    apart.backward();
    transform_backward(in_place.transform,
                       {21, in_place.in.panel(), in_place.raw.panel(), in_place.grad_out.panel(),
                        in_place.grad_log_slope.data(), in_place.raw.panel(), in_place.grad_out.panel()});
    for (std::size_t p = 0; p < apart.raw.panel().rows; ++p) {
      for (std::size_t b = 0; b < padded_batch(21); ++b) {
        EXPECT_EQ(in_place.raw.panel()(p, b), b < 21 ? apart.grad_raw.panel()(p, b) : 0.0f);
      }
    }
    for (std::size_t b = 0; b < padded_batch(21); ++b) {
      EXPECT_EQ(in_place.grad_out.panel()(1, b), b < 21 ? apart.grad_in.panel()(1, b) : 0.0f);
    }
    fill(in_place, 1.0, 3);
    apart.forward();
    transform_forward(in_place.transform,
                      {21, in_place.in.panel(), in_place.raw.panel(), in_place.in.panel(), in_place.log_slope.data()});
    for (std::size_t b = 0; b < 21; ++b) {
      EXPECT_EQ(in_place.in.panel()(2, b), apart.out.panel()(2, b));
    }
  }
}

// f, in double, at the inputs of a block moved by `shift`.
template <class T>
std::vector<double> forward_beside(const TransformBatch<T>& block, double shift) {
  TransformBatch<double> moved(block.transform, 1, block.batch);
  for (std::size_t b = 0; b < block.batch; ++b) {
    moved.in.panel()(0, b) = block.in.panel()(0, b) + shift;
    for (std::size_t p = 0; p < block.raw.panel().rows; ++p) {
      moved.raw.panel()(p, b) = block.raw.panel()(p, b);
    }
  }
  moved.forward();
  return {moved.out.panel().row(0), moved.out.panel().row(0) + block.batch};
}

// y -> x = f^-1(y) -> f(x): finite, and back to y within 1e-6 (float) or 1e-12 (double), or as close as the rounding of
// x and of the knots allows: where f is steep, as far as f changes over three such roundings.
// Returns what is wrong, or nothing.
template <class T>
std::string round_trip_error(TransformBatch<T>& block) {
  const double bound = block.transform.tail_bound;
  const std::vector<T> goal(block.in.panel().row(0), block.in.panel().row(0) + block.batch);
  block.inverse();
  const std::vector<T> inverse_log_slope(block.log_slope.begin(), block.log_slope.end());
  block.feed_back();
  block.forward();
  const double three_roundings = 3 * std::numeric_limits<T>::epsilon() * bound;
  const std::vector<double> below = forward_beside(block, -three_roundings);
  const std::vector<double> above = forward_beside(block, three_roundings);
  const double limit = (std::is_same_v<T, float> ? 1e-6 : 1e-12) * std::max(1.0, bound / 1.2);
  for (std::size_t b = 0; b < block.batch; ++b) {
    const double x = block.in.panel()(0, b);
    const double y = goal[b];
    const double residual = std::abs(block.out.panel()(0, b) - y);
    const double allowed = std::max(limit, above[b] - below[b]);
    if (!std::isfinite(x) || !std::isfinite(inverse_log_slope[b]) || !std::isfinite(block.log_slope[b])) {
      return fmt::format("y = {} gives x = {}, log-slopes {} and {}", y, x, inverse_log_slope[b], block.log_slope[b]);
    }
    if (!(residual <= allowed)) {
      return fmt::format("y = {} gives x = {}, residual {} over {}; raw {}", y, x, residual, allowed,
                         fmt::join(raw_of(block, 0, b), ", "));
    }
    const bool in_tail = std::abs(goal[b]) > static_cast<T>(bound) && block.transform.kind != TransformKind::kAffine;
    if (in_tail && (x != y || inverse_log_slope[b] != T(0))) {
      return fmt::format("y = {} in the tail gives x = {}, log-slope {}", y, x, inverse_log_slope[b]);
    }
  }
  return "";
}

// Values where trouble is likely: the knots of both axes and their neighbours, the edges, zero, far outside.
template <class T>
void fill_hostile(TransformBatch<T>& block, double raw_scale, bool sparse, std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest);
  const T bound = static_cast<T>(block.transform.tail_bound);
  const int num_params = block.transform.num_params();
  for (std::size_t b = 0; b < block.batch; ++b) {
    for (int p = 0; p < num_params; ++p) {
      const double value = raw_scale * stream.normal();
      block.raw.panel()(p, b) = static_cast<T>(sparse && stream.uniform() < 0.7 ? 0 : value);
    }
    T y = 0;
    switch (stream.below(6)) {
      case 0:
        y = stream.uniform() < 0.5 ? bound : -bound;
        break;
      case 1:
        y = std::nextafter(stream.uniform() < 0.5 ? bound : -bound, static_cast<T>(stream.normal()));
        break;
      case 2:
        y = static_cast<T>(100 * stream.normal());
        break;
      case 3: {  // a knot or one of its neighbours, by the height axis where there is one
        const std::vector<T> raw = raw_of(block, 0, b);
        if (block.transform.kind == TransformKind::kAffine) {
          break;
        }
        const int K = block.transform.num_bins;
        const bool by_height = block.transform.kind != TransformKind::kQuadratic;
        const auto sizes = reference::bin_sizes(std::span<const T>(raw).subspan(by_height ? K : 0, K));
        const auto knots = reference::knots(sizes);
        y = 2 * bound * knots[stream.below(K + 1)] - bound;
        y = std::nextafter(y, static_cast<T>(stream.normal()));
        break;
      }
      default:
        y = static_cast<T>(block.transform.tail_bound * (2 * stream.uniform() - 1));
    }
    block.in.panel()(0, b) = y;
  }
}

template <class T>
void round_trip_property(TransformKind kind) {
  const auto scale_index = *rc::gen::inRange(0, 6);
  const double raw_scale = std::vector<double>{0, 0.1, 1, 5, 100, 1e4}[scale_index];
  const int num_bins = *rc::gen::element(2, 3, 10, 31);
  const bool sparse = *rc::gen::arbitrary<bool>();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  if (kind == TransformKind::kAffine && raw_scale > 5) {
    return;  // a shift of 1e4 leaves few digits of y: not a residual of the inverse
  }
  TransformBatch<T> block({kind, num_bins, *rc::gen::element(1.2, 1.0, 3.0)}, 1, 203);
  fill_hostile(block, raw_scale, sparse, seed);
  RC_ASSERT(round_trip_error(block) == std::string());
}

RC_GTEST_PROP(TransformRoundTrip, CubicDouble, ()) { round_trip_property<double>(TransformKind::kCubic); }
RC_GTEST_PROP(TransformRoundTrip, CubicFloat, ()) { round_trip_property<float>(TransformKind::kCubic); }
RC_GTEST_PROP(TransformRoundTrip, QuadraticDouble, ()) { round_trip_property<double>(TransformKind::kQuadratic); }
RC_GTEST_PROP(TransformRoundTrip, QuadraticFloat, ()) { round_trip_property<float>(TransformKind::kQuadratic); }
RC_GTEST_PROP(TransformRoundTrip, RationalDouble, ()) {
  round_trip_property<double>(TransformKind::kRationalQuadratic);
}
RC_GTEST_PROP(TransformRoundTrip, RationalFloat, ()) { round_trip_property<float>(TransformKind::kRationalQuadratic); }

template <class T>
void affine_round_trip() {
  TransformBatch<T> block({TransformKind::kAffine}, 1, 203);
  fill_hostile(block, 2.0, false, 5);
  for (std::size_t b = 0; b < block.batch; ++b) {
    block.in.panel()(0, b) = std::clamp<T>(block.in.panel()(0, b), -2, 2);
  }
  EXPECT_EQ(round_trip_error(block), "");
}
TEST(TransformRoundTrip, Affine) {
  affine_round_trip<double>();
  affine_round_trip<float>();
}

// Gradients stay finite wherever the parameters are.
RC_GTEST_PROP(TransformGradients, AreFinite, ()) {
  const auto kind = *rc::gen::element(TransformKind::kCubic, TransformKind::kQuadratic,
                                      TransformKind::kRationalQuadratic, TransformKind::kAffine);
  TransformBatch<float> block({kind, *rc::gen::element(2, 10), 1.2}, 1, 64);
  fill_hostile(block, *rc::gen::element(0.0, 1.0, 30.0, 1e4), *rc::gen::arbitrary<bool>(),
               *rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t b = 0; b < block.batch; ++b) {
    block.grad_out.panel()(0, b) = 1;
    block.grad_log_slope[b] = -1;
  }
  block.backward();
  for (std::size_t b = 0; b < block.batch; ++b) {
    RC_ASSERT(std::isfinite(block.grad_in.panel()(0, b)));
    for (std::size_t p = 0; p < block.raw.panel().rows; ++p) {
      RC_ASSERT(std::isfinite(block.grad_raw.panel()(p, b)));
    }
  }
}

RC_GTEST_PROP(TransformForward, IsMonotoneWithItsLogSlope, ()) {
  const auto kind =
      *rc::gen::element(TransformKind::kCubic, TransformKind::kQuadratic, TransformKind::kRationalQuadratic);
  const double raw_scale = *rc::gen::element(0.0, 0.5, 2.0, 6.0);
  constexpr std::size_t kPoints = 1001;
  TransformBatch<double> block({kind, 10, 1.2}, 1, 3 * kPoints);
  Stream stream(*rc::gen::arbitrary<std::uint64_t>(), Purpose::kTest);
  constexpr double kStep = 1e-7;
  for (std::size_t p = 0; p < block.raw.panel().rows; ++p) {
    const double value = raw_scale * stream.normal();
    for (std::size_t b = 0; b < block.batch; ++b) {
      block.raw.panel()(p, b) = value;
    }
  }
  for (std::size_t b = 0; b < block.batch; ++b) {
    const double x = -1.3 + 2.6 * static_cast<double>(b / 3) / (kPoints - 1);
    block.in.panel()(0, b) = x + kStep * (static_cast<double>(b % 3) - 1);
  }
  block.forward();
  for (std::size_t b = 1; b < block.batch; ++b) {
    RC_ASSERT(block.out.panel()(0, b) >= block.out.panel()(0, b - 1));
  }
  // Central differences, away from knots, where the slope's slope may jump by a factor of thousands.
  for (std::size_t b = 1; b < block.batch; b += 3) {
    const double lo = std::min({block.log_slope[b - 1], block.log_slope[b], block.log_slope[b + 1]});
    const double hi = std::max({block.log_slope[b - 1], block.log_slope[b], block.log_slope[b + 1]});
    const double slope = (block.out.panel()(0, b + 1) - block.out.panel()(0, b - 1)) / (2 * kStep);
    RC_ASSERT(slope >= std::exp(lo) * (1 - 1e-3) - 1e-7);
    RC_ASSERT(slope <= std::exp(hi) * (1 + 1e-3) + 1e-7);
  }
}

TEST(Transform, EdgesMapToEdgesAndTailsAreTheIdentity) {
  for (const TransformKind kind :
       {TransformKind::kCubic, TransformKind::kQuadratic, TransformKind::kRationalQuadratic}) {
    TransformBatch<float> block({kind, 10, 1.2}, 1, 6);
    fill(block, 2.0, 9);
    const float infinity = std::numeric_limits<float>::infinity();
    const float inputs[] = {-1.2f, 1.2f, 1.3f, -1e30f, infinity, -infinity};
    std::copy(std::begin(inputs), std::end(inputs), block.in.panel().row(0));
    block.forward();
    EXPECT_NEAR(block.out.panel()(0, 0), -1.2f, 1e-6);
    EXPECT_NEAR(block.out.panel()(0, 1), 1.2f, 1e-6);
    for (std::size_t b = 2; b < 6; ++b) {
      EXPECT_EQ(block.out.panel()(0, b), inputs[b]);
      EXPECT_EQ(block.log_slope[b], 0.0f);
    }
  }
}

TEST(Transform, NamesAndChecks) {
  for (const TransformKind kind : kKinds) {
    EXPECT_EQ(transform_from_name(transform_name(kind)), kind);
  }
  EXPECT_THROW(transform_from_name("septic"), InputError);
  EXPECT_THROW((Transform{TransformKind::kCubic, 1, 1.2}.check()), InputError);
  EXPECT_THROW((Transform{TransformKind::kCubic, 65, 1.2}.check()), InputError);
  EXPECT_THROW((Transform{TransformKind::kCubic, 10, 0.0}.check()), InputError);
  EXPECT_THROW((Transform{TransformKind::kCubic, 10, std::nan("")}.check()), InputError);
  EXPECT_NO_THROW((Transform{}.check()));
}

}  // namespace
}  // namespace dissent
