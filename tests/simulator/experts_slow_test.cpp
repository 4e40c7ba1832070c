// The shipped experts reach the returns that docs/problems.md promises, over 20 fresh resets of the exact environment.
#include <gtest/gtest.h>

#include "dissent/base/threads.hpp"
#include "dissent/simulator/evaluate.hpp"
#include "dissent/simulator/robot.hpp"

namespace dissent {
namespace {

double expert_return(const char* name, std::size_t num_episodes) {
  ThreadPool threads;
  EnvironmentPool environments(name, {}, threads.num_threads());
  const auto policy = make_policy(environments.at(0).spec(), "expert");
  EvaluationOptions options;
  options.num_episodes = num_episodes;
  options.seed = 2024;
  const Evaluation evaluation = evaluate_policy(environments, *policy, options, threads);
  testing::Test::RecordProperty("mean_return", std::to_string(evaluation.mean_return()));
  for (const Episode& episode : evaluation.episodes) {
    EXPECT_FALSE(episode.unstable);
  }
  return evaluation.mean_return();
}

class ExpertTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!mujoco_available()) {
      GTEST_SKIP() << "built without MuJoCo";
    }
  }
};

TEST_F(ExpertTest, HopperReaches3000) { EXPECT_GE(expert_return("hopper", 20), 3000); }
TEST_F(ExpertTest, AntReaches2000) { EXPECT_GE(expert_return("ant", 20), 2000); }
TEST_F(ExpertTest, HumanoidReaches4000) { EXPECT_GE(expert_return("humanoid", 20), 4000); }

}  // namespace
}  // namespace dissent
