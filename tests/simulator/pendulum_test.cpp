#include "dissent/simulator/pendulum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dissent/simulator/policy.hpp"

namespace dissent {
namespace {

TEST(Pendulum, SpecIsThePublishedOne) {
  const Pendulum pendulum;
  EXPECT_EQ(pendulum.spec().observation_size, 3U);
  EXPECT_EQ(pendulum.spec().action_size(), 1U);
  EXPECT_EQ(pendulum.spec().action_low[0], -2);
  EXPECT_EQ(pendulum.spec().action_high[0], 2);
  EXPECT_EQ(pendulum.spec().seconds_per_step, 0.05);
  EXPECT_EQ(pendulum.spec().max_steps, 200U);
}

TEST(Pendulum, OneStepByHand) {
  Pendulum pendulum;
  pendulum.set_state(0.3, -0.5);
  const double torque = 1.25;
  const StepOutcome outcome = pendulum.step(std::span(&torque, 1));
  const double speed = -0.5 + (15 * std::sin(0.3) + 3 * torque) * 0.05;
  EXPECT_NEAR(pendulum.speed(), speed, 1e-15);
  EXPECT_NEAR(pendulum.angle(), 0.3 + speed * 0.05, 1e-15);
  EXPECT_NEAR(outcome.reward, -(0.3 * 0.3 + 0.1 * 0.25 + 0.001 * torque * torque), 1e-15);
  EXPECT_FALSE(outcome.terminated);
  double observation[3];
  pendulum.observe(observation);
  EXPECT_EQ(observation[0], std::cos(pendulum.angle()));
  EXPECT_EQ(observation[1], std::sin(pendulum.angle()));
  EXPECT_EQ(observation[2], pendulum.speed());
}

TEST(Pendulum, AngleMovesWithTheSpeedBeforeItIsClipped) {
  Pendulum pendulum;
  pendulum.set_state(std::numbers::pi / 2, 7.9);
  const double torque = 5;  // acts as 2
  pendulum.step(std::span(&torque, 1));
  const double unclipped = 7.9 + (15 + 6) * 0.05;
  EXPECT_EQ(pendulum.speed(), 8);
  EXPECT_NEAR(pendulum.angle(), std::numbers::pi / 2 + unclipped * 0.05, 1e-14);
}

TEST(Pendulum, RewardWrapsTheAngle) {
  const double torque = 0;
  for (const double angle : {0.4, 0.4 + 2 * std::numbers::pi, 0.4 - 6 * std::numbers::pi}) {
    Pendulum pendulum;
    pendulum.set_state(angle, 0);
    EXPECT_NEAR(pendulum.step(std::span(&torque, 1)).reward, -0.16, 1e-13);
  }
}

TEST(Pendulum, ResetCoversTheCircle) {
  Pendulum pendulum;
  double lowest = 10;
  double highest = -10;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    Stream stream(5, Purpose::kTest, k);
    pendulum.reset(stream);
    EXPECT_LT(std::abs(pendulum.angle()), std::numbers::pi);
    EXPECT_LT(std::abs(pendulum.speed()), 1);
    lowest = std::min(lowest, pendulum.angle());
    highest = std::max(highest, pendulum.angle());
  }
  EXPECT_LT(lowest, -3);
  EXPECT_GT(highest, 3);
}

TEST(Pendulum, AnActionThatIsNoNumberEndsTheEpisodeAsUnstable) {
  Pendulum pendulum;
  pendulum.set_state(0.1, 0);
  const double action[] = {std::nan("")};
  const StepOutcome outcome = pendulum.step(action);
  EXPECT_TRUE(outcome.unstable);
  EXPECT_TRUE(outcome.terminated);
}

TEST(Pendulum, ExpertIsUprightWithin200StepsFrom200Starts) {
  Pendulum pendulum;
  const PendulumExpert expert;
  for (std::uint64_t start = 0; start < 200; ++start) {
    Stream stream(7, Purpose::kTest, start);
    pendulum.reset(stream);
    double observation[3];
    double action[1];
    for (std::size_t step = 0; step < 200; ++step) {
      pendulum.observe(observation);
      expert.act(observation, step, stream, action);
      ASSERT_LE(std::abs(action[0]), 2);
      pendulum.step(action);
    }
    pendulum.observe(observation);
    EXPECT_GT(observation[0], 0.99) << "start " << start;
    EXPECT_LT(std::abs(observation[2]), 0.5) << "start " << start;
  }
}

}  // namespace
}  // namespace dissent
