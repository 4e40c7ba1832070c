// The arithmetic of the scoring kernels, run on the host lane by lane as a warp runs it, against the plain functions of
// the library. What a card adds to it is who computes what.
#include "dissent/device/score_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "dissent/device/score_combine.hpp"
#include "dissent/device/score_forms.hpp"
#include "dissent/device/score_plain.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent::score {
namespace {

struct Component {
  std::vector<float> mean;
  std::vector<float> stddev;
};

// `apart` says how far components lie from each other, in standard deviations.
std::vector<Component> components(std::size_t count, std::size_t num_outputs, double apart, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<Component> result(count);
  for (std::size_t d = 0; d < num_outputs; ++d) {
    const double mean = normal(generator);
    const double stddev = std::exp(normal(generator));
    for (Component& c : result) {
      c.mean.push_back(static_cast<float>(mean + apart * stddev * normal(generator)));
      c.stddev.push_back(static_cast<float>(stddev * std::exp(0.5 * std::min(apart, 1.0) * normal(generator))));
    }
  }
  return result;
}

// Both directions between the first two components, and whether they are to be trusted.
template <class Form, class C>
Both by_lanes(const Form& form, const std::vector<Component>& all, bool& trusted) {
  constexpr std::size_t kLanes = 32;
  const std::size_t D = all[0].mean.size();
  typename Form::template Pair<C> pair[kLanes];
  LogProduct<C> product[2][kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    int folded = 0;
    for (std::size_t d = lane; d < D; d += kLanes) {
      const auto unit = form.unit(static_cast<C>(all[0].stddev[d]));
      typename Form::template Part<C> part[2];
      for (std::size_t m = 0; m < 2; ++m) {
        const C stddev = static_cast<C>(all[m].stddev[d]);
        part[m] = form.part(static_cast<C>(all[m].mean[d]), stddev, unit);
        product[m][lane].multiply(Form::kUnits && m == 0 ? stddev : form.factor(stddev, unit));
      }
      pair[lane].add(part[0], part[1], unit);
      if (++folded % LogProduct<C>::kFold == 0) {
        product[0][lane].normalise();
        product[1][lane].normalise();
      }
      if (folded % Form::template kFold<C> == 0) {
        pair[lane].fold();
      }
    }
    pair[lane].fold();
    product[0][lane].normalise();
    product[1][lane].normalise();
  }
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    pair[0].merge(pair[lane]);
    product[0][0].merge(product[0][lane]);
    product[1][0].merge(product[1][lane]);
  }
  const LogParts first = Form::kUnits ? LogParts{} : LogParts::of(product[0][0]);
  const Both both = form.values(pair[0], first, LogParts::of(product[1][0]));
  const double least = form.template least<C, float>(static_cast<double>(D));
  trusted = both.there >= least && both.back >= least && both.there <= kLargest && both.back <= kLargest;
  return both;
}

template <class Form>
Both by_closed_forms(const Form& form, const std::vector<Component>& all) {
  Both both{0, 0};
  for (std::size_t d = 0; d < all[0].mean.size(); ++d) {
    const Normal p{all[0].mean[d], all[0].stddev[d]};
    const Normal q{all[1].mean[d], all[1].stddev[d]};
    both.there += plain_term(form, p, q);
    both.back += plain_term(form, q, p);
  }
  return both;
}

Both by_library(const std::string& name, const std::vector<Component>& all) {
  std::vector<double> values[4];
  for (std::size_t m = 0; m < 2; ++m) {
    values[2 * m].assign(all[m].mean.begin(), all[m].mean.end());
    values[2 * m + 1].assign(all[m].stddev.begin(), all[m].stddev.end());
  }
  const DiagonalGaussian p{values[0], values[1]};
  const DiagonalGaussian q{values[2], values[3]};
  const Divergence kind = parse_divergence(name);
  return {divergence(kind, p, q), divergence(kind, q, p)};
}

void expect_close(const Both& got, const Both& expected, double relative) {
  EXPECT_NEAR(got.there, expected.there, relative * expected.there);
  EXPECT_NEAR(got.back, expected.back, relative * expected.back);
}

