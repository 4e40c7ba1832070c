// What components are to an ensemble: alone they are it, exactly; together they share nothing unless asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::pairs;
using test::SampleRows;

// Without a wide component, so that densities are those of the components.
constexpr TrainOptions kShort{.epochs = 10, .batch_size = 32, .calibrate_spread = false};

// ln p of each row by the mixture's own component m alone.
std::vector<double> component_density(const Ensemble& model, std::size_t m, const SampleRows& data) {
  const Mixture<double> mixture = model.predict(data.x);
  const std::size_t D = model.num_outputs();
  std::vector<double> base(data.y.size());
  std::vector<double> result(mixture.num_inputs);
  model.to_base(data.x, data.y, base, result);
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    const std::size_t at = (n * mixture.num_components + m) * D;
    const DiagonalGaussian component{std::span(mixture.mean).subspan(at, D), std::span(mixture.stddev).subspan(at, D)};
    result[n] += log_density(component, std::span(base).subspan(n * D, D));
  }
  return result;
}

class Components : public testing::TestWithParam<Model> {
 protected:
  Ensemble fitted(std::size_t num_components, std::vector<double> weights = {}, bool share_weights = false) const {
    return fit({.model = GetParam(),
                .num_components = num_components,
                .share_weights = share_weights,
                .weights = std::move(weights),
                .log_targets = LogTargets::kNone,
                .seed = 5},
               kShort, data_.rows())
        .model;
  }

  SampleRows data_ = pairs(200);
};

TEST_P(Components, AnEnsembleOfOneIsItsComponentToTheBit) {
  const Ensemble model = fitted(1);
  EXPECT_EQ(model.log_density(data_.x, data_.y), component_density(model, 0, data_));
  const Mixture<double> mixture = model.predict(data_.x);
  const Uncertainty uncertainty = estimate(parse_estimator("kl"), mixture.view());
  EXPECT_TRUE(std::ranges::all_of(uncertainty.epistemic, [](double value) { return value == 0; }));
  if (GetParam() == Model::kPne) {
    const Summary summary = summarise(model, data_.x, mixture);
    EXPECT_EQ(summary.mean, mixture.mean);
    EXPECT_EQ(summary.stddev, mixture.stddev);
  }
}

TEST_P(Components, AllTheWeightOnOneComponentIsThatComponentToTheBit) {
  const Ensemble model = fitted(3, {0, 1, 0});
  EXPECT_EQ(model.log_density(data_.x, data_.y), component_density(model, 1, data_));
  EXPECT_NE(model.log_density(data_.x, data_.y), component_density(model, 0, data_));
}

TEST_P(Components, TheMixtureIsTheLogSumExpOfItsComponents) {
  const Ensemble model = fitted(2, {0.25, 0.75});
  const std::vector<double> whole = model.log_density(data_.x, data_.y);
  const std::vector<double> first = component_density(model, 0, data_);
  const std::vector<double> second = component_density(model, 1, data_);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const double high = std::max(first[n], second[n]);
    const double expected = high + std::log(0.25 * std::exp(first[n] - high) + 0.75 * std::exp(second[n] - high));
    EXPECT_NEAR(whole[n], expected, 1e-12 * std::max(1.0, std::abs(expected)));
  }
}

TEST_P(Components, ToBaseAndToOutputsAreEachOthersInverse) {
  const Ensemble model = fitted(2);
  std::vector<double> base(data_.y.size());
  std::vector<double> outputs(data_.y.size());
  std::vector<double> inward(200);
  std::vector<double> outward(200);
  model.to_base(data_.x, data_.y, base, inward);
  model.to_outputs(data_.x, base, outputs, outward);
  for (std::size_t n = 0; n < 200; ++n) {
    // The flow computes in single precision.
    const double tolerance = GetParam() == Model::kPne ? 0 : 2e-3;
    EXPECT_NEAR(inward[n], -outward[n], tolerance);
    EXPECT_NEAR(outputs[2 * n + 1], data_.y[2 * n + 1], tolerance * model.columns().target_scaling.scale[1]);
  }
}

// Under full masks all the same weights could be compared; the chance of two equal floats among 2^23 is small, so that
// none at all may be equal but those that are zero.
TEST_P(Components, NeverShareInitialWeightsUnlessAsked) {
  for (const double keep : {1.0, 0.5}) {
    EnsembleOptions options{.model = GetParam(), .num_components = 5, .keep_probability = keep};
    const auto num_equal = [&](const Ensemble& model) {
      std::size_t equal = 0;
      for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const std::span<const float> a = model.stack().components[i].range(model.parameters());
          const std::span<const float> b = model.stack().components[j].range(model.parameters());
          for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
            equal += a[k] != 0 && a[k] == b[k] ? 1 : 0;
          }
        }
      }
      return equal;
    };
    EXPECT_EQ(num_equal(Ensemble(options, data_.columns())), 0U);
    options.own_initial_weights = false;
    // Under different masks equal weights stand at different places.
    EXPECT_EQ(num_equal(Ensemble(options, data_.columns())) > 1000, keep == 1);
  }
}

