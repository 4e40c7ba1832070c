// Where formulas break: equal, single, far, tiny, huge and absent components.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dissent/base/threads.hpp"
#include "support/mixtures.hpp"
#include "support/property.hpp"

namespace dissent {
namespace {

using test::extra;
using test::run;
constexpr double kInf = std::numeric_limits<double>::infinity();

const std::vector<std::string> kPairwise{"kl",      "jeffreys",  "bhattacharyya", "chernoff:0.3", "renyi:0.5",
                                         "renyi:2", "hellinger", "wasserstein",   "min",          "max"};

std::vector<std::string> all_estimators(bool one_output) {
  std::vector<std::string> names = kPairwise;
  for (const char* name : {"epkl", "bounds", "mc:10", "refine:3"}) {
    names.emplace_back(name);
  }
  if (one_output) {
    names.emplace_back("quadrature");
  }
  return names;
}

// Repeats the first component of every input.
template <class T>
Mixture<T> all_equal(Mixture<T> mixture) {
  for (auto* values : {&mixture.mean, &mixture.stddev, &mixture.covariance}) {
    const std::size_t size = values->size() / (mixture.num_inputs * mixture.num_components);
    for (std::size_t k = 0; k < values->size(); ++k) {
      (*values)[k] = (*values)[k - k % (size * mixture.num_components) + k % size];
    }
  }
  return mixture;
}

template <class Mixtures>
void expect_zero(const Mixtures& mixture, const Weights& weights) {
  for (const std::string& name : all_estimators(mixture.num_outputs == 1)) {
    const Uncertainty u = run(name, mixture, weights);
    for (std::size_t n = 0; n < u.size(); ++n) {
      EXPECT_EQ(u.epistemic[n], 0) << name;
      EXPECT_EQ(u.total[n], u.aleatoric[n]) << name;
      if (weights.entropy > 0) {
        EXPECT_NEAR(u.log_deficit[n], std::log(weights.entropy), 1e-14) << name << " D=" << mixture.num_outputs;
      } else {
        EXPECT_EQ(u.log_deficit[n], -kInf) << name;
      }
      if (name == "bounds" || name == "refine:3") {
        EXPECT_EQ(extra(u, "lower")[n], 0);
        EXPECT_EQ(extra(u, "upper")[n], 0);
      }
      if (name == "mc:10") {
        EXPECT_EQ(extra(u, "standard_error")[n], 0);
      }
    }
  }
}

TEST(Edges, EqualComponentsHaveExactlyNoEpistemicUncertainty) {
  for (const std::size_t num_outputs : {1, 2, 11, 33, 257}) {
    for (const bool weighted : {false, true}) {
      const test::MixtureCase c{
          .num_inputs = 5, .num_components = 5, .num_outputs = num_outputs, .weighted = weighted, .seed = 1};
      const Weights weights = test::case_weights(c);
      expect_zero(all_equal(test::diagonal_mixture<float>(c)), weights);
      expect_zero(all_equal(test::diagonal_mixture<double>(c)), weights);
      if (num_outputs < 20) {
        expect_zero(all_equal(test::full_mixture(c)), weights);
      }
    }
  }
}

TEST(Edges, OneComponentIsAllAleatoric) {
  for (const std::size_t num_outputs : {1, 3, 257}) {
    const test::MixtureCase c{.num_inputs = 3, .num_components = 1, .num_outputs = num_outputs, .seed = 1};
    expect_zero(test::diagonal_mixture<float>(c), Weights::uniform(1));
    expect_zero(test::diagonal_mixture<double>(c), Weights::uniform(1));
    expect_zero(test::full_mixture({.num_components = 1, .num_outputs = std::min<std::size_t>(num_outputs, 9)}),
                Weights::uniform(1));
  }
  // All weight on one of several is the same.
  const test::MixtureCase c{.num_inputs = 3, .num_components = 3, .seed = 1};
  expect_zero(test::diagonal_mixture<double>(c), Weights::from(std::vector<double>{0, 1, 0}, 3));
}

// Components pushed apart by growing factors, up to 1e6 standard deviations in each of 257 outputs: epistemic reaches
// H(w) to the last bit, log_deficit stays finite and keeps falling.
template <class T>
void expect_ordered(std::size_t num_outputs, const std::vector<std::string>& names) {
  const Weights weights = Weights::from(std::vector<double>{0.5, 0.3, 0.2}, 3);
  for (const std::string& name : names) {
    double previous = kInf;
    for (double distance = 0.125; distance <= 1.1e6; distance *= 2) {
      test::MixtureCase c{.num_components = 3, .num_outputs = num_outputs, .mean_gap = 0, .scale_gap = 0.1, .seed = 3};
      Mixture<T> mixture = test::diagonal_mixture<T>(c);
      for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
        mixture.mean[k] = static_cast<T>(distance * static_cast<double>(mixture.stddev[k % num_outputs]) *
                                         static_cast<double>(k / num_outputs));
      }
      const Uncertainty u = run(name, mixture, weights);
      EXPECT_TRUE(std::isfinite(u.log_deficit[0])) << name << " at " << distance;
      EXPECT_LT(u.log_deficit[0], previous) << name << " at " << distance;
      EXPECT_LE(u.epistemic[0], weights.entropy * (1 + 1e-15)) << name << " at " << distance;
      previous = u.log_deficit[0];
      if (distance > 100 && name != "hellinger") {
        EXPECT_DOUBLE_EQ(u.epistemic[0], weights.entropy) << name;
      }
    }
  }
}

TEST(Edges, FarComponentsStayInOrder) {
  const std::vector<std::string> names{"kl", "bhattacharyya", "chernoff:0.3", "chernoff:0.9", "renyi:0.7", "bounds"};
  expect_ordered<float>(257, names);
  expect_ordered<double>(257, names);
  expect_ordered<float>(1, names);
  expect_ordered<double>(1,
                         {"kl", "bhattacharyya", "chernoff:0.3", "chernoff:0.9", "renyi:0.7", "bounds", "quadrature"});
}

// Heavy weights, and two components: the deficit keeps its digits from the beginning to the end.
template <class T>
void expect_deficits(const Weights& weights, double tolerance) {
  for (const std::string& name : {std::string("kl"), std::string("bhattacharyya"), std::string("chernoff:0.3")}) {
    for (double distance = 1e-4; distance < 200; distance *= 1.3) {
      Mixture<T> mixture = Mixture<T>::diagonal(1, weights.size(), 1);
      for (std::size_t m = 0; m < weights.size(); ++m) {
        mixture.mean[m] = static_cast<T>(distance * static_cast<double>(m));
        mixture.stddev[m] = 1;
      }
      const Uncertainty u = run(name, mixture, weights);
      const Combined truth = combine(weights, test::plain_divergences(parse_divergence(name), mixture, 0));
      EXPECT_LT(test::relative_error(u.epistemic[0], truth.epistemic), tolerance) << name << " " << distance;
      EXPECT_LT(std::abs(u.log_deficit[0] - truth.log_deficit), tolerance * std::max(1.0, std::abs(truth.log_deficit)))
          << name << " " << distance << " w0=" << weights.value[0];
    }
  }
}

TEST(Edges, DeficitsKeepTheirDigitsBesideHeavyWeights) {
  for (const std::vector<double>& weights : {std::vector<double>{0.5, 0.5}, std::vector<double>{0.7, 0.3},
                                             std::vector<double>{0.99, 0.01}, std::vector<double>{0.26, 0.6, 0.14}}) {
    expect_deficits<float>(Weights::from(weights, weights.size()), 2e-6);
    expect_deficits<double>(Weights::from(weights, weights.size()), 1e-12);
  }
}

// Ranking goes by log_deficit; where little is uncertain it must agree with a ranking by the value.
template <class T>
void expect_same_order() {
  constexpr std::size_t kInputs = 60;
  Mixture<T> mixture = Mixture<T>::diagonal(kInputs, 5, 3);
  mixture.stddev.assign(mixture.stddev.size(), 1);
  for (std::size_t n = 0; n < kInputs; ++n) {
    mixture.mean[n * 15] = static_cast<T>(1e-5 * std::pow(1.3, static_cast<double>(n)));
  }
  for (const std::string& name : {std::string("kl"), std::string("bhattacharyya"), std::string("chernoff:0.3")}) {
    const Uncertainty u = run(name, mixture, Weights::uniform(5));
    for (std::size_t n = 1; n < kInputs && u.epistemic[n] < 0.4; ++n) {
      EXPECT_GT(u.epistemic[n], u.epistemic[n - 1]) << name << " " << n;
      EXPECT_TRUE(more_uncertain(u, n, n - 1)) << name << " " << n << " " << u.epistemic[n];
    }
  }
}

TEST(Edges, RankingAgreesWithTheValueWhereLittleIsUncertain) {
  expect_same_order<float>();
  expect_same_order<double>();
}

template <class T>
void expect_sane(const Mixture<T>& mixture, const Weights& weights, const std::string& where) {
  for (const std::string& name : all_estimators(mixture.num_outputs == 1)) {
    const Uncertainty u = run(name, mixture, weights);
    const std::string text = where + " " + name;
    EXPECT_FALSE(std::isnan(u.epistemic[0])) << text;
    EXPECT_FALSE(std::isnan(u.log_deficit[0])) << text;
    EXPECT_TRUE(std::isfinite(u.aleatoric[0])) << text;
    EXPECT_GE(u.epistemic[0], 0) << text;
    if (name != "epkl") {
      EXPECT_LE(u.epistemic[0], weights.entropy * (1 + 1e-14)) << text;
      EXPECT_TRUE(std::isfinite(u.total[0])) << text;
    }
  }
  if (mixture.num_outputs == 1) {
    const double truth = run("quadrature", mixture, weights).epistemic[0];
    const Uncertainty b = run("bounds", mixture, weights);
    EXPECT_LE(extra(b, "lower")[0], truth * (1 + 1e-10)) << where;
    EXPECT_GE(extra(b, "upper")[0], truth * (1 - 1e-10)) << where;
  }
}

template <class T>
void expect_sane_at(const std::vector<double>& scales, const std::vector<double>& offsets) {
  const Weights weights = Weights::from(std::vector<double>{0.25, 0.75}, 2);
  for (const std::size_t num_outputs : {1, 3, 33}) {
    for (const double first : scales) {
      for (const double second : scales) {
        for (const double offset : offsets) {
          Mixture<T> mixture = Mixture<T>::diagonal(1, 2, num_outputs);
          for (std::size_t d = 0; d < num_outputs; ++d) {
            mixture.mean[d] = static_cast<T>(offset);
            mixture.mean[num_outputs + d] = static_cast<T>(d % 2 == 0 ? offset : 0);
            mixture.stddev[d] = static_cast<T>(first);
            mixture.stddev[num_outputs + d] = static_cast<T>(second);
          }
          expect_sane(mixture, weights, fmt::format("D={} scales {} {} offset {}", num_outputs, first, second, offset));
        }
      }
    }
  }
}

TEST(Edges, TinyAndHugeScalesNeitherOverflowNorUnderflow) {
  expect_sane_at<float>({1e-44, 1e-38, 1e-20, 1e-18, 1, 1e18, 1e30}, {0, 1, 1e30});
  expect_sane_at<double>({1e-320, 1e-150, 1e-20, 1, 1e20, 1e150}, {0, 1, 1e30, -1e100});
}

// A mixture in other units is the same mixture.
TEST(Edges, UnitsDoNotMatterFrom1em150To1e150) {
  const test::MixtureCase c{.num_inputs = 6, .num_components = 3, .num_outputs = 1, .mean_gap = 1.5, .seed = 4};
  const Mixture<double> mixture = test::diagonal_mixture<double>(c);
  const Weights weights = Weights::uniform(3);
  for (const std::string& name : {std::string("kl"), std::string("bhattacharyya"), std::string("chernoff:0.3"),
                                  std::string("quadrature"), std::string("mc:100")}) {
    const Uncertainty plain = run(name, mixture, weights);
    for (const int power : {-500, -100, 100, 500}) {
      Mixture<double> scaled = mixture;
      for (std::size_t k = 0; k < scaled.mean.size(); ++k) {
        scaled.mean[k] = std::ldexp(scaled.mean[k], power);
        scaled.stddev[k] = std::ldexp(scaled.stddev[k], power);
      }
      const Uncertainty u = run(name, scaled, weights);
      for (std::size_t n = 0; n < 6; ++n) {
        EXPECT_LT(test::relative_error(u.epistemic[n], plain.epistemic[n]), 1e-10) << name << " 2^" << power;
        EXPECT_NEAR(u.log_deficit[n], plain.log_deficit[n], 1e-9 * std::max(1.0, std::abs(plain.log_deficit[n])))
            << name;
      }
    }
  }
}

// An offset far larger than the standard deviations must not eat their digits.
TEST(Edges, OffsetsDoNotMatter) {
  Mixture<double> mixture = Mixture<double>::diagonal(1, 3, 1);
  mixture.stddev = {1, 2, 4};
  mixture.mean = {0, 0, 0};
  const Weights weights = Weights::uniform(3);
  for (const std::string& name : {std::string("kl"), std::string("bhattacharyya"), std::string("chernoff:0.3"),
                                  std::string("quadrature"), std::string("mc:1000")}) {
    mixture.mean.assign(3, 0);
    const double centred = run(name, mixture, weights).epistemic[0];
    EXPECT_GT(centred, 0.01);
    for (const double offset : {1e6, 1e12, 1e18, 1e30}) {
      mixture.mean.assign(3, offset);
      EXPECT_LT(test::relative_error(run(name, mixture, weights).epistemic[0], centred), 1e-10)
          << name << " " << offset;
    }
  }
}

TEST(Edges, ZeroWeightsTakeComponentsOut) {
  test::check_property(2000, [] {
    const test::MixtureCase c = *test::mixture_cases({.min_components = 2, .max_components = 5, .max_outputs = 3});
    const Mixture<double> mixture = test::diagonal_mixture<double>(c);
    const Weights weights = test::case_weights(c);
    const std::size_t out = c.seed % (c.num_components + 1);  // where a component without weight is put in
    Mixture<double> more = Mixture<double>::diagonal(1, c.num_components + 1, c.num_outputs);
    std::vector<double> values = weights.value;
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(out), 0);
    for (std::size_t m = 0; m <= c.num_components; ++m) {
      const std::size_t from = std::min(m - (m > out ? 1 : 0), c.num_components - 1);
      for (std::size_t d = 0; d < c.num_outputs; ++d) {
        more.mean[m * c.num_outputs + d] = mixture.mean[from * c.num_outputs + d] + (m == out ? 1 : 0);
        more.stddev[m * c.num_outputs + d] = mixture.stddev[from * c.num_outputs + d] * (m == out ? 3 : 1);
      }
    }
    const Weights more_weights = Weights::from(values, values.size());
    std::vector<std::string> names{"kl",          "bhattacharyya", "chernoff:0.3", "hellinger",
                                   "wasserstein", "max",           "epkl",         "bounds"};
    if (c.num_outputs == 1) {
      names.emplace_back("quadrature");
    }
    for (const std::string& name : names) {
      const Uncertainty before = run(name, mixture, weights);
      const Uncertainty after = run(name, more, more_weights);
      RC_LOG() << name << " " << before.epistemic[0] << " became " << after.epistemic[0] << "\n";
      RC_ASSERT(test::relative_error(before.epistemic[0], after.epistemic[0]) < 1e-10);
      RC_ASSERT(std::abs(before.aleatoric[0] - after.aleatoric[0]) < 1e-12 * static_cast<double>(c.num_outputs));
    }
  });
}

