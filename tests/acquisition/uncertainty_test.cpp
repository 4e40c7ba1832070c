// From a model to its uncertainty: the epistemic part of the mixture, the aleatoric part of the outputs.
#include "dissent/acquisition/uncertainty.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "acquisition/models.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

TEST(ModelUncertainty, IsInTheUsersUnitsForEveryModel) {
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    const Ensemble model = drawn_model({.model = kind, .weights = {0.1, 0.2, 0.3, 0.2, 0.2}});
    const std::vector<double> inputs = drawn_rows(20, 2);
    const Mixture<double> mixture = model.predict(inputs);
    EXPECT_EQ(mixture.space, kind == Model::kFlow ? Space::kBase : Space::kOutput);
    EXPECT_EQ(mixture.weights.value, model.weights().value);
    const Uncertainty own = estimate(parse_estimator("bounds"), mixture.view());
    const Uncertainty found = uncertainty(model, inputs, {.estimator = parse_estimator("bounds")});
    EXPECT_EQ(found.epistemic, own.epistemic);
    EXPECT_EQ(found.log_deficit, own.log_deficit);
    EXPECT_EQ(found.extra("lower"), own.extra("lower"));
    EXPECT_EQ(found.aleatoric, summarise(model, inputs, mixture).aleatoric);
    for (std::size_t n = 0; n < 20; ++n) {
      EXPECT_EQ(found.total[n], found.aleatoric[n] + found.epistemic[n]);
      const bool same = std::abs(found.aleatoric[n] - own.aleatoric[n]) < 1e-9;
      EXPECT_EQ(same, kind == Model::kPne) << n;  // a flow stretches the outputs, so their entropy is another
    }
  }
}

TEST(ModelUncertainty, LeavesTheAleatoricPartOutWhenAsked) {
  const Ensemble model = drawn_model({.model = Model::kFlow});
  const Uncertainty found = uncertainty(model, drawn_rows(3, 2), {.aleatoric = false});
  EXPECT_EQ(found.size(), 3u);
  EXPECT_TRUE(found.aleatoric.empty());
  EXPECT_TRUE(found.total.empty());
}

TEST(ModelUncertainty, OfNoInputsIsEmpty) { EXPECT_EQ(uncertainty(drawn_model({}), {}).size(), 0u); }

}  // namespace
}  // namespace dissent
