#include "dissent/network/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

constexpr std::size_t kSize = 48;

template <class T>
struct Blocks {
  Blocks() : parameters(kSize), gradient(kSize), first(kSize), second(kSize) {}
  AdamRange<T> range() { return {parameters, gradient, first, second}; }
  Block<T> parameters, gradient, first, second;
};

// The textbook's three lines, on one number.
struct PlainAdam {
  double p = 0, m = 0, v = 0;
  void step(const AdamOptions& o, int t, double g) {
    p *= 1 - o.learning_rate * o.weight_decay;
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    p -= o.learning_rate * (m / (1 - std::pow(o.beta1, t))) / (std::sqrt(v / (1 - std::pow(o.beta2, t))) + o.epsilon);
  }
};

template <class T>
void compare_with_plain(const AdamOptions& options, double tolerance) {
  Stream stream(6, Purpose::kTest);
  Blocks<T> blocks;
  PlainAdam plain[kSize];
  for (std::size_t k = 0; k < kSize; ++k) {
    blocks.parameters[k] = static_cast<T>(stream.normal());
    plain[k].p = blocks.parameters[k];
  }
  for (int t = 1; t <= 20; ++t) {
    double square = 0;
    for (T& g : blocks.gradient) {
      g = static_cast<T>(stream.normal());
      square += static_cast<double>(g) * g;
    }
    const double norm = adam_step(options, t, blocks.range());
    EXPECT_NEAR(norm, std::sqrt(square), tolerance * norm);
    const double clip = options.clip_norm > 0 ? std::min(1.0, options.clip_norm / (norm + 1e-6)) : 1;
    for (std::size_t k = 0; k < kSize; ++k) {
      plain[k].step(options, t, clip * blocks.gradient[k]);
      ASSERT_NEAR(blocks.parameters[k], plain[k].p, tolerance);
      ASSERT_NEAR(blocks.first[k], plain[k].m, tolerance);
      ASSERT_NEAR(blocks.second[k], plain[k].v, tolerance);
    }
  }
}

TEST(Adam, MatchesTheFormula) {
  for (const double decay : {0.0, 0.1}) {
    for (const double clip : {0.0, 2.0, 1e6}) {
      const AdamOptions options{.learning_rate = 0.01, .weight_decay = decay, .clip_norm = clip};
      compare_with_plain<double>(options, 1e-13);
      compare_with_plain<float>(options, 3e-6);
    }
  }
}

// The first step is learning_rate in the direction of each gradient's sign, whatever its size.
TEST(Adam, FirstStepIsTheLearningRate) {
  Blocks<double> blocks;
  blocks.gradient[0] = 1e-3;
  blocks.gradient[1] = -1e3;
  adam_step({.learning_rate = 0.5}, 1, blocks.range());
  EXPECT_NEAR(blocks.parameters[0], -0.5, 1e-5);
  EXPECT_NEAR(blocks.parameters[1], 0.5, 1e-5);
  EXPECT_EQ(blocks.parameters[2], 0);  // gaps of a layout stay zero
}

TEST(Adam, ANonFiniteGradientChangesNothing) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Blocks<double> blocks;
    blocks.parameters[3] = 1;
    blocks.gradient[2] = bad;
    blocks.gradient[3] = 1;
    EXPECT_FALSE(std::isfinite(adam_step({}, 1, blocks.range())));
    EXPECT_EQ(blocks.parameters[3], 1);
    EXPECT_EQ(blocks.first[3], 0);
    EXPECT_EQ(blocks.second[3], 0);
  }
}

TEST(Adam, RejectsRaggedRangesAndStepZero) {
  Blocks<double> blocks;
  EXPECT_THROW(adam_step({}, 0, blocks.range()), InputError);
  AdamRange<double> range = blocks.range();
  range.parameters = range.parameters.first(kSize - 1);
  EXPECT_THROW(adam_step({}, 1, range), InputError);
  range = blocks.range();
  range.gradient = range.gradient.first(16);
  EXPECT_THROW(adam_step({}, 1, range), InputError);
}

}  // namespace
}  // namespace dissent
