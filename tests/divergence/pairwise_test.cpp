// The batched kernels against the plain functions: shapes around the lengths of vectors, scales up to the edges of the
// types, gaps between components from 1e-6 to 1000 standard deviations.
#include "dissent/divergence/pairwise.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/mixtures.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlock = PairwiseDivergences::kBlock;

template <class T>
double worst_error(const std::string& name, const Mixture<T>& mixture) {
  const Divergence kind = parse_divergence(name);
  PairwiseDivergences pairs(kind, mixture.num_components, mixture.num_outputs);
  const std::size_t count = mixture.num_inputs;
  pairs.compute(mixture.view(), 0, count, 0);
  double worst = 0;
  InputComponents components;
  for (std::size_t n = 0; n < count; ++n) {
    const std::vector<double> expected = test::plain_divergences(kind, mixture, n);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const double value = pairs.divergence()[k * kBlock + n];
      const double error = test::relative_error(value, expected[k]);
      EXPECT_FALSE(std::isnan(error)) << name << " pair " << k << ": " << value << " is " << expected[k];
      worst = std::max(worst, error);
    }
    components.load(mixture.view(), n, n);
    for (std::size_t m = 0; m < mixture.num_components; ++m) {
      const double truth = components.visit(m, [](const auto& g) { return sum_log_stddev(g); });
      const double error = std::abs(pairs.sum_log_stddev()[m * kBlock + n] - truth);
      // Logarithms of single precision products: an absolute error, as of the relative error of a product.
      EXPECT_LT(error, (std::is_same_v<T, float> ? 2e-6 : 1e-12) * std::max(1.0, std::abs(truth))) << name;
    }
  }
  return worst;
}

const std::vector<std::string> kNames{"kl",        "jeffreys", "bhattacharyya", "chernoff:0.3", "chernoff:0.01",
                                      "renyi:0.9", "hellinger"};

template <class T>
class Pairwise : public ::testing::Test {
 protected:
  static constexpr double kTolerance = std::is_same_v<T, float> ? 5e-6 : 1e-11;
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Pairwise, Types);

TYPED_TEST(Pairwise, KernelsAgreeWithThePlainFunctionsAtAwkwardShapes) {
  double worst = 0;
  for (const std::size_t num_outputs : {1, 2, 3, 7, 8, 11, 15, 16, 17, 27, 31, 32, 33, 47, 64, 65, 257}) {
    for (const std::size_t num_components : {1, 2, 3, 4, 5, 6, 7, 9, 17}) {
      for (const double gap : {1e-6, 1e-3, 0.05, 0.3, 1.0, 30.0}) {
        const test::MixtureCase c{.num_inputs = num_components * num_outputs > 200 ? std::size_t{2} : std::size_t{9},
                                  .num_components = num_components,
                                  .num_outputs = num_outputs,
                                  .mean_gap = gap,
                                  .scale_gap = std::min(gap, 1.5),
                                  .seed = num_outputs * 100 + num_components};
        const Mixture<TypeParam> mixture = test::diagonal_mixture<TypeParam>(c);
        for (const std::string& name : kNames) {
          const double error = worst_error(name, mixture);
          worst = std::max(worst, error);
          EXPECT_LT(error, this->kTolerance) << name << " " << c;
        }
      }
    }
  }
  this->RecordProperty("worst_relative_error", std::to_string(worst * 1e12) + "e-12");
}

TYPED_TEST(Pairwise, CountsAroundTheVectorLength) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64}) {
    for (const std::size_t num_outputs : {1, 3, 40}) {
      const test::MixtureCase c{.num_inputs = count, .num_components = 3, .num_outputs = num_outputs, .seed = count};
      for (const std::string& name : kNames) {
        EXPECT_LT(worst_error(name, test::diagonal_mixture<TypeParam>(c)), this->kTolerance) << name << " " << c;
      }
    }
  }
}

// An input's result is a function of the input alone, not of its neighbours in the block.
TYPED_TEST(Pairwise, AnInputGivesTheSameBitsInAnyCompany) {
  for (const std::size_t num_outputs : {1, 3, 8, 27, 40, 257}) {
    const test::MixtureCase c{.num_inputs = 20, .num_components = 4, .num_outputs = num_outputs, .seed = 3};
    Mixture<TypeParam> mixture = test::diagonal_mixture<TypeParam>(c);
    std::copy_n(mixture.mean.data(), num_outputs,
                mixture.mean.data() + num_outputs);  // input 0 has two equal components
    std::copy_n(mixture.stddev.data(), num_outputs, mixture.stddev.data() + num_outputs);
    for (const std::string& name : kNames) {
      PairwiseDivergences pairs(parse_divergence(name), 4, num_outputs);
      pairs.compute(mixture.view(), 0, 20, 0);
      const std::vector<double> whole(pairs.divergence(), pairs.divergence() + 16 * kBlock);
      const std::vector<double> whole_logs(pairs.sum_log_stddev(), pairs.sum_log_stddev() + 4 * kBlock);
      for (std::size_t n = 0; n < 20; ++n) {
        const std::size_t count = n % 3 + 1;
        pairs.compute(mixture.view(), n, std::min<std::size_t>(count, 20 - n), 0);
        for (std::size_t k = 0; k < 16; ++k) {
          EXPECT_EQ(pairs.divergence()[k * kBlock], whole[k * kBlock + n])
              << name << " D=" << num_outputs << " n=" << n;
        }
        for (std::size_t m = 0; m < 4; ++m) {
          EXPECT_EQ(pairs.sum_log_stddev()[m * kBlock], whole_logs[m * kBlock + n]) << name << " D=" << num_outputs;
        }
      }
    }
  }
}

