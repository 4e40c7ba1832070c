#include "dissent/ensemble/fit_settings.hpp"

#include <gtest/gtest.h>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

TEST(FitSettings, EveryOptionReachesTheEnsembleOrTheTraining) {
  FitSettings settings;
  const std::pair<const char*, const char*> given[] = {
      {"--model", "flow"},      {"--components", "3"},     {"--weights", "0.25,0.5,0.25"},
      {"--hidden", "7,8"},      {"--scaling", "standard"}, {"--keep-probability", "0.7"},
      {"--no-bootstrap", ""},   {"--same-weights", ""},    {"--share-weights", ""},
      {"--flow-hidden", "11"},  {"--flow-layers", "2"},    {"--preset", "paper"},
      {"--epochs", "9"},        {"--batch-size", "32"},    {"--learning-rate", "0.01"},
      {"--validation", "0.25"}, {"--seed", "5"},
  };
  for (const auto& [name, text] : given) {
    EXPECT_TRUE(FitSettings::has(name));
    settings.set(name, text);
  }
  const EnsembleOptions ensemble = settings.ensemble();
  EXPECT_EQ(ensemble.model, Model::kFlow);
  EXPECT_EQ(ensemble.num_components, 3u);
  EXPECT_EQ(ensemble.weights, (std::vector<double>{0.25, 0.5, 0.25}));
  EXPECT_EQ(ensemble.hidden, (std::vector<std::size_t>{7, 8}));
  EXPECT_EQ(ensemble.scaling, ScalingKind::kStandard);
  EXPECT_EQ(ensemble.keep_probability, 0.7);
  EXPECT_FALSE(ensemble.bootstrap);
  EXPECT_FALSE(ensemble.own_initial_weights);
  EXPECT_TRUE(ensemble.share_weights);
  EXPECT_EQ(ensemble.flow_hidden, (std::vector<std::size_t>{11}));
  EXPECT_EQ(ensemble.num_flow_layers, 2u);
  EXPECT_EQ(ensemble.seed, 5u);
  const TrainOptions train = settings.train();
  EXPECT_EQ(train.epochs, 9u);
  EXPECT_EQ(train.batch_size, 32u);
  EXPECT_EQ(train.learning_rate, 0.01);
  EXPECT_EQ(train.validation, 0.25);
  FitSettings unmasked;
  unmasked.set("--no-masks", "");
  EXPECT_EQ(unmasked.ensemble().keep_probability, 1);
}

TEST(FitSettings, ErrorsNameTheOption) {
  FitSettings settings;
  for (const auto& [name, text] : {std::pair{"--epochs", "0"}, {"--hidden", "4,x"}}) {
    try {
      settings.set(name, text);
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find(name), 0u) << error.what();
    }
  }
  EXPECT_FALSE(FitSettings::has("--epoch"));
  EXPECT_THROW(settings.set("--epoch", "1"), InputError);
}

}  // namespace
}  // namespace dissent
