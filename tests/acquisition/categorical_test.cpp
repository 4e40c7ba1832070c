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

// Two labels are a label of K^2 classes: the joint score is that of the product.
TEST(CategoricalChoice, JointScoresAreThoseOfTheProduct) {
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
  EXPECT_NEAR(choice.scores[1], -joint.log_deficit[0], 1e-6);
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
