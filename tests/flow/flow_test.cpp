// Flows of several layers: round trips, gradients by finite differences, log-determinants against the Jacobian, no
// allocation in a step, errors.
#include "dissent/flow/flow.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

#include "dissent/base/error.hpp"
#include "support/count_allocations.hpp"

namespace dissent {
namespace {

using test::num_allocations;

template <class T>
struct FlowCase {
  FlowCase(TransformKind kind, std::size_t num_layers, std::size_t C, std::size_t D, std::size_t rows)
      : batch(rows),
        flow({.num_inputs = C, .num_outputs = D, .transform = {.kind = kind}, .hidden = {9, 7}},
             random_permutations(num_layers, D, 3), layout),
        block(layout.size()),
        x(C, rows),
        y(D, rows),
        workspace(flow, rows) {
    initialise<T>(flow, Stream(5, Purpose::kInitialise), block);
    for (T& weight : block) {
      weight *= 3;  // far from the identity
    }
    Stream stream(6, Purpose::kTest);
    for (std::size_t b = 0; b < rows; ++b) {
      for (std::size_t c = 0; c < C; ++c) {
        x.panel()(c, b) = static_cast<T>(stream.uniform());
      }
      for (std::size_t d = 0; d < D; ++d) {
        y.panel()(d, b) = static_cast<T>(1.3 * (2 * stream.uniform() - 1));
      }
    }
  }

  FlowResult<T> base() { return to_base<T>(flow, block, x.panel(), y.panel(), batch, workspace); }