TYPED_TEST(Pairwise, ScalesAtTheEdgesOfTheType) {
  using T = TypeParam;
  const std::vector<double> scales =
      std::is_same_v<T, float> ? std::vector<double>{1e-45, 1e-40, 1e-30, 1e-20, 1.1e-18, 1e-18, 1, 1e18, 1e30, 3e38}
                               : std::vector<double>{5e-324, 1e-310, 1e-150, 1e-18, 1, 1e18, 1e150, 1e308};
  for (const std::size_t num_outputs : {1, 5, 40, 257}) {
    for (const double first : scales) {
      for (const double second : scales) {
        Mixture<T> mixture = Mixture<T>::diagonal(1, 3, num_outputs);
        for (std::size_t d = 0; d < num_outputs; ++d) {
          mixture.stddev[d] = static_cast<T>(first);
          mixture.stddev[num_outputs + d] = static_cast<T>(second);
          mixture.stddev[2 * num_outputs + d] = static_cast<T>(d % 2 == 0 ? first : second);
          mixture.mean[d] = static_cast<T>(d % 3 == 0 ? first : 0);
        }
        for (const std::string& name : kNames) {
          EXPECT_LT(worst_error(name, mixture), this->kTolerance)
              << name << " " << first << " " << second << " D=" << num_outputs;
        }
      }
    }
  }
}

TYPED_TEST(Pairwise, EqualComponentsGiveExactlyZero) {
  for (const std::size_t num_outputs : {1, 3, 31, 33, 257}) {
    const test::MixtureCase c{.num_inputs = 9, .num_outputs = num_outputs, .mean_gap = 0, .scale_gap = 1, .seed = 5};
    Mixture<TypeParam> mixture = test::diagonal_mixture<TypeParam>(c);
    for (std::size_t n = 0; n < 9; ++n) {
      TypeParam* row = mixture.stddev.data() + n * 2 * num_outputs;
      std::copy_n(row, num_outputs, row + num_outputs);
    }
    for (const std::string& name : kNames) {
      PairwiseDivergences pairs(parse_divergence(name), 2, num_outputs);
      pairs.compute(mixture.view(), 0, 9, 0);
      for (std::size_t k = 0; k < 4; ++k) {
        for (std::size_t n = 0; n < 9; ++n) {
          EXPECT_EQ(pairs.divergence()[k * kBlock + n], 0) << name;
        }
      }
    }
  }
}

TEST(PairwiseChernoff, AnAlphaForEachInput) {
  const test::MixtureCase c{.num_inputs = 11, .num_components = 3, .num_outputs = 4, .seed = 8};
  const Mixture<double> mixture = test::diagonal_mixture<double>(c);
  std::vector<double> alpha;
  for (std::size_t n = 0; n < 11; ++n) {
    alpha.push_back(0.02 + 0.09 * static_cast<double>(n));
  }
  alpha[4] = 0.5;
  const Divergence chernoff = parse_divergence("chernoff:0.5");
  PairwiseDivergences pairs(chernoff, 3, 4);
  pairs.compute(mixture.view(), 0, 11, 0, alpha);
  for (std::size_t n = 0; n < 11; ++n) {
    const auto expected = test::plain_divergences({chernoff.info, alpha[n]}, mixture, n);
    for (std::size_t k = 0; k < 9; ++k) {
      EXPECT_LT(test::relative_error(pairs.divergence()[k * kBlock + n], expected[k]), 1e-11);
    }
  }
}

// Every place where a bad value could hide: first and last lane, tail lanes, first and last component and input.
TYPED_TEST(Pairwise, BadValuesAreFoundWhereverTheyHide) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T inf = std::numeric_limits<T>::infinity();
  for (const std::size_t num_outputs : {1, 3, 31, 33, 257}) {
    const test::MixtureCase c{.num_inputs = 64, .num_components = 3, .num_outputs = num_outputs, .seed = 6};
    const Mixture<T> good = test::diagonal_mixture<T>(c);
    for (const std::string& name :
         {std::string("kl"), std::string("bhattacharyya"), std::string("chernoff:0.3"), std::string("wasserstein")}) {
      PairwiseDivergences pairs(parse_divergence(name), 3, num_outputs);
      for (const std::size_t n : {std::size_t{0}, std::size_t{63}}) {
        for (const std::size_t m : {std::size_t{0}, std::size_t{2}}) {
          for (const std::size_t d : {std::size_t{0}, num_outputs / 2, num_outputs - 1}) {
            const std::size_t at = (n * 3 + m) * num_outputs + d;
            const auto place = fmt::format("[{}, {}, {}]", n + 1000, m, d);
            Mixture<T> mixture = good;
            for (const T bad : {nan, inf, -inf}) {
              mixture.mean[at] = bad;
              EXPECT_NE(
                  message_of<InputError>([&] { pairs.compute(mixture.view(), 0, 64, 1000); }).find("mean" + place),
                  std::string::npos);
            }
            mixture = good;
            for (const T bad : {nan, inf, -inf, T(0), T(-1), -std::numeric_limits<T>::denorm_min()}) {
              mixture.stddev[at] = bad;
              EXPECT_NE(
                  message_of<InputError>([&] { pairs.compute(mixture.view(), 0, 64, 1000); }).find("stddev" + place),
                  std::string::npos)
                  << name << " " << bad;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace dissent
