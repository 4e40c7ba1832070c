#include "dissent/loop/far_answers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/ensemble/fit.hpp"
#include "loop/loop_fixture.hpp"

namespace dissent {
namespace {

// y = exp(5 + 4 x): labels from 148 to 8103.
Problem steep_problem() {
  Problem data;
  data.input_names = {"x"};
  data.target_names = {"y"};
  for (std::size_t k = 0; k < 30; ++k) {
    const double x = static_cast<double>(k) / 29;
    data.train.inputs.push_back(x);
    data.train.targets.push_back(std::exp(5 + 4 * x + 0.1 * std::sin(37.0 * static_cast<double>(k))));
  }
  data.train.num_rows = 30;
  data.pool = {3, {0.2, 0.5, 0.8}, {}};
  return data;
}

std::vector<FarAnswer> told(const Problem& data, double value, const Ensemble* model = nullptr) {
  Campaign campaign;
  campaign.num_targets = 1;
  Answers answers{"t"};
  answers.rows = {1};
  answers.targets = {value};
  return far_answers(campaign, data, answers, model);
}

TEST(FarAnswers, SmallOnesAreSeenWithoutAModel) {
  const Problem data = steep_problem();
  EXPECT_EQ(told(data, 1.1).size(), 1U);
  EXPECT_EQ(told(data, 1e6).size(), 1U);
  EXPECT_TRUE(told(data, 100).empty());
  EXPECT_TRUE(told(data, 9000).empty());
}

TEST(FarAnswers, TheFirstThatIsNotPositiveIsNamed) {
  const Problem data = steep_problem();
  for (const double value : {0.0, -5000.0}) {
    const std::vector<FarAnswer> far = told(data, value);
    ASSERT_EQ(far.size(), 1U) << value;
    EXPECT_NE(far[0].text().find("logarithms are no longer possible"), std::string::npos);
  }
}

TEST(FarAnswers, TargetsFittedByLogarithmsAreJudgedByThem) {
  const Problem data = steep_problem();
  EnsembleOptions options;
  options.model = Model::kGp;
  options.log_targets = LogTargets::kAll;
  const FitResult fitted =
      fit(options, {}, {data.input_names, data.target_names, data.train.inputs, data.train.targets});
  ASSERT_TRUE(fitted.model.columns().is_log(0));
  const std::vector<FarAnswer> far = told(data, 1.1, &fitted.model);
  ASSERT_EQ(far.size(), 1U);
  EXPECT_GT(far[0].stddevs, 6);
  EXPECT_TRUE(told(data, 1100, &fitted.model).empty());
  EXPECT_EQ(told(data, 0, &fitted.model).size(), 1U);
}

}  // namespace
}  // namespace dissent