  std::size_t batch;
  Layout layout;
  Flow flow;
  Block<T> block;
  PanelBuffer<T> x, y;
  FlowWorkspace<T> workspace;
};

struct Case {
  TransformKind kind;
  std::size_t num_layers, C, D, batch;
};

class Flows : public testing::TestWithParam<Case> {};

template <class T>
void expect_round_trip(const Case& c, double tolerance) {
  FlowCase<T> setup(c.kind, c.num_layers, c.C, c.D, c.batch);
  const FlowResult<T> base = setup.base();
  PanelBuffer<T> z(c.D, c.batch);
  std::vector<T> log_det(base.log_det, base.log_det + c.batch);
  for (std::size_t d = 0; d < c.D; ++d) {
    std::copy_n(base.values.row(d), c.batch, z.panel().row(d));
  }
  const FlowResult<T> back =
      from_base<T>(setup.flow, setup.block, setup.x.panel(), z.panel(), c.batch, setup.workspace);
  for (std::size_t b = 0; b < c.batch; ++b) {
    const double flatness = std::max(1.0, std::exp(-static_cast<double>(log_det[b])));
    EXPECT_NEAR(back.log_det[b], -log_det[b], 1e3 * tolerance * flatness);
    for (std::size_t d = 0; d < c.D; ++d) {
      EXPECT_NEAR(back.values(d, b), setup.y.panel()(d, b), tolerance * flatness);
    }
  }
}

TEST_P(Flows, RoundTripDouble) { expect_round_trip<double>(GetParam(), 1e-11); }
TEST_P(Flows, RoundTripFloat) { expect_round_trip<float>(GetParam(), 1e-5); }

// Loss = sum of fixed random coefficients times z and log-determinants.
double loss(FlowCase<double>& setup, const PanelBuffer<double>& weight_z, const AlignedVector<double>& weight_log_det) {
  const FlowResult<double> base = setup.base();
  double sum = 0;
  for (std::size_t b = 0; b < setup.batch; ++b) {
    sum += weight_log_det[b] * base.log_det[b];
    for (std::size_t d = 0; d < setup.flow.num_outputs(); ++d) {
      sum += weight_z.panel()(d, b) * base.values(d, b);
    }
  }
  return sum;
}

TEST_P(Flows, GradientIsThatOfFiniteDifferences) {
  const Case c = GetParam();
  FlowCase<double> setup(c.kind, c.num_layers, c.C, c.D, c.batch);
  for (double& weight : setup.block) {
    weight /= 3;  // gentle curvature, for the differences' sake
  }
  Stream stream(8, Purpose::kTest);
  PanelBuffer<double> weight_z(c.D, c.batch);
  AlignedVector<double> weight_log_det(padded_batch(c.batch));
  for (std::size_t b = 0; b < c.batch; ++b) {
    weight_log_det[b] = stream.normal();
    for (std::size_t d = 0; d < c.D; ++d) {
      weight_z.panel()(d, b) = stream.normal();
    }
  }
  setup.base();
  Block<double> gradient(setup.layout.size());
  backward<double>(setup.flow, setup.block, setup.workspace, {weight_z.panel(), weight_log_det.data(), gradient});
  double largest = 0;
  for (const double g : gradient) {
    largest = std::max(largest, std::abs(g));
  }
  for (std::size_t k = 0; k < setup.block.size(); k += 1 + k % 7) {
    const double kept = setup.block[k];
    const double step = 1e-6;
    setup.block[k] = kept + step;
    const double above = loss(setup, weight_z, weight_log_det);
    setup.block[k] = kept - step;
    const double below = loss(setup, weight_z, weight_log_det);
    setup.block[k] = kept;
    EXPECT_NEAR(gradient[k], (above - below) / (2 * step), 2e-6 * largest) << k;
  }
}

// to_base_step is to_base, then backward with the gradient of the quadratic loss.
TEST_P(Flows, StepIsToBaseAndBackward) {
  const Case c = GetParam();
  FlowCase<double> setup(c.kind, c.num_layers, c.C, c.D, c.batch);
  Stream stream(9, Purpose::kTest);
  PanelBuffer<double> center(c.D, c.batch);
  PanelBuffer<double> curvature(c.D, c.batch);
  PanelBuffer<double> grad_base(c.D, c.batch);
  AlignedVector<double> grad_log_det(padded_batch(c.batch));
  const FlowResult<double> base = setup.base();
  for (std::size_t b = 0; b < c.batch; ++b) {
    grad_log_det[b] = stream.normal();
    for (std::size_t d = 0; d < c.D; ++d) {
      center.panel()(d, b) = stream.normal();
      curvature.panel()(d, b) = stream.uniform();
      grad_base.panel()(d, b) = curvature.panel()(d, b) * (base.values(d, b) - center.panel()(d, b));
    }
  }
  const std::vector<double> log_det(base.log_det, base.log_det + c.batch);
  std::vector<double> values;
  for (std::size_t d = 0; d < c.D; ++d) {
    values.insert(values.end(), base.values.row(d), base.values.row(d) + c.batch);
  }
  Block<double> expected(setup.layout.size());
  backward<double>(setup.flow, setup.block, setup.workspace, {grad_base.panel(), grad_log_det.data(), expected});
  Block<double> gradient(setup.layout.size());
  const FlowResult<double> at_once =
      to_base_step<double>(setup.flow, setup.block, setup.x.panel(), setup.y.panel(), c.batch, setup.workspace,
                           {center.panel(), curvature.panel(), grad_log_det.data(), gradient});
  for (std::size_t b = 0; b < c.batch; ++b) {
    EXPECT_NEAR(at_once.log_det[b], log_det[b], 1e-11);
    for (std::size_t d = 0; d < c.D; ++d) {
      EXPECT_NEAR(at_once.values(d, b), values[d * c.batch + b], 1e-12);
    }
  }
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    EXPECT_NEAR(gradient[k], expected[k], 1e-10 * (1 + std::abs(expected[k]))) << k;
  }
}

TEST_P(Flows, LogDeterminantIsThatOfTheJacobian) {
  const Case c = GetParam();
  FlowCase<double> setup(c.kind, c.num_layers, c.C, c.D, c.batch);
  for (double& weight : setup.block) {
    weight /= 3;  // a determinant of 1e-9 would drown in the differences' rounding
  }
  const FlowResult<double> first = setup.base();
  const std::vector<double> log_det(first.log_det, first.log_det + c.batch);
  const double step = 1e-7;
  std::vector<Eigen::MatrixXd> jacobian(c.batch, Eigen::MatrixXd::Zero(c.D, c.D));
  for (std::size_t j = 0; j < c.D; ++j) {
    const std::vector<double> kept(setup.y.panel().row(j), setup.y.panel().row(j) + c.batch);
    for (const double sign : {1.0, -1.0}) {
      for (std::size_t b = 0; b < c.batch; ++b) {
        setup.y.panel()(j, b) = kept[b] + sign * step;
      }
      const FlowResult<double> base = setup.base();
      for (std::size_t b = 0; b < c.batch; ++b) {
        for (std::size_t i = 0; i < c.D; ++i) {
          jacobian[b](i, j) += sign * base.values(i, b) / (2 * step);
        }
      }
    }
    std::copy(kept.begin(), kept.end(), setup.y.panel().row(j));
  }
  for (std::size_t b = 0; b < c.batch; ++b) {
    EXPECT_NEAR(std::log(std::abs(jacobian[b].determinant())), log_det[b], 1e-4) << b;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Flows,
    testing::Values(Case{TransformKind::kCubic, 1, 1, 1, 7}, Case{TransformKind::kCubic, 1, 3, 5, 17},
                    Case{TransformKind::kCubic, 3, 2, 4, 16}, Case{TransformKind::kQuadratic, 2, 2, 3, 9},
                    Case{TransformKind::kRationalQuadratic, 2, 1, 2, 33},
                    Case{TransformKind::kRationalQuadratic, 1, 1, 1, 1}, Case{TransformKind::kAffine, 3, 2, 5, 20}),
    [](const auto& info) {
      return fmt::format("{}L{}D{}B{}", transform_name(info.param.kind), info.param.num_layers, info.param.D,
                         info.param.batch);
    });

TEST(Flow, StepsDoNotAllocate) {
  FlowCase<float> setup(TransformKind::kCubic, 2, 3, 5, 40);
  Block<float> gradient(setup.layout.size());
  PanelBuffer<float> grad_base(5, 40);
  AlignedVector<float> grad_log_det(padded_batch(40));
  setup.base();
  const std::size_t before = num_allocations;
  setup.base();
  backward<float>(setup.flow, setup.block, setup.workspace, {grad_base.panel(), grad_log_det.data(), gradient});
  from_base<float>(setup.flow, setup.block, setup.x.panel(), setup.y.panel(), 40, setup.workspace);
  EXPECT_EQ(num_allocations, before);
}

// A smaller batch than the workspace's, after a larger one: the rows do not know of each other.
TEST(Flow, RowsAreIndependentOfTheBatch) {
  FlowCase<float> setup(TransformKind::kCubic, 1, 3, 5, 40);
  const FlowResult<float> all = setup.base();
  const float third = all.values(2, 3);
  const float log_det = all.log_det[3];
  const FlowResult<float> few =
      to_base<float>(setup.flow, setup.block, setup.x.panel(), setup.y.panel(), 4, setup.workspace);
  EXPECT_EQ(few.values(2, 3), third);
  EXPECT_EQ(few.log_det[3], log_det);
}

TEST(Flow, RejectsWrongShapes) {
  Layout layout;
  EXPECT_THROW(Flow({.num_inputs = 1, .num_outputs = 2}, {}, layout, "a."), InputError);
  EXPECT_THROW(Flow({.num_inputs = 1, .num_outputs = 2}, {{0, 0}}, layout, "b."), InputError);
  EXPECT_THROW(Flow({.num_inputs = 1, .num_outputs = 2}, {{0, 2}}, layout, "c."), InputError);
  EXPECT_THROW(Flow({.num_inputs = 1, .num_outputs = 2}, {{0}}, layout, "d."), InputError);
  EXPECT_THROW(Flow({.num_inputs = 0, .num_outputs = 2}, {{0, 1}}, layout, "e."), InputError);
  EXPECT_THROW(Flow({.num_inputs = 1, .num_outputs = 0}, {{}}, layout, "f."), InputError);
  FlowCase<float> setup(TransformKind::kCubic, 1, 3, 5, 40);
  EXPECT_THROW(to_base<float>(setup.flow, setup.block, setup.x.panel(), setup.y.panel(), 41, setup.workspace),
               InputError);
  EXPECT_THROW(to_base<float>(setup.flow, setup.block, setup.y.panel(), setup.y.panel(), 4, setup.workspace),
               InputError);
  EXPECT_THROW(to_base<float>(setup.flow, setup.block, setup.x.panel(), setup.x.panel(), 4, setup.workspace),
               InputError);
}

TEST(Permutation, IsUniformlyDrawnAndInverts) {
  // 6 permutations of 3 items, 6000 draws: chi-square with 5 degrees of freedom, above 25.7 once in 10,000 seeds.
  std::vector<int> count(27, 0);
  for (std::uint64_t index = 0; index < 6000; ++index) {
    const Permutation p = random_permutation(3, 1, index);
    ++count[9 * p[0] + 3 * p[1] + p[2]];
    const Permutation inverse = inverse_permutation(p);
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(p[inverse[k]], k);
    }
  }
  double chi_square = 0;
  int kinds = 0;
  for (const int n : count) {
    kinds += n > 0;
    chi_square += n > 0 ? (n - 1000.0) * (n - 1000.0) / 1000.0 : 0;
  }
  EXPECT_EQ(kinds, 6);
  EXPECT_LT(chi_square, 25.7);
}

// Two layers reach every output, whatever the seed; the first is as random as ever.
TEST(Flow, AlternatingLayersTransformWhatTheOneBeforeKept) {
  for (const std::size_t D : {1UL, 2UL, 3UL, 8UL, 11UL}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<Permutation> layers = alternating_permutations(3, D, seed);
      EXPECT_EQ(layers[0], random_permutations(1, D, seed)[0]);
      const std::size_t num_transformed = (D + 1) / 2;
      for (std::size_t l = 1; l < 3; ++l) {
        inverse_permutation(layers[l]);  // for its check
        for (std::size_t k = 0; k < D - num_transformed; ++k) {
          EXPECT_GE(layers[l][k], num_transformed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dissent