TEST(Edges, TinyWeightsNeitherOverflowNorVanish) {
  for (const double tiny : {1e-9, 1e-17, 1e-100, 1e-250, 1e-300, 1e-310}) {
    const Weights weights = Weights::from(std::vector<double>{tiny, 0.5, 0.5}, 3);
    for (const double gap : {0.1, 1.0, 8.0, 40.0, 1e4}) {
      Mixture<double> mixture = Mixture<double>::diagonal(1, 3, 1);
      mixture.mean = {0, gap, 2 * gap};
      mixture.stddev = {1, 1, 1.5};
      expect_sane(mixture, weights, fmt::format("weight {} gap {}", tiny, gap));
      for (const char* name : {"kl", "bhattacharyya", "bounds", "quadrature"}) {
        EXPECT_TRUE(std::isfinite(run(name, mixture, weights).log_deficit[0])) << name << " " << tiny << " " << gap;
      }
    }
  }
}

TEST(Edges, EmptyMixturesGiveEmptyResults) {
  for (const std::string& name : all_estimators(true)) {
    EXPECT_EQ(run(name, Mixture<float>::diagonal(0, 3, 1), Weights::uniform(3)).size(), 0u) << name;
    EXPECT_EQ(run(name, Mixture<double>::full(0, 3, 1), Weights::uniform(3)).size(), 0u) << name;
    ThreadPool pool(2);
    EXPECT_EQ(run(name, Mixture<float>::diagonal(0, 3, 1), Weights::uniform(3), {.executor = &pool}).size(), 0u)
        << name;
  }
}

