#include "dissent/acquisition/categorical.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/threads.hpp"
#include "dissent/estimator/categorical.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

// Row 0: all agree. Rows 1 and 2: component 0 against the others. Row 3: component 1 against the others, less so.
struct FourRows {
  std::vector<double> values{0.5,  0.5,  0.5,  0.5,  0.5,  0.5,   //
                             0.95, 0.05, 0.05, 0.95, 0.05, 0.95,  //
                             0.94, 0.06, 0.06, 0.94, 0.06, 0.94,  //
                             0.1,  0.9,  0.9,  0.1,  0.1,  0.9};
  Weights weights = Weights::uniform(3);
  CategoricalView view{4, 3, 2, values.data(), &weights};
};

Choice choose_by(const char* name, const FourRows& rows, std::size_t batch, Executor* executor = nullptr) {
  return choose_classes(
      name, {.classes = rows.view, .batch = batch, .stream = Stream(1, Purpose::kAcquire), .executor = executor});
}

TEST(CategoricalChoice, TakesTheMostUncertainRows) {
  const FourRows rows;
  for (const char* name : {"exact", "kl", "bhattacharyya"}) {
    const Choice choice = choose_by(name, rows, 3);
    EXPECT_EQ(choice.rows, (std::vector<std::size_t>{1, 2, 3})) << name;
    const Uncertainty alone = estimate(ClassEstimator::parse(name), rows.view);
    EXPECT_EQ(choice.epistemic[0], alone.epistemic[1]);
    EXPECT_EQ(choice.scores[0], -alone.log_deficit[1]);
  }
}

TEST(CategoricalChoice, TogetherARowThatTellsSomethingElseIsWorthMore) {
  const FourRows rows;
  for (const char* name : {"kl-joint", "bhattacharyya-joint", "chernoff-joint:0.4"}) {
    const Choice choice = choose_by(name, rows, 2);
    EXPECT_EQ(choice.rows, (std::vector<std::size_t>{1, 3})) << name;
  }
}

// Two labels are a label of K^2 classes: the joint scores sum up to that of the product, from H(w).
TEST(CategoricalChoice, JointScoresSumUpToThatOfTheProduct) {
  const FourRows rows;
  const Choice choice = choose_by("bhattacharyya-joint", rows, 2);
  std::vector<double> product;
  for (std::size_t m = 0; m < 3; ++m) {
    for (const double first : rows.view.component(choice.rows[0], m).probability) {
      for (const double second : rows.view.component(choice.rows[1], m).probability) {
        product.push_back(first * second);
      }
    }
  }
  const CategoricalView both{1, 3, 4, product.data(), &rows.weights};
  const Uncertainty joint = estimate(ClassEstimator::parse("bhattacharyya"), both);
  EXPECT_NEAR(choice.scores[0] + choice.scores[1], std::log(std::log(3)) - joint.log_deficit[0], 1e-6);
  const Uncertainty alone = estimate(ClassEstimator::parse("bhattacharyya"), rows.view);
  EXPECT_NEAR(choice.scores[0], std::log(std::log(3)) - alone.log_deficit[1], 1e-12);
}

TEST(CategoricalChoice, JointScoresByValueSumUpToTheEstimate) {
  const FourRows rows;
  std::vector<double> utilities;
  const Choice choice = choose_classes("bhattacharyya-joint", {.classes = rows.view,
                                                               .batch = 4,
                                                               .stream = Stream(1, Purpose::kAcquire),
                                                               .ranking = Ranking::kValue,
                                                               .utilities = &utilities});
  const Uncertainty alone = estimate(ClassEstimator::parse("bhattacharyya"), rows.view);
  EXPECT_NEAR(choice.scores[0], alone.epistemic[1], 1e-6);
  EXPECT_EQ(choice.rows[3], 0U);
  EXPECT_NEAR(choice.scores[3], 0, 1e-6);  // where all agree, a label adds nothing
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(utilities[4 * k + choice.rows[k]], choice.scores[k]);
  }
}

// By kl, a class that a component excludes tells it apart for certain.
TEST(CategoricalChoice, NothingIsLeftToAddOnceAllIsTold) {
  const std::vector<double> values{1, 0, 0, 1, 1, 0, 0, 1};
  const Weights weights = Weights::uniform(2);
  const CategoricalView view{2, 2, 2, values.data(), &weights};
  const Choice choice =
      choose_classes("kl-joint", {.classes = view, .batch = 2, .stream = Stream(1, Purpose::kAcquire)});
  EXPECT_EQ(choice.scores, (std::vector<double>{HUGE_VAL, 0}));
}

TEST(CategoricalChoice, RefusesASingleComponentAsForGaussians) {
  FourRows rows;
  rows.weights = Weights::from(std::vector<double>{0, 1, 0}, 3);
  for (const char* name : {"exact", "kl", "bhattacharyya-joint"}) {
    EXPECT_NE(message_of<InputError>([&] { choose_by(name, rows, 1); }).find(name), std::string::npos);
  }
  EXPECT_EQ(message_of<InputError>([&] { choose_by("kl", rows, 1); }),
            message_of<InputError>([&] { Acquisition::parse("kl").check_model({.num_components = 1}); }));
  EXPECT_EQ(choose_by("random", rows, 2).rows.size(), 2U);
}

TEST(CategoricalChoice, ThreadsDoNotMatter) {
  const FourRows rows;
  ThreadPool threads(3);
  for (const char* name : {"exact", "kl-joint", "random"}) {
    EXPECT_EQ(choose_by(name, rows, 4, &threads).rows, choose_by(name, rows, 4).rows);
  }
}

TEST(CategoricalChoice, RefusesWhatIsNotForClasses) {
  const FourRows rows;
  for (const char* name : {"mc:100", "variance", "badge"}) {
    const std::string message = message_of<InputError>([&] { choose_by(name, rows, 1); });
    EXPECT_NE(message.find("is not for probabilities"), std::string::npos) << message;
  }
  EXPECT_NE(message_of<InputError>([&] { choose_by("kl", rows, 5); }).find("a batch of 5 from 4"), std::string::npos);
}

}  // namespace
}  // namespace dissent
