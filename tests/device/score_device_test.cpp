// Scores computed on a card against those of the CPU's plain functions: all kernels, awkward sizes, inputs that sums in
// single precision cannot vouch for, and the errors.
#include "dissent/estimator/score_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "device/card.hpp"
#include "dissent/base/random.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/device/device.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

struct Shape {
  std::size_t num_inputs, num_components, num_outputs;
};

// Threads, warps and tiles; whole and broken vectors, blocks and chunks.
constexpr Shape kShapes[] = {{70, 2, 1},  {40, 3, 7},   {33, 5, 11}, {20, 6, 16},  {20, 8, 9},   {20, 7, 17},
                             {20, 5, 32}, {12, 5, 257}, {12, 8, 33}, {12, 9, 5},   {10, 10, 64}, {6, 33, 20},
                             {1, 5, 11},  {3, 4, 5000}, {8, 16, 1},  {2, 100, 257}};
const char* const kPairwise[] = {"kl",        "jeffreys",  "bhattacharyya", "chernoff:0.3", "chernoff:0.95",
                                 "renyi:0.7", "hellinger", "wasserstein"};

// Each input of another kind: components apart, close, very close, equal, far, and of scales beyond float's squares.
template <class T>
Mixture<T> nasty_mixture(const Shape& shape, bool weighted) {
  Mixture<T> mixture = Mixture<T>::diagonal(shape.num_inputs, shape.num_components, shape.num_outputs);
  for (std::size_t n = 0; n < shape.num_inputs; ++n) {
    Stream common(1, Purpose::kTest, n);
    const double apart = std::vector<double>{1, 1e-2, 1e-5, 0, 300, 1}[n % 6];
    for (std::size_t d = 0; d < shape.num_outputs; ++d) {
      const double mean = common.normal();
      const double stddev = std::exp(common.normal());
      for (std::size_t m = 0; m < shape.num_components; ++m) {
        const std::size_t at = (n * shape.num_components + m) * shape.num_outputs + d;
        const double scale = n % 6 == 5 ? std::exp(12 * common.normal()) : 1;
        mixture.mean[at] = static_cast<T>((mean + apart * common.normal()) * scale);
        mixture.stddev[at] = static_cast<T>(stddev * scale * std::exp(std::min(apart, 1.0) * common.normal()));
      }
    }
  }
  std::vector<double> weights(weighted ? shape.num_components : 0);
  for (std::size_t m = 0; m < weights.size(); ++m) {
    weights[m] = m == 1 && weights.size() > 2 ? 0 : 0.1 + static_cast<double>(m % 4);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::ranges::for_each(weights, [sum](double& w) { w /= sum; });
  mixture.weights = Weights::from(weights, shape.num_components);
  return mixture;
}

template <class T>
Combined plain_score(const Divergence& kind, const Mixture<T>& mixture, std::size_t n) {
  InputComponents components;
  components.load(mixture.view(), n, n);
  const std::size_t M = mixture.num_components;
  std::vector<double> divergences(M * M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const double value = divergence(kind, components.diagonal_component(i), components.diagonal_component(j));
      divergences[i * M + j] = std::min(value, 1e37);
    }
  }
  return combine(mixture.weights, divergences);
}

void expect_near(double got, double expected, double relative, double floor = 1e-30) {
  if (got != expected) {
    EXPECT_NEAR(got, expected, relative * std::max(std::abs(expected), floor));
  }
}

class ScoresOnCard : public test::OnCard {
 protected:
  ScoreDevice& scores() { return device_->scores(); }

  template <class T>
  void check_pairwise(const Shape& shape, bool weighted) {
    const Mixture<T> mixture = nasty_mixture<T>(shape, weighted);
    const double relative = sizeof(T) == 4 ? 1e-6 : 1e-10;
    for (const char* name : kPairwise) {
      const Estimator estimator = parse_estimator(name);
      ASSERT_TRUE(scores().takes(estimator, mixture.view()));
      const Uncertainty got = estimate(estimator, mixture.view(), {.device = &scores()});
      const Uncertainty on_cpu = estimate(estimator, mixture.view());
      for (std::size_t n = 0; n < shape.num_inputs; ++n) {
        SCOPED_TRACE(fmt::format("{} of {} x {} x {}, {} bytes, input {}", name, shape.num_inputs, shape.num_components,
                                 shape.num_outputs, sizeof(T), n));
        const Combined expected = plain_score(estimator.divergence, mixture, n);
        expect_near(got.epistemic[n], expected.epistemic, relative);
        expect_near(std::max(got.log_deficit[n], -1e36), std::max(expected.log_deficit, -1e36), relative, 1);
        expect_near(got.aleatoric[n], on_cpu.aleatoric[n], relative, static_cast<double>(shape.num_outputs));
        EXPECT_EQ(got.total[n], got.aleatoric[n] + got.epistemic[n]);
      }
    }
  }

  // Against the CPU, draw for draw.
  template <class T>
  void check_other(const std::string& name, const Shape& shape, bool weighted) {
    const Mixture<T> mixture = nasty_mixture<T>(shape, weighted);
    const Estimator estimator = parse_estimator(name);
    ASSERT_TRUE(scores().takes(estimator, mixture.view()));
    const Uncertainty expected = estimate(estimator, mixture.view(), {.seed = 5, .first_input = 77});
    const Uncertainty got = estimate(estimator, mixture.view(), {.seed = 5, .first_input = 77, .device = &scores()});
    for (std::size_t n = 0; n < shape.num_inputs; ++n) {
      SCOPED_TRACE(fmt::format("{}, input {}", name, n));
      expect_near(got.epistemic[n], expected.epistemic[n], 2e-6, 1e-9);
      expect_near(got.log_deficit[n], expected.log_deficit[n], 2e-6, 1);
      for (std::size_t k = 0; k < expected.extras.size(); ++k) {
        if (expected.extras[k].name != "alpha") {  // flat where it matters least
          expect_near(got.extras[k].values[n], expected.extras[k].values[n], 2e-6, k > 2 ? 1 : 1e-9);
        }
      }
    }
  }

