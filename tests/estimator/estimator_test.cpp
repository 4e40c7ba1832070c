// The registry, and errors: every estimator refuses a bad value by its place in the whole.
#include "dissent/estimator/estimator.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "dissent/base/threads.hpp"
#include "support/mixtures.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

// Every estimator of the registry, with a parameter where it takes one.
std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const EstimatorInfo& info : estimators()) {
    const std::string_view letter = info.parameter.letter;
    names.push_back(info.name + (letter == "A" ? ":0.25" : letter == "K" ? ":7" : ""));
  }
  return names;
}

TEST(Registry, NamesRoundTrip) {
  EXPECT_GE(all_names().size(), 13u);
  for (const std::string& name : all_names()) {
    const Estimator estimator = parse_estimator(name);
    EXPECT_EQ(estimator.name(), name);
    EXPECT_EQ(parse_estimator(estimator.name()).info, estimator.info);
  }
  EXPECT_EQ(parse_estimator("mc:5000").count, 5000u);
  EXPECT_EQ(parse_estimator("refine:12").count, 12u);
  EXPECT_EQ(parse_estimator("chernoff:0.1").divergence.alpha, 0.1);
}

TEST(Registry, SaysWhatEachIs) {
  for (const EstimatorInfo& info : estimators()) {
    EXPECT_FALSE(info.formula.empty()) << info.name;
    EXPECT_FALSE(info.cost.empty()) << info.name;
    EXPECT_FALSE(name_of(info.bound).empty()) << info.name;
  }
}

TEST(Registry, NamesTheExtrasThatComeBack) {
  const Mixture<double> mixture = test::diagonal_mixture<double>({.num_inputs = 3, .num_components = 2});
  for (const std::string& name : all_names()) {
    const Estimator estimator = parse_estimator(name);
    std::vector<std::string> names;
    for (const Uncertainty::Extra& extra : estimate(estimator, mixture.view()).extras) {
      names.push_back(extra.name);
      EXPECT_EQ(extra.values.size(), 3u) << name;
    }
    EXPECT_EQ(names, std::vector<std::string>(estimator.info->extras.begin(), estimator.info->extras.end())) << name;
  }
  EXPECT_THROW(test::extra(estimate(Estimator(), mixture.view()), "samples"), InputError);
}

TEST(Registry, TraitsDrawTheLines) {
  for (const EstimatorInfo& info : estimators()) {
    EXPECT_EQ(info.by_pairs, info.name != "mc" && info.name != "quadrature") << info.name;
    EXPECT_EQ(info.ranks_inputs, info.name == "refine") << info.name;
    EXPECT_EQ(info.one_output, info.name == "quadrature") << info.name;
    EXPECT_EQ(info.divergence != nullptr,
              std::ranges::any_of(divergences(), [&](const DivergenceInfo& d) { return d.name == info.name; }))
        << info.name;
  }
  EXPECT_EQ(Estimator().name(), "kl");
  EXPECT_EQ(pairwise_estimator(parse_divergence("chernoff:0.3")).name(), "chernoff:0.3");
}

TEST(Estimate, AMixtureBringsItsWeights) {
  test::MixtureCase c{.num_inputs = 5, .num_components = 3, .mean_gap = 0.5, .weighted = true, .seed = 3};
  Mixture<double> mixture = test::diagonal_mixture<double>(c);
  for (const std::string& name : all_names()) {
    const Estimator estimator = parse_estimator(name);
    mixture.weights = {};
    EXPECT_EQ(estimate(estimator, mixture.view()).epistemic, test::run(name, mixture, Weights::uniform(3)).epistemic)
        << name;
    mixture.weights = test::case_weights(c);
    EXPECT_EQ(estimate(estimator, mixture.view()).epistemic, test::run(name, mixture, test::case_weights(c)).epistemic)
        << name;
    EXPECT_EQ(estimate(estimator, mixture.view().rows(2, 4), {.first_input = 2}).epistemic[1],
              test::run(name, mixture, test::case_weights(c), {}).epistemic[3])
        << name;
  }
}

TEST(Registry, BadNamesAreRefusedWithWhatThereIs) {
  const auto error = [](std::string_view text) { return message_of<InputError>([&] { parse_estimator(text); }); };
  for (const char* text : {"", "KL", "kl ", "mcx:5", "variance"}) {
    for (const EstimatorInfo& info : estimators()) {
      EXPECT_NE(error(text).find(info.typed_name()), std::string::npos) << text;
    }
  }
  EXPECT_NE(error("mc").find("mc:5000"), std::string::npos);
  EXPECT_NE(error("refine").find("refine:10"), std::string::npos);
  EXPECT_NE(error("bounds:3").find("takes no parameter"), std::string::npos);
  EXPECT_NE(error("chernoff:2").find("0 < alpha < 1"), std::string::npos);
  for (const char* text :
       {"mc:", "mc:0", "mc:-5", "mc:1.5", "mc:5x", "mc: 5", "mc:1000000001", "mc:99999999999999999999", "refine:0"}) {
    EXPECT_NE(error(text).find("is not a whole number"), std::string::npos) << text;
  }
}