// Sums hold wherever they are trusted, closed forms everywhere; distant components must not need the latter.
template <class Form>
void check_form(const std::string& name, const Form& form) {
  for (const std::size_t D : {1, 3, 32, 33, 257, 1100}) {
    for (const double apart : {1e-6, 1e-3, 0.1, 1.0, 30.0}) {
      SCOPED_TRACE(name + ", D = " + std::to_string(D) + ", apart = " + std::to_string(apart));
      const std::vector<Component> pair = components(2, D, apart, static_cast<unsigned>(D));
      const Both expected = by_library(name, pair);
      bool trusted = false;
      const Both single = by_lanes<Form, float>(form, pair, trusted);
      if (trusted) {
        expect_close(single, expected, 1e-6);
      }
      EXPECT_TRUE(trusted || apart < 1 || D < 32);
      const Both full = by_lanes<Form, double>(form, pair, trusted);
      if (trusted) {
        expect_close(full, expected, 1e-8);
      }
      EXPECT_TRUE(trusted || apart < 0.1);
      expect_close(by_closed_forms(form, pair), expected, 1e-12);
    }
  }
}

TEST(ScoreForms, KlIsTheLibrarys) { check_form("kl", KlForm{}); }
TEST(ScoreForms, KlWithMeansInFloatIsTheLibrarys) {
  for (const std::size_t D : {1, 3, 33, 257}) {
    for (const double apart : {1e-3, 0.1, 1.0, 30.0}) {
      const std::vector<Component> pair = components(2, D, apart, static_cast<unsigned>(D));
      bool trusted = false;
      const Both both = by_lanes<MixedKlForm, double>({}, pair, trusted);
      EXPECT_TRUE(trusted || apart < 0.1);
      if (trusted) {
        expect_close(both, by_library("kl", pair), 1e-6);
      }
    }
  }
}
TEST(ScoreForms, BhattacharyyaIsTheLibrarys) { check_form("bhattacharyya", BhattacharyyaForm{}); }
TEST(ScoreForms, ChernoffIsTheLibrarys) {
  check_form("chernoff:0.3", ChernoffForm{0.3});
  check_form("chernoff:0.9", ChernoffForm{0.9});
}
TEST(ScoreForms, WassersteinIsTheLibrarys) { check_form("wasserstein", WassersteinForm{}); }

TEST(ScoreForms, EqualComponentsGiveNothing) {
  std::vector<Component> pair = components(1, 40, 1, 1);
  pair.push_back(pair[0]);
  bool trusted = false;
  EXPECT_EQ((by_lanes<BhattacharyyaForm, float>({}, pair, trusted).there), 0);
  EXPECT_TRUE(trusted);
  by_lanes<KlForm, float>({}, pair, trusted);
  EXPECT_FALSE(trusted);
  EXPECT_EQ(by_closed_forms(KlForm{}, pair).there, 0);
  EXPECT_EQ(by_closed_forms(ChernoffForm{0.3}, pair).there, 0);
}

TEST(ScoreForms, ClosedFormsBearAllScales) {
  for (const double alpha : {0.1, 0.5, 0.8}) {
    std::vector<Component> pair(2);
    pair[0] = {{0, 1e20F, -3}, {1e-30F, 1e30F, 1}};
    pair[1] = {{1e-30F, 0, 5}, {1e-20F, 1e-3F, 1e-10F}};
    expect_close(by_closed_forms(ChernoffForm{alpha}, pair), by_library("chernoff:" + std::to_string(alpha), pair),
                 1e-12);
    expect_close(by_closed_forms(KlForm{}, pair), by_library("kl", pair), 1e-12);
  }
}

TEST(ScoreForms, ScalesOutOfRangeAreNoticed) {
  const auto passes = [](float stddev) {
    ScaleCheck check;
    check.add(1.0F);
    check.add(stddev);
    return check.passed(1e-9F, 1e9F);
  };
  EXPECT_TRUE(passes(1e-8F));
  EXPECT_TRUE(passes(1e8F));
  for (const float bad : {1e-10F, 1e10F, 0.0F, -1.0F, INFINITY, NAN, -NAN}) {
    EXPECT_FALSE(passes(bad)) << bad;
  }
}