  template <class T>
  std::string error_of(const Mixture<T>& mixture, ScoreDevice* device) {
    try {
      estimate(parse_estimator("bhattacharyya"), mixture.view(), {.first_input = 1000, .device = device});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(ScoresOnCard, PairwiseOfFloatsAreThePlainOnes) {
  for (const Shape& shape : kShapes) {
    check_pairwise<float>(shape, shape.num_outputs % 2 == 0);
  }
}

TEST_F(ScoresOnCard, PairwiseOfDoublesAreThePlainOnes) {
  for (const Shape& shape : kShapes) {
    check_pairwise<double>(shape, shape.num_outputs % 2 == 1);
  }
}

TEST_F(ScoresOnCard, OthersAreTheCpus) {
  for (const char* name : {"epkl", "bounds", "mc:100", "mc:1001"}) {
    check_other<float>(name, {30, 5, 11}, false);
    check_other<double>(name, {30, 3, 40}, true);
  }
  for (const char* name :
       {"epkl", "bounds", "mc:1001"}) {  // a hundred samples are too few for weights as small as these
    check_other<float>(name, {12, 8, 33}, true);
  }
  check_other<float>("epkl", {12, 20, 40}, true);
}

TEST_F(ScoresOnCard, BadValuesAreNamedAsOnTheCpu) {
  for (const Shape& shape : {Shape{40, 5, 257}, Shape{40, 5, 11}, Shape{5, 20, 30}}) {
    for (const double bad : {std::nan(""), 0.0, -1.0, static_cast<double>(INFINITY)}) {
      for (const bool in_mean : {false, true}) {
        Mixture<float> mixture = nasty_mixture<float>(shape, false);
        (in_mean ? mixture.mean : mixture.stddev)[mixture.mean.size() - 2 * shape.num_outputs] =
            static_cast<float>(bad);
        EXPECT_EQ(error_of(mixture, &scores()), error_of(mixture, nullptr));
        EXPECT_EQ(error_of(mixture, &scores()).empty(), in_mean && std::isfinite(bad));
      }
    }
  }
}

TEST_F(ScoresOnCard, StreamsWhatIsLargerThanAPart) {
  const Mixture<float> few = nasty_mixture<float>({999, 5, 11}, false);
  Mixture<float> many = Mixture<float>::diagonal(300'000, 5, 11);
  for (std::size_t k = 0; k < many.mean.size(); ++k) {
    many.mean[k] = few.mean[k % few.mean.size()];
    many.stddev[k] = few.stddev[k % few.mean.size()];
  }
  ThreadPool threads(2);
  const Estimator estimator = parse_estimator("bhattacharyya");
  const Uncertainty part = estimate(estimator, few.view(), {.device = &scores()});
  const Uncertainty whole = estimate(estimator, many.view(), {.executor = &threads, .device = &scores()});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    ASSERT_EQ(whole.epistemic[n], part.epistemic[n % 999]) << n;
    ASSERT_EQ(whole.log_deficit[n], part.log_deficit[n % 999]) << n;
  }
  many.mean[many.mean.size() - 1] = NAN;
  EXPECT_EQ(error_of(many, &scores()), "mean[300999, 4, 10] = nan is not a finite number");
}

TEST_F(ScoresOnCard, ChoosesTheMostUncertain) {
  for (const std::size_t N : {1, 700, 20'000}) {
    const Mixture<double> mixture = nasty_mixture<double>({N, 3, 5}, false);
    const Estimator estimator = parse_estimator("kl");
    const Uncertainty all = estimate(estimator, mixture.view(), {.device = &scores()});
    std::vector<std::size_t> order(N);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return more_uncertain(all, a, b); });
    for (const std::size_t count : {0, 1, 10, 1024, 1500}) {
      const auto top = scores().most_uncertain(estimator, mixture.view(), count, {});
      ASSERT_EQ(top.size(), std::min(count, N));
      for (std::size_t k = 0; k < top.size(); ++k) {
        EXPECT_EQ(top[k].input, order[k]);
        EXPECT_EQ(top[k].log_deficit, all.log_deficit[order[k]]);
      }
    }
  }
}

TEST_F(ScoresOnCard, LeavesToTheCpuWhatItHasNoKernelFor) {
  Mixture<float> mixture = nasty_mixture<float>({3, 9, 4}, false);
  for (const char* name : {"min", "max", "renyi:2", "bounds", "mc:100", "refine:2"}) {
    EXPECT_FALSE(scores().takes(parse_estimator(name), mixture.view())) << name;
    EXPECT_EQ(estimate(parse_estimator(name), mixture.view(), {.device = &scores()}).epistemic,
              estimate(parse_estimator(name), mixture.view()).epistemic);
  }
  mixture = nasty_mixture<float>({3, 1, 4}, false);
  EXPECT_FALSE(scores().takes(parse_estimator("kl"), mixture.view()));
}

}  // namespace
}  // namespace dissent