TEST(Estimate, RefusesShapesThatDisagree) {
  for (const std::string& name : all_names()) {
    const Estimator estimator = parse_estimator(name);
    const auto error = [&](const Mixture<double>& mixture, std::size_t num_weights) {
      return message_of<InputError>(
          [&] { estimate(estimator, mixture.view().weighted(Weights::uniform(num_weights))); });
    };
    EXPECT_NE(error(Mixture<double>::diagonal(2, 0, 1), 1).find("M = 0"), std::string::npos);
    EXPECT_NE(error(Mixture<double>::diagonal(2, 3, 0), 3).find("D = 0"), std::string::npos);
    EXPECT_NE(error(Mixture<double>::diagonal(2, 3, 1), 2).find("2 weights for 3 components"), std::string::npos);
  }
  const test::MixtureCase c{.num_components = 2, .num_outputs = 2};
  EXPECT_NE(message_of<InputError>([&] {
              test::run("quadrature", test::diagonal_mixture<double>(c), Weights::uniform(2));
            }).find("D = 2"),
            std::string::npos);
}

template <class T>
void expect_bad_values_are_named(const std::string& name, std::size_t num_outputs, Executor* executor) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T inf = std::numeric_limits<T>::infinity();
  const test::MixtureCase c{
      .num_inputs = 66, .num_components = 3, .num_outputs = num_outputs, .mean_gap = 0.3, .seed = 6};
  const Mixture<T> good = test::diagonal_mixture<T>(c);
  const Estimator estimator = parse_estimator(name);
  const Weights weights = Weights::uniform(3);
  for (const std::size_t n : {0, 63, 64, 65}) {
    const std::size_t m = n == 0 ? 0 : 2;
    const std::size_t d = n == 0 ? 0 : num_outputs - 1;
    const std::size_t at = (n * 3 + m) * num_outputs + d;
    const std::string place = fmt::format("[{}, {}, {}]", n + 500, m, d);
    const auto error = [&](const Mixture<T>& mixture) {
      return message_of<InputError>(
          [&] { estimate(estimator, mixture.view().weighted(weights), {.executor = executor, .first_input = 500}); });
    };
    for (const T bad : {nan, inf, -inf}) {
      Mixture<T> mixture = good;
      mixture.mean[at] = bad;
      EXPECT_NE(error(mixture).find("mean" + place), std::string::npos) << name << " " << bad << " " << place;
    }
    for (const T bad : {nan, inf, T(0), T(-1)}) {
      Mixture<T> mixture = good;
      mixture.stddev[at] = bad;
      EXPECT_NE(error(mixture).find("stddev" + place), std::string::npos) << name << " " << bad << " " << place;
    }
  }
}

TEST(Estimate, BadValuesAreNamedByEveryEstimator) {
  ThreadPool pool(2);
  for (const std::string& name : all_names()) {
    for (const std::size_t num_outputs : {1, 257}) {
      if (name != "quadrature" || num_outputs == 1) {
        expect_bad_values_are_named<float>(name, num_outputs, nullptr);
        expect_bad_values_are_named<double>(name, num_outputs, &pool);
      }
    }
  }
}

TEST(Estimate, BadCovariancesAreNamedByEveryEstimator) {
  const test::MixtureCase c{.num_inputs = 3, .num_components = 2, .num_outputs = 2, .seed = 6};
  for (const std::string& name : all_names()) {
    if (name == "quadrature") {
      continue;
    }
    const auto error = [&](std::size_t entry, double value) {
      Mixture<double> mixture = test::full_mixture(c);
      mixture.covariance[(2 * 2 + 1) * 4 + entry] = value;
      return message_of<InputError>([&] { estimate(parse_estimator(name), mixture.view(), {.first_input = 40}); });
    };
    EXPECT_NE(error(0, -1).find("covariance[42, 1] is not positive definite"), std::string::npos) << name;
    EXPECT_NE(error(1, 1e9).find("covariance[42, 1] is not symmetric"), std::string::npos) << name;
    EXPECT_NE(error(3, std::numeric_limits<double>::quiet_NaN()).find("covariance[42, 1] holds"), std::string::npos);
  }
}

}  // namespace
}  // namespace dissent
