// float32 against float64, fast against plain, chunks and threads against the whole.
#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/threads.hpp"
#include "dissent/estimator/combine.hpp"
#include "support/mixtures.hpp"
#include "support/property.hpp"

namespace dissent {
namespace {

const std::vector<std::string> kNames{"kl", "jeffreys", "bhattacharyya", "chernoff:0.3", "renyi:0.7", "hellinger"};

// The worst relative error of epistemic against the plain float64 path for the same input.
template <class T>
double worst_error(const Mixture<T>& mixture, const Weights& weights) {
  double worst = 0;
  for (const std::string& name : kNames) {
    const Uncertainty u = test::run(name, mixture, weights);
    for (std::size_t n = 0; n < u.size(); ++n) {
      const Combined truth = combine(weights, test::plain_divergences(parse_divergence(name), mixture, n));
      worst = std::max(worst, test::relative_error(u.epistemic[n], truth.epistemic));
      // An absolute error of the log deficit is a relative one of the deficit; saturated, of the divergences behind it.
      if (std::isfinite(truth.log_deficit)) {
        worst = std::max(worst,
                         std::abs(u.log_deficit[n] - truth.log_deficit) / std::max(1.0, std::abs(truth.log_deficit)));
      } else {
        EXPECT_EQ(u.log_deficit[n], truth.log_deficit);
      }
    }
  }
  return worst;
}

template <class T>
double worst_over_shapes(double tolerance) {
  double worst = 0;
  for (const std::size_t num_outputs : {1, 3, 11, 27, 31, 32, 33, 257}) {
    for (const std::size_t num_components : {1, 2, 5, 17}) {
      for (const double mean_gap : {0.0, 1e-6, 1e-4, 1e-2, 0.1, 0.3, 1.0, 10.0}) {
        for (const double scale_gap : {0.0, 1e-6, 1e-3, 0.1, 1.0}) {
          const test::MixtureCase c{.num_inputs = num_outputs * num_components > 200 ? std::size_t{1} : std::size_t{9},
                                    .num_components = num_components,
                                    .num_outputs = num_outputs,
                                    .mean_gap = mean_gap,
                                    .scale_gap = scale_gap,
                                    .weighted = scale_gap == 0.1,
                                    .seed = num_outputs + num_components};
          const double error = worst_error(test::diagonal_mixture<T>(c), test::case_weights(c));
          EXPECT_LT(error, tolerance) << c;
          worst = std::max(worst, error);
        }
      }
    }
  }
  return worst;
}

TEST(Precision, Float32InputIsWithin1e5OfFloat64) {
  std::cout << "worst relative error, float32: " << worst_over_shapes<float>(1e-5) << "\n";
}

TEST(Precision, Float64FastPathIsWithin1e10OfThePlainOne) {
  std::cout << "worst relative error, float64: " << worst_over_shapes<double>(1e-10) << "\n";
}

TEST(Precision, Float32RandomMixtures) {
  test::check_property(2000, [] {
    const test::MixtureCase c = *test::mixture_cases({.max_components = 8, .max_outputs = 80});
    const double error = worst_error(test::diagonal_mixture<float>(c), test::case_weights(c));
    RC_LOG() << "relative error " << error << "\n";
    RC_ASSERT(error < 1e-5);
  });
}

// Long sums of terms that largely cancel are the hard case of single precision.
TEST(Precision, Float32ManyOutputs) {
  for (const std::size_t num_outputs : {1000, 10000}) {
    for (const double gap : {1e-3, 0.01, 0.05, 0.2, 1.0}) {
      const test::MixtureCase c{.num_inputs = 2,
                                .num_components = 3,
                                .num_outputs = num_outputs,
                                .mean_gap = gap / 10,
                                .scale_gap = gap,
                                .seed = 1};
      EXPECT_LT(worst_error(test::diagonal_mixture<float>(c), Weights::uniform(3)), 1e-5) << c;
    }
  }
}

void expect_same(const Uncertainty& part, std::size_t begin, const Uncertainty& whole, const std::string& what) {
  for (std::size_t n = 0; n < part.size(); ++n) {
    const std::size_t at = begin + n;
    EXPECT_EQ(part.epistemic[n], whole.epistemic[at]) << what << " input " << at;
    EXPECT_EQ(part.aleatoric[n], whole.aleatoric[at]) << what << " input " << at;
    EXPECT_EQ(part.total[n], whole.total[at]) << what << " input " << at;
    EXPECT_EQ(part.log_deficit[n], whole.log_deficit[at]) << what << " input " << at;
    for (std::size_t k = 0; k < part.extras.size(); ++k) {
      EXPECT_EQ(part.extras[k].values[n], whole.extras[k].values[at]) << what << " " << part.extras[k].name;
    }
  }
}

const std::vector<std::string> kAll{"kl",        "jeffreys",    "bhattacharyya", "chernoff:0.3", "renyi:2",
                                    "hellinger", "wasserstein", "min",           "max",          "epkl",
                                    "bounds",    "mc:20",       "quadrature"};

template <class T>
void expect_chunks_change_nothing() {
  for (const std::size_t num_outputs : {1, 3, 11, 40}) {
    const test::MixtureCase c{.num_inputs = 150, .num_components = 4, .num_outputs = num_outputs, .seed = 12};
    const Mixture<T> mixture = test::diagonal_mixture<T>(c);
    const Weights weights = Weights::uniform(4);
    for (const std::string& name : kAll) {
      if (name == "quadrature" && num_outputs > 1) {
        continue;
      }
      const Uncertainty whole = test::run(name, mixture, weights);
      std::size_t begin = 0;
      for (const std::size_t count : {1, 2, 63, 1, 7, 64, 12}) {
        const Uncertainty part = estimate(
            parse_estimator(name), mixture.view().rows(begin, begin + count).weighted(weights), {.first_input = begin});
        expect_same(part, begin, whole, fmt::format("{} D={}", name, num_outputs));
        begin += count;
      }
    }
  }
}

TEST(Precision, ChunksGiveTheSameBits) {
  expect_chunks_change_nothing<float>();
  expect_chunks_change_nothing<double>();
}

TEST(Threads, AnyNumberOfThreadsGivesTheSameBits) {
  ThreadPool two(2);
  ThreadPool three(3);
  for (const std::size_t num_outputs : {1, 5, 40}) {
    const test::MixtureCase c{.num_inputs = 300, .num_components = 3, .num_outputs = num_outputs, .seed = 2};
    const Mixture<float> mixture = test::diagonal_mixture<float>(c);
    const Weights weights = test::case_weights(c);
    for (const std::string& name : kAll) {
      if (name != "quadrature" || num_outputs == 1) {
        const Uncertainty one = test::run(name, mixture, weights);
        expect_same(test::run(name, mixture, weights, {.executor = &two}), 0, one, name);
        expect_same(test::run(name, mixture, weights, {.executor = &three}), 0, one, name);
      }
    }
  }
}

}  // namespace
}  // namespace dissent
