// The robots: sizes, time steps and constants; agreement with the published models; what an observation holds.
#include "dissent/problem/robot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "dissent/base/error.hpp"
#include "dissent/problem/environment.hpp"
#include "dissent/problem/policy.hpp"

namespace dissent {
namespace {

class RobotTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!mujoco_available()) {
      GTEST_SKIP() << "built without MuJoCo";
    }
  }
};

struct Facts {
  const char* name;
  std::size_t observation, action, positions, velocities;
  double bound, seconds;
};
constexpr Facts kFacts[] = {
    {"hopper", 11, 3, 6, 6, 1.0, 0.008}, {"ant", 27, 8, 15, 14, 1.0, 0.05}, {"humanoid", 257, 17, 24, 23, 0.4, 0.015}};

TEST_F(RobotTest, SizesBoundsAndTimeStepsAreThePublishedOnes) {
  for (const Facts& facts : kFacts) {
    const Robot robot(facts.name, {});
    const EnvironmentSpec& spec = robot.spec();
    EXPECT_EQ(spec.name, facts.name);
    EXPECT_EQ(spec.observation_size, facts.observation);
    EXPECT_EQ(spec.action_size(), facts.action);
    EXPECT_EQ(spec.max_steps, 1000U);
    EXPECT_NEAR(spec.seconds_per_step, facts.seconds, 1e-15);
    EXPECT_EQ(robot.qpos().size(), facts.positions);
    EXPECT_EQ(robot.qvel().size(), facts.velocities);
    for (std::size_t k = 0; k < facts.action; ++k) {
      EXPECT_EQ(spec.action_low[k], -facts.bound);
      EXPECT_EQ(spec.action_high[k], facts.bound);
    }
  }
}

// Largest difference of qpos and qvel between our model and the reference's over 200 steps of the same random actions
// from the same state.
double largest_gap(const std::string& name, const std::string& reference_file, std::uint64_t seed) {
  Robot ours(name, {});
  EnvironmentOptions options;
  options.model_file = reference_file;
  Robot reference(name, options);
  Stream stream(seed, Purpose::kTest);
  ours.reset(stream);
  const std::vector<double> qpos(ours.qpos().begin(), ours.qpos().end());
  const std::vector<double> qvel(ours.qvel().begin(), ours.qvel().end());
  ours.set_state(qpos, qvel);
  reference.set_state(qpos, qvel);
  const UniformPolicy policy(ours.spec());
  std::vector<double> action(ours.spec().action_size());
  double gap = 0;
  for (std::size_t step = 0; step < 200; ++step) {
    policy.act({}, step, stream, action);
    EXPECT_FALSE(ours.step(action).unstable);
    EXPECT_FALSE(reference.step(action).unstable);
    for (std::size_t k = 0; k < qpos.size(); ++k) {
      gap = std::max(gap, std::abs(ours.qpos()[k] - reference.qpos()[k]));
    }
    for (std::size_t k = 0; k < qvel.size(); ++k) {
      gap = std::max(gap, std::abs(ours.qvel()[k] - reference.qvel()[k]));
    }
  }
  return gap;
}

TEST_F(RobotTest, ModelsAgreeWithTheReferenceModels) {
  const char* golden = std::getenv("DISSENT_GOLDEN_DIR");
  if (golden == nullptr) {
    GTEST_SKIP() << "DISSENT_GOLDEN_DIR is not set";
  }
  const std::filesystem::path folder = std::filesystem::path(golden) / ".." / "models" / "reference";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " does not exist";
  }
  for (const Facts& facts : kFacts) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const double gap = largest_gap(facts.name, (folder / (std::string(facts.name) + ".xml")).string(), seed);
      EXPECT_LE(gap, 1e-9) << facts.name << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace dissent