TEST_P(Components, TheSameInitialWeightsStayTheSameUnderTheirMasks) {
  const Ensemble model({.model = GetParam(), .num_components = 2, .own_initial_weights = false}, data_.columns());
  Layout layout;
  const Mlp full(model.stack().full, layout);
  Block<float> values(layout.size());
  initialise<float>(full, Stream(0, Purpose::kInitialise, 0), values);
  for (std::size_t c = 0; c < 2; ++c) {
    Block<float> own(model.parameters().size());
    gather<float>({full, model.stack().components[c], model.stack().masks[c]}, values, own);
    EXPECT_TRUE(std::ranges::equal(model.stack().components[c].range(std::span<const float>(own)),
                                   model.stack().components[c].range(model.parameters())));
  }
}

TEST_P(Components, SharedWeightsAreOneNetwork) {
  const Ensemble shared = fitted(4, {}, true);
  const Ensemble single({.model = GetParam(), .num_components = 1, .share_weights = true}, data_.columns());
  EXPECT_EQ(shared.parameters().size(), single.parameters().size());
  EXPECT_FALSE(shared.options().bootstrap);
  // Components differ by their masks, and each is the full network with the other units' weights set to zero.
  const Mixture<double> mixture = shared.predict(data_.x);
  for (std::size_t m = 0; m < 4; ++m) {
    const Ensemble masked({.model = GetParam(), .num_components = 1, .share_weights = true}, shared.columns(),
                          {shared.stack().masks[m]}, [&] {
                            std::vector<Permutation> permutations;
                            for (std::size_t l = 0; shared.output_map().flow() != nullptr && l < 1; ++l) {
                              permutations.push_back(shared.output_map().flow()->layers()[l].permutation());
                            }
                            return permutations;
                          }());
    Ensemble alone = masked;
    std::ranges::copy(shared.parameters(), alone.parameters().begin());
    const Mixture<double> own = alone.predict(data_.x);
    for (std::size_t n = 0; n < 200; ++n) {
      ASSERT_EQ(own.mean[2 * n], mixture.mean[8 * n + 2 * m]);
      ASSERT_EQ(own.stddev[2 * n + 1], mixture.stddev[8 * n + 2 * m + 1]);
      ASSERT_NE(mixture.mean[8 * n], mixture.mean[8 * n + 2]);
    }
    EXPECT_EQ(alone.log_density(data_.x, data_.y), component_density(shared, m, data_));
  }
}

TEST_P(Components, SharedWeightsLearnSaveAndLoad) {
  const EnsembleOptions options{.model = GetParam(), .num_components = 3, .share_weights = true};
  const FitResult before = fit(options, {.epochs = 1, .batch_size = 32, .validation = 0.1}, data_.rows());
  const FitResult after = fit(options, {.epochs = 150, .batch_size = 32, .validation = 0.1}, data_.rows());
  EXPECT_LT(after.report.validation_loss, before.report.validation_loss - 1);
  const TempDir folder;
  after.model.save(folder.file("a"));
  const Ensemble loaded = Ensemble::load(folder.file("a"));
  EXPECT_TRUE(loaded.options().share_weights);
  EXPECT_TRUE(std::ranges::equal(loaded.parameters(), after.model.parameters()));
  EXPECT_EQ(loaded.log_density(data_.x, data_.y), after.model.log_density(data_.x, data_.y));
  EXPECT_EQ(loaded.sample(data_.x, 2, 1), after.model.sample(data_.x, 2, 1));
  loaded.save(folder.file("b"));
  EXPECT_EQ(read_bytes(folder.file("a")), read_bytes(folder.file("b")));
}

TEST(Component, SharedWeightsNeedMasks) {
  const SampleRows data = pairs(20);
  EXPECT_EQ(message_of<InputError>([&] { fit({.keep_probability = 1, .share_weights = true}, kShort, data.rows()); }),
            "share_weights = true; without masks the 5 components would be the same");
}

TEST(Component, AComponentOfPneIsTheSameInAnEnsembleOfAnySize) {
  const SampleRows data = pairs(100);
  const Mixture<double> three =
      fit({.model = Model::kPne, .num_components = 3}, kShort, data.rows()).model.predict(data.x);
  const Mixture<double> one =
      fit({.model = Model::kPne, .num_components = 1}, kShort, data.rows()).model.predict(data.x);
  for (std::size_t n = 0; n < 100; ++n) {
    EXPECT_EQ(three.mean[n * 6], one.mean[n * 2]);
    EXPECT_NE(three.mean[n * 6], three.mean[n * 6 + 2]);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Components, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
