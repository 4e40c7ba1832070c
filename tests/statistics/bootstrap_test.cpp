#include "dissent/statistics/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

double middle(const TaskRuns& runs) { return interquartile_mean(runs); }

TEST(Bootstrap, SameSeedSameInterval) {
  const TaskRuns runs = {{1, 2, 3, 4}, {5, 7, 9}};
  const Interval first = stratified_bootstrap(runs, middle, {.num_draws = 300, .seed = 4});
  const Interval second = stratified_bootstrap(runs, middle, {.num_draws = 300, .seed = 4});
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_DOUBLE_EQ(first.estimate, 4.2);  // 2 to 7 of the seven: (2 + 3 + 4 + 5 + 7) / 5
  EXPECT_LT(first.low, first.estimate);
  EXPECT_GT(first.high, first.estimate);
}

TEST(Bootstrap, TasksKeepTheirRuns) {
  const TaskRuns runs = {{1, 1, 1}, {100}};
  const Interval interval =
      stratified_bootstrap(runs, [](const TaskRuns& drawn) { return drawn[0][2] + drawn[1][0]; }, {.num_draws = 50});
  EXPECT_EQ(interval.low, 101);
  EXPECT_EQ(interval.high, 101);
}

// Of three tasks with 20 normal runs each the mean lies in 95% of the intervals, less what percentile intervals lack
// with few runs.
TEST(Bootstrap, IntervalsCover) {
  constexpr int kSamples = 300;
  int covered = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    TaskRuns runs(3, std::vector<double>(20));
    Stream stream(8, Purpose::kTest, static_cast<std::uint64_t>(sample));
    for (std::vector<double>& task : runs) {
      for (double& run : task) {
        run = stream.normal();
      }
    }
    const auto options = BootstrapOptions{.num_draws = 400, .seed = static_cast<std::uint64_t>(sample)};
    const Interval interval = stratified_bootstrap(runs, middle, options);
    covered += interval.low <= 0 && interval.high >= 0;
  }
  EXPECT_GT(covered, 0.90 * kSamples);
  EXPECT_LT(covered, 0.99 * kSamples);
}

TEST(Bootstrap, ProbabilityOfImprovement) {
  EXPECT_DOUBLE_EQ(probability_of_improvement({{2, 3}}, {{1}}), 1);
  EXPECT_DOUBLE_EQ(probability_of_improvement({{1, 2}}, {{1, 2}}), 0.5);
  EXPECT_DOUBLE_EQ(probability_of_improvement({{1, 4}, {0}}, {{2, 3}, {1}}), 0.25);
  EXPECT_THROW(probability_of_improvement({{1}}, {{1}, {2}}), InputError);
}

TEST(Bootstrap, ProfilesAreMeansOverTasks) {
  const TaskRuns runs = {{1, 2, 3, 4}, {2, 10}};
  EXPECT_EQ(performance_profile(runs, std::vector{0.5, 2.0, 10.0}), (std::vector{0.0, 0.5, 1.0}));
}

TEST(Bootstrap, RefusesEmptyTasks) {
  EXPECT_THROW(stratified_bootstrap({}, middle), InputError);
  EXPECT_THROW(stratified_bootstrap({{1}, {}}, middle), InputError);
  EXPECT_THROW(stratified_bootstrap({{1}}, middle, {.num_draws = 0}), InputError);
  EXPECT_THROW(performance_profile({{}}, std::vector{1.0}), InputError);
}

}  // namespace
}  // namespace dissent
