#include "dissent/simulator/evaluate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "dissent/base/threads.hpp"
#include "dissent/simulator/ars.hpp"

namespace dissent {
namespace {

std::vector<double> returns(const Policy& policy, Resets resets, int num_threads = 1) {
  ThreadPool threads(num_threads);
  EnvironmentPool environments("pendulum", {}, threads.num_threads());
  EvaluationOptions options;
  options.num_episodes = 12;
  options.seed = 3;
  options.resets = resets;
  std::vector<std::size_t> done;
  options.progress = [&done](std::size_t episodes) { done.push_back(episodes); };
  std::vector<double> all;
  for (const Episode& episode : evaluate_policy(environments, policy, options, threads).episodes) {
    all.push_back(episode.total_reward);
  }
  EXPECT_EQ(done.size(), 12U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  return all;
}

TEST(Evaluate, TheSameBitsOnAnyNumberOfThreads) {
  EXPECT_EQ(returns(PendulumExpert(), Resets::kReport, 3), returns(PendulumExpert(), Resets::kReport));
}

// The expert's return depends on the reset alone, so returns tell resets apart.
TEST(Evaluate, AReportSharesNoResetWithTheTrainersChoice) {
  const std::vector<double> selection = returns(PendulumExpert(), Resets::kSelection);
  for (const double reported : returns(PendulumExpert(), Resets::kReport)) {
    EXPECT_EQ(std::count(selection.begin(), selection.end(), reported), 0);
  }
}

TEST(Evaluate, TheTrainerChoosesByItsOwnResets) {
  ArsOptions options;
  options.environment = "pendulum";
  options.num_iterations = 2;
  options.num_evaluation_episodes = 12;
  options.seed = 3;
  const TrainResult trained = train_policy(options);
  const LinearPolicy policy(trained.policy, make_environment("pendulum")->spec(), "test");
  double sum = 0;
  for (const double each : returns(policy, Resets::kSelection)) {
    sum += each;
  }
  EXPECT_EQ(trained.mean_return, sum / 12);
}

}  // namespace
}  // namespace dissent
