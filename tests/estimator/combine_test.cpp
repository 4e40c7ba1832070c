#include "dissent/estimator/combine.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "dissent/base/random.hpp"
#include "support/mixtures.hpp"

namespace dissent {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_100;
constexpr double kInf = std::numeric_limits<double>::infinity();

Exact exp_minus(double divergence) { return divergence < 1e8 ? exp(Exact(-divergence)) : Exact(0); }

// The formulas in 100 digits, which suffice but for divergences beyond 1e6: there log(1 + x) is x.
Combined exact_combine(const Weights& weights, const std::vector<double>& divergence) {
  const std::size_t size = weights.size();
  const auto present = [&](std::size_t i, std::size_t j) {
    return i != j && weights.value[i] > 0 && weights.value[j] > 0;
  };
  double least = kInf;
  Exact epistemic = 0;
  Exact deficit = 0;
  for (std::size_t i = 0; i < size; ++i) {
    Exact sum = weights.value[i];
    Exact below_one = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const Exact power = exp_minus(divergence[i * size + j]);
      below_one += Exact(weights.value[j]) * (power - 1);
      if (present(i, j)) {
        sum += Exact(weights.value[j]) * power;
        least = std::min(least, divergence[i * size + j]);
      }
    }
    if (weights.value[i] > 0) {
      // The weights sum to 1 up to rounding, which the estimate near 0 must not see.
      epistemic -= weights.value[i] * (sum < 0.5 ? log(sum) : log(1 + below_one));
      deficit += weights.value[i] * log(sum / weights.value[i]);
    }
  }
  if (least < 100) {
    return {static_cast<double>(epistemic), static_cast<double>(log(deficit))};
  }
  if (least == kInf) {
    return {static_cast<double>(epistemic), -kInf};
  }
  Exact scaled = 0;
  for (std::size_t i = 0; i < size; ++i) {
    Exact others = 0;
    for (std::size_t j = 0; j < size; ++j) {
      others += present(i, j) ? Exact(weights.value[j]) * exp_minus(divergence[i * size + j] - least) : Exact(0);
    }
    if (others > 0) {
      const Exact x = others * exp_minus(least) / weights.value[i];
      scaled += x > Exact("1e-40") ? others * log(1 + x) / x : others;
    }
  }
  return {static_cast<double>(epistemic), -least + static_cast<double>(log(scaled))};
}

struct Case {
  std::string what;
  Weights weights;
  std::vector<double> divergence;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  Stream stream(7, Purpose::kTest);
  const std::vector<std::vector<double>> weightings{{},
                                                    {0.5, 0.25, 0.125, 0.125},
                                                    {0.5, 0, 0.25, 0.25},
                                                    {1, 0, 0, 0},
                                                    {1e-9, 1 - 1e-9, 0, 0},
                                                    {1e-20, 0.5, 0.5, 0},
                                                    {1e-90, 0.5, 0.25, 0.25},
                                                    {1e-310, 0.5, 0.25, 0.25}};
  for (const auto& weighting : weightings) {
    for (const double scale :
         {0.0, 1e-300, 1e-16, 1e-8, 1e-3, 0.3, 1.0, 10.0, 100.0, 600.0, 708.0, 750.0, 1e4, 1e10, 1e300, kInf}) {
      std::vector<double> divergence(16);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          divergence[4 * i + j] = i == j || scale == 0 ? 0 : scale * (scale == kInf ? 1 : 0.5 + stream.uniform());
        }
      }
      all.push_back({"scale " + std::to_string(scale), Weights::from(weighting, 4), divergence});
    }
    std::vector<double> mixed(16, 0);
    for (std::size_t k = 0; k < 16; ++k) {
      mixed[k] = k % 5 == 0 ? 0 : std::vector<double>{1e-12, 2, 900, kInf}[k % 4];
    }
    all.push_back({"mixed", Weights::from(weighting, 4), mixed});
  }
  return all;
}

void expect_close(const Combined& value, const Combined& truth, const Case& c, const char* which) {
  const std::string text =
      fmt::format("{}: {} w0={} H={}: {} {} is {} {}", which, c.what, c.weights.value[0], c.weights.entropy,
                  value.epistemic, value.log_deficit, truth.epistemic, truth.log_deficit);
  // That the weights sum to 1 is true to 1e-16, which both feel in proportion to H(w): the deficit where it is most of
  // it, the value where that is.
  const bool large = truth.epistemic > 0.1 * c.weights.entropy;
  EXPECT_LE(std::abs(value.epistemic - truth.epistemic), 4e-15 * truth.epistemic + (large ? 2e-16 : 1e-290)) << text;
  if (std::isfinite(truth.log_deficit)) {
    const double tolerance = 2e-14 + 1e-15 * std::abs(truth.log_deficit) + 1e-15 / c.weights.entropy;
    EXPECT_LE(std::abs(value.log_deficit - truth.log_deficit), tolerance) << text;
  } else {
    EXPECT_EQ(value.log_deficit, truth.log_deficit) << text;
  }
}

TEST(Combine, PlainAgreesWithHundredDigits) {
  for (const Case& c : cases()) {
    expect_close(combine(c.weights, c.divergence), exact_combine(c.weights, c.divergence), c, "plain");
  }
}

TEST(Combine, BlockAgreesWithHundredDigitsAtAwkwardCounts) {
  const std::vector<Case> all = cases();
  constexpr std::size_t kStride = 64;
  for (const std::size_t count : {1, 7, 8, 9, 63, 64}) {
    for (std::size_t first = 0; first < all.size(); first += 17) {  // 17 cases of each weighting
      std::vector<double> block(16 * kStride, 0);
      for (std::size_t n = 0; n < count; ++n) {
        for (std::size_t k = 0; k < 16; ++k) {
          block[k * kStride + n] = all[first + n % 17].divergence[k];
        }
      }
      std::vector<double> epistemic(count + 1, -7);
      std::vector<double> log_deficit(count + 1, -7);
      Combiner({.weights = all[first].weights})
          .run({block.data(), kStride, count, epistemic.data(), log_deficit.data()});
      for (std::size_t n = 0; n < count; ++n) {
        const Case& c = all[first + n % 17];
        expect_close({epistemic[n], log_deficit[n]}, exact_combine(c.weights, c.divergence), c, "block");
      }
      EXPECT_EQ(epistemic[count], -7);  // nothing is written past the end
      EXPECT_EQ(log_deficit[count], -7);
    }
  }
}

TEST(Combine, ZeroDivergencesGiveExactlyZeroAndInfiniteOnesTheEntropy) {
  const Weights weights = Weights::from(std::vector<double>{0.3, 0.2, 0.5}, 3);
  const Combined equal = combine(weights, std::vector<double>(9, 0));
  EXPECT_EQ(equal.epistemic, 0);
  EXPECT_NEAR(equal.log_deficit, std::log(weights.entropy), 1e-15);
  std::vector<double> far(9, kInf);
  far[0] = far[4] = far[8] = 0;
  EXPECT_DOUBLE_EQ(combine(weights, far).epistemic, weights.entropy);
  EXPECT_EQ(combine(weights, far).log_deficit, -kInf);
}

}  // namespace
}  // namespace dissent