TEST(Edges, FullCovariancesThatAreDiagonalGiveTheDiagonalResult) {
  test::check_property(2000, [] {
    const test::MixtureCase c = *test::mixture_cases({.max_components = 4, .max_outputs = 4, .min_log10_gap = -3});
    // Powers of two, so that the square and its root lose nothing.
    Mixture<double> mixture = test::diagonal_mixture<double>(c);
    for (double& s : mixture.stddev) {
      s = static_cast<double>(static_cast<float>(s));
    }
    const Mixture<double> full = test::as_full(mixture);
    const Weights weights = test::case_weights(c);
    for (const std::string& name :
         {std::string("kl"), std::string("bhattacharyya"), std::string("chernoff:0.3"), std::string("renyi:2"),
          std::string("hellinger"), std::string("wasserstein"), std::string("min"), std::string("max"),
          std::string("epkl"), std::string("bounds"), std::string("mc:10")}) {
      const Uncertainty expected = run(name, mixture, weights);
      const Uncertainty u = run(name, full, weights);
      RC_LOG() << name << " " << u.epistemic[0] << " is " << expected.epistemic[0] << "\n";
      RC_ASSERT(test::relative_error(u.epistemic[0], expected.epistemic[0]) < 1e-10 ||
                std::abs(u.epistemic[0] - expected.epistemic[0]) < 1e-14);
      RC_ASSERT(std::abs(u.aleatoric[0] - expected.aleatoric[0]) < 1e-12);
    }
    if (c.num_outputs == 1) {
      RC_ASSERT(test::relative_error(run("quadrature", full, weights).epistemic[0],
                                     run("quadrature", mixture, weights).epistemic[0]) < 1e-10);
    }
  });
}

}  // namespace
}  // namespace dissent
