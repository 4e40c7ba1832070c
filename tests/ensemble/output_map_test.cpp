#include "dissent/ensemble/output_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/threads.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "ensemble/sample_rows.hpp"

namespace dissent {
namespace {

using test::pairs;
using test::SampleRows;

class Maps : public testing::TestWithParam<Model> {
 protected:
  const SampleRows data_ = pairs(150);
  const Ensemble model_{{.model = GetParam(), .num_components = 3, .seed = 2}, data_.columns()};
};

// More points than a block holds, so that blocks begin inside of an input's points.
TEST_P(Maps, CarryingPointsIsRepeatingTheirInputs) {
  constexpr std::size_t kPoints = 7;
  Stream stream(9, Purpose::kTest);
  std::vector<double> repeated;
  std::vector<double> base;
  for (std::size_t k = 0; k < 150 * kPoints; ++k) {
    const auto at = data_.x.begin() + static_cast<std::ptrdiff_t>(k / kPoints * 2);
    repeated.insert(repeated.end(), at, at + 2);
    base.insert(base.end(), {stream.normal(), stream.normal()});
  }
  std::vector<double> expected(base.size());
  std::vector<double> expected_log_det(150 * kPoints);
  model_.to_outputs(repeated, base, expected, expected_log_det);
  ThreadPool pool(2);
  for (Executor* executor : std::initializer_list<Executor*>{nullptr, &pool}) {
    std::vector<double> outputs(base.size());
    std::vector<double> log_det(150 * kPoints);
    model_.carry(data_.x, kPoints, base, outputs, log_det, executor);
    EXPECT_EQ(outputs, expected);
    EXPECT_EQ(log_det, expected_log_det);
  }
  EXPECT_EQ(expected == base, model_.output_map().is_identity());
  EXPECT_THROW(model_.carry(data_.x, kPoints + 1, base, expected, {}), InputError);
}

TEST_P(Maps, OnlyAFlowHasLayers) {
  EXPECT_EQ(model_.output_map().is_identity(), GetParam() == Model::kPne);
  EXPECT_EQ(model_.output_map().layers().size(), model_.options().flow_layers());
  EXPECT_EQ(model_.output_map().base_units().scale == data_.columns().target_scaling.scale,
            model_.output_map().is_identity());
}

// The heads that are handed out are those of predictions.
TEST_P(Maps, VisitedHeadsArePredictions) {
  Ensemble model = model_;
  model.limit_certainty(std::span(data_.x).first(20));
  Mixture<float> base;
  model.predict_base(data_.x, base);
  std::vector<float> mean(base.mean.size());
  std::size_t num_visits = 0;
  model.visit_heads(data_.x, true, nullptr, [&](const HeadBlock& block) {
    ++num_visits;
    EXPECT_EQ(block.hidden.rows, model.stack().components[block.component].layers().back().num_inputs);
    for (std::size_t b = 0; b < block.count; ++b) {
      for (std::size_t d = 0; d < 2; ++d) {
        const std::size_t at = ((block.begin + b) * 3 + block.component) * 2 + d;
        mean[at] = block.heads(d, b);
        EXPECT_GE(block.heads(2 + d, b), model.networks().log_stddev_floor()[block.component * 2 + d]);
        EXPECT_NEAR(std::exp(block.heads(2 + d, b)), base.stddev[at], 1e-5 * base.stddev[at]);
      }
    }
  });
  EXPECT_EQ(num_visits, 3U);
  EXPECT_EQ(mean, base.mean);
  model.visit_heads(data_.x, false, nullptr, [](const HeadBlock& block) { EXPECT_EQ(block.heads.rows, 0U); });
}

INSTANTIATE_TEST_SUITE_P(Models, Maps, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