template <class E>
Score combined(const Weights& weights, const std::vector<double>& divergence) {
  const std::size_t M = weights.size();
  RowTerms<E> terms;
  FarSum far;
  for (std::size_t i = 0; i < M; ++i) {
    RowSums<E> row;
    for (std::size_t j = 0; j < M; ++j) {
      if (i != j) {
        row.add(static_cast<E>(weights.value[j]), static_cast<E>(divergence[i * M + j]));
        if (weights.value[i] > 0 && weights.value[j] > 0) {
          far.add(weights.log[j] - divergence[i * M + j]);
        }
      }
    }
    terms.merge(RowTerms<E>(row, weights.value[i], weights.log[i]));
  }
  Score score = score_of(terms, weights.entropy);
  score.log_deficit = terms.far() ? far.log_deficit() : score.log_deficit;
  return score;
}

TEST(ScoreCombine, AgreesWithThePlainOne) {
  std::mt19937_64 generator(2);
  std::normal_distribution<double> normal;
  for (const double scale : {1e-9, 1e-4, 0.3, 3.0, 60.0, 500.0, 3000.0}) {
    for (const std::vector<double>& given : {std::vector<double>{}, std::vector<double>{0.1, 0, 0.2, 0.7},
                                             std::vector<double>{1e-9, 0.5 - 1e-9, 0.25, 0.25}}) {
      const Weights weights = Weights::from(given, 4);
      std::vector<double> divergence(16);
      for (double& value : divergence) {
        value = scale * std::exp(0.3 * normal(generator));
      }
      SCOPED_TRACE(scale);
      const Combined expected = combine(weights, divergence);
      const Score single = combined<float>(weights, divergence);
      const Score full = combined<double>(weights, divergence);
      EXPECT_NEAR(single.epistemic, expected.epistemic, 1e-6 * expected.epistemic);
      EXPECT_NEAR(single.log_deficit, expected.log_deficit, 1e-6 * std::max(1.0, std::abs(expected.log_deficit)));
      EXPECT_NEAR(full.epistemic, expected.epistemic, 1e-12 * expected.epistemic);
      EXPECT_NEAR(full.log_deficit, expected.log_deficit, 1e-12 * std::max(1.0, std::abs(expected.log_deficit)));
    }
  }
}

TEST(ScoreMath, ExponentialHasItsDigitsAtBothEnds) {
  for (double x = -1e-9; x > -700; x *= 1.7) {
    const Exponential<double> e = exponential(x);
    EXPECT_NEAR(e.exp, std::exp(x), 1e-14 * std::exp(x));
    EXPECT_NEAR(e.expm1, std::expm1(x), -1e-15 * std::expm1(x) * 8);
    const auto single = static_cast<float>(x);
    const Exponential<float> f = exponential(single);
    EXPECT_NEAR(f.exp, std::exp(single), 4e-7F * std::exp(single) + 2e-38F);
    EXPECT_NEAR(f.expm1, std::expm1(single), -4e-7F * std::expm1(single));
  }
}

TEST(ScoreMath, LogOfAFloatHasItsDigits) {
  for (float x = 1.2e-38F; x < 3e38F; x *= 1.00137F) {
    const double expected = std::log(static_cast<double>(x));
    EXPECT_NEAR(log_of_float(x), expected, 1e-11 + 1e-15 * std::abs(expected));
  }
  EXPECT_EQ(log_of_float(1), 0);
}

// Where a product of 16 factors does not fit a float, the sums must say so.
TEST(ScoreForms, BhattacharyyaNoticesAnOverflow) {
  std::vector<Component> pair(2);
  pair[0] = {std::vector<float>(512, 0.0F), std::vector<float>(512, 1.0F)};
  pair[1] = {std::vector<float>(512, 1.0F), std::vector<float>(512, 1000.0F)};
  bool trusted = true;
  by_lanes<BhattacharyyaForm, float>({}, pair, trusted);
  EXPECT_FALSE(trusted);
  const Both both = by_lanes<BhattacharyyaForm, double>({}, pair, trusted);
  EXPECT_TRUE(trusted);
  expect_close(both, by_library("bhattacharyya", pair), 1e-8);
}

TEST(ScoreMath, FinishesAsTheRegistrySays) {
  EXPECT_EQ((FinishRule{Finish::kSame, 0.5})(2, 3), 2);
  EXPECT_EQ((FinishRule{Finish::kJeffreys, 0.5})(2, 3), 5);
  EXPECT_DOUBLE_EQ((FinishRule{Finish::kHellinger, 0.5})(2, 3), 1 - std::exp(-2.0));
  EXPECT_DOUBLE_EQ((FinishRule{Finish::kRenyi, 0.75})(2, 3), 8);
}

}  // namespace
}  // namespace dissent::score
