// The robots: sizes, time steps and constants; agreement with the published models; what an observation holds.
#include "dissent/simulator/robot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "dissent/base/error.hpp"
#include "dissent/simulator/collect.hpp"
#include "dissent/simulator/named_data.hpp"
#include "dissent/simulator/policy.hpp"
#include "support/temp_dir.hpp"

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

TEST_F(RobotTest, ObservationsAreLaidOutAsDocumented) {
  for (const Facts& facts : kFacts) {
    Robot robot(facts.name, {});
    Stream stream(3, Purpose::kTest);
    robot.reset(stream);
    std::vector<double> action(facts.action);
    UniformPolicy(robot.spec()).act({}, 0, stream, action);
    robot.step(action);
    std::vector<double> observation(facts.observation);
    robot.observe(observation);
    const std::size_t hidden = std::string(facts.name) == "hopper" ? 1 : 2;  // the position on the ground
    for (std::size_t k = hidden; k < facts.positions; ++k) {
      EXPECT_EQ(observation[k - hidden], robot.qpos()[k]);
    }
    for (std::size_t k = 0; k < facts.velocities; ++k) {
      EXPECT_EQ(observation[facts.positions - hidden + k], robot.qvel()[k]);
    }
  }
}

TEST_F(RobotTest, HopperVelocitiesAreClippedInObservationsOnly) {
  Robot robot("hopper", {});
  robot.set_state(std::vector<double>{0, 1.25, 0, 0, 0, 0}, std::vector<double>{12, -15, 3, 0, 0, 0});
  std::vector<double> observation(11);
  robot.observe(observation);
  EXPECT_EQ(observation[5], 10);
  EXPECT_EQ(observation[6], -10);
  EXPECT_EQ(observation[7], 3);
  EXPECT_EQ(robot.qvel()[0], 12);
}

TEST_F(RobotTest, HumanoidActuatorForcesAreGearTimesAction) {
  Robot robot("humanoid", {});
  Stream stream(4, Purpose::kTest);
  robot.reset(stream);
  std::vector<double> action(17);
  UniformPolicy(robot.spec()).act({}, 0, stream, action);
  robot.step(action);
  std::vector<double> observation(257);
  robot.observe(observation);
  // Forces stand in the order of joints, actions in the published order, which swaps the first two of the abdomen.
  constexpr double kGears[] = {100, 100, 100, 100, 100, 300, 200, 100, 100, 300, 200, 25, 25, 25, 25, 25, 25};
  for (std::size_t joint = 0; joint < 17; ++joint) {
    const std::size_t actuator = joint == 0 ? 1 : joint == 1 ? 0 : joint;
    EXPECT_NEAR(observation[240 + joint], kGears[joint] * action[actuator], 1e-12);
  }
}

TEST_F(RobotTest, AllHumanoidEntriesVaryAndTwelveAreDuplicates) {
  CollectOptions options;
  options.environment = "humanoid";
  options.policy = parse_policy_choice("random");
  options.num_rows = 10000;
  const Transitions rows = collect(options);
  const auto column = [&rows](std::size_t k) {
    std::vector<float> values(rows.num_rows);
    for (std::size_t row = 0; row < rows.num_rows; ++row) {
      values[row] = rows.next_observations[row * 257 + k];
    }
    return values;
  };
  std::vector<std::vector<float>> columns;
  std::size_t duplicates = 0;
  for (std::size_t k = 0; k < 257; ++k) {
    columns.push_back(column(k));
    const auto [low, high] = std::minmax_element(columns[k].begin(), columns[k].end());
    EXPECT_LT(*low, *high) << "entry " << k << " is constant";
    duplicates += static_cast<std::size_t>(std::count(columns.begin(), columns.end() - 1, columns[k]));
  }
  EXPECT_EQ(duplicates, 12U);
  // Right and left foot move as their shins do: bodies 6 and 9 (right and left foot), six velocities each.
  constexpr std::size_t kVelocities = 22 + 23 + 13 * 9;
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(columns[kVelocities + 6 * 5 + k], columns[kVelocities + 6 * 4 + k]);
    EXPECT_EQ(columns[kVelocities + 6 * 8 + k], columns[kVelocities + 6 * 7 + k]);
  }
}

TEST_F(RobotTest, ResetNoiseHasThePublishedSize) {
  for (const Facts& facts : kFacts) {
    Robot robot(facts.name, {});
    const std::vector<double> start(robot.qpos().begin(), robot.qpos().end());
    double position = 0;
    double velocity = 0;
    for (std::uint64_t k = 0; k < 300; ++k) {
      Stream stream(8, Purpose::kTest, k);
      robot.reset(stream);
      position = std::max(position, std::abs(robot.qpos()[0] - start[0]));
      for (const double v : robot.qvel()) {
        velocity = std::max(velocity, std::abs(v));
      }
    }
    const bool is_ant = std::string(facts.name) == "ant";
    const double bound = is_ant ? 0.1 : std::string(facts.name) == "hopper" ? 0.005 : 0.01;
    EXPECT_LE(position, bound);
    EXPECT_GT(position, 0.9 * bound);
    if (is_ant) {  // normal with stddev 0.1: 4200 draws reach beyond three and stay below six of it (1e-5 to fail)
      EXPECT_GT(velocity, 0.3);
      EXPECT_LT(velocity, 0.6);
    } else {
      EXPECT_LE(velocity, bound);
    }
  }
}

// The x coordinate whose speed is paid: the root's, the torso's (an ant's first part), the centre of mass (the
// humanoid's parts have one density, so their volumes weigh them).
double paid_position(const Robot& robot) {
  if (robot.spec().name == "hopper") {
    return robot.qpos()[0];
  }
  const std::vector<Segment> parts = robot.segments();
  if (robot.spec().name == "ant") {
    return parts[0].begin[0];
  }
  double moment = 0;
  double volume = 0;
  for (const Segment& part : parts) {
    const double length =
        std::hypot(part.end[0] - part.begin[0], part.end[1] - part.begin[1], part.end[2] - part.begin[2]);
    const double own = part.radius * part.radius * (length + 4.0 / 3 * part.radius);
    moment += own * (part.begin[0] + part.end[0]) / 2;
    volume += own;
  }
  return moment / volume;
}

TEST_F(RobotTest, RewardIsSpeedPlusBonusMinusEffort) {
  struct Weights {
    const char* name;
    double speed, control, alive;
  };
  for (const Weights& weights : {Weights{"hopper", 1, 0.001, 1}, {"ant", 1, 0.5, 1}, {"humanoid", 1.25, 0.1, 5}}) {
    Robot robot(weights.name, {});
    Stream stream(9, Purpose::kTest);
    robot.reset(stream);
    std::vector<double> action(robot.spec().action_size());
    double squares = 0;
    for (std::size_t k = 0; k < action.size(); ++k) {
      action[k] = robot.spec().action_high[k] * (k == 0 ? 3 : k % 2 == 0 ? 0.5 : -0.7);
      const double acts = k == 0 ? robot.spec().action_high[0] : action[k];  // and is paid for, as the bound
      squares += acts * acts;
    }
    for (int step = 0; step < 3; ++step) {
      const double before = paid_position(robot);
      const StepOutcome outcome = robot.step(action);
      const double speed = (paid_position(robot) - before) / robot.spec().seconds_per_step;
      EXPECT_GT(std::abs(speed), 1e-4) << weights.name;
      EXPECT_NEAR(outcome.control_cost, weights.control * squares, 1e-12) << weights.name;
      EXPECT_EQ(outcome.alive_bonus, weights.alive) << weights.name;
      EXPECT_NEAR(outcome.reward, weights.speed * speed + weights.alive - outcome.control_cost, 1e-9) << weights.name;
    }
  }
}

TEST_F(RobotTest, EpisodesEndByThePublishedRules) {
  // The hopper's leg is stretched forward, so that it does not push off the ground.
  const auto ends = [](const char* name, std::size_t coordinate, double value) {
    Robot robot(name, {});
    std::vector<double> qpos(robot.qpos().begin(), robot.qpos().end());
    const std::vector<double> qvel(robot.qvel().size(), 0);
    if (std::string(name) == "hopper") {
      qpos[3] = -1.5;
    }
    qpos[coordinate] = value;
    robot.set_state(qpos, qvel);
    return robot.step(std::vector<double>(robot.spec().action_size(), 0)).terminated;
  };
  EXPECT_FALSE(ends("hopper", 1, 1.25));
  EXPECT_FALSE(ends("hopper", 1, 0.71));
  EXPECT_TRUE(ends("hopper", 1, 0.69));
  EXPECT_FALSE(ends("hopper", 2, 0.19));
  EXPECT_TRUE(ends("hopper", 2, -0.21));
  EXPECT_FALSE(ends("ant", 2, 0.75));
  EXPECT_TRUE(ends("ant", 2, 1.1));
  EXPECT_FALSE(ends("humanoid", 2, 1.4));
  EXPECT_TRUE(ends("humanoid", 2, 0.9));
  EXPECT_TRUE(ends("humanoid", 2, 2.1));
}

// The ground pushes an ant up again within a step, so it must be thrown down for its torso to end below 0.2.
TEST_F(RobotTest, AnAntBelowItsLowerEndHasFallen) {
  Robot ant("ant", {});
  const std::vector<double> start(ant.qpos().begin(), ant.qpos().end());
  struct Throw {
    double height, speed;
    bool ends;
  };
  for (const Throw& t : {Throw{0.25, -40, false}, {0, -20, false}, {0.6, -10, true}, {0.3, -40, true}}) {
    std::vector<double> qpos = start;
    std::vector<double> qvel(ant.qvel().size(), 0);
    qpos[2] = t.height;
    qvel[2] = t.speed;
    ant.set_state(qpos, qvel);
    const StepOutcome outcome = ant.step(std::vector<double>(8, 0));
    EXPECT_FALSE(outcome.unstable);
    EXPECT_NEAR(ant.qpos()[2], t.ends ? 0.19 : 0.22, 0.015);  // near the end on either side
    EXPECT_EQ(outcome.terminated, t.ends) << t.height;
  }
}

// Gym calls a hopper fallen when any angle or speed reaches 100. High in the air nothing slows it down.
TEST_F(RobotTest, AHopperThatIsTooFastHasFallen) {
  Robot hopper("hopper", {});
  for (const double speed : {90.0, -90.0, 110.0, -110.0}) {
    hopper.set_state(std::vector<double>{0, 5, 0, 0, 0, 0}, std::vector<double>{speed, 0, 0, 0, 0, 0});
    const StepOutcome outcome = hopper.step(std::vector<double>(3, 0));
    EXPECT_FALSE(outcome.unstable);
    EXPECT_EQ(outcome.terminated, std::abs(speed) > 100) << speed;
  }
}

TEST_F(RobotTest, ADivergedSimulationIsReportedOnceAndARestIsClean) {
  Robot robot("hopper", {});
  std::vector<double> qvel(6, 0);
  qvel[3] = 1e9;
  robot.set_state(std::vector<double>{0, 1.25, 0, 0, 0, 0}, qvel);
  const std::vector<double> action(3, 0);
  const StepOutcome outcome = robot.step(action);
  EXPECT_TRUE(outcome.unstable);
  EXPECT_TRUE(outcome.terminated);
  Stream stream(1, Purpose::kTest);
  robot.reset(stream);
  EXPECT_FALSE(robot.step(action).unstable);
}

TEST_F(RobotTest, BadModelsAreNamedWithTheReason) {
  const TempDir folder;
  const auto load = [](const std::string& file) {
    return message_of<InputError>([&file] {
      EnvironmentOptions options;
      options.model_file = file;
      const Robot robot("hopper", options);
    });
  };
  const std::string broken = folder.write("broken.xml", "<mujoco><worldbody></mujoco>");
  EXPECT_TRUE(load(broken).starts_with(broken + ": not a valid MuJoCo model: XML parse error")) << load(broken);
  const std::string other = folder.write("ant.xml", embedded_model("ant"));
  EXPECT_EQ(load(other), other + ": the model has nq 15, nv 14, nu 8, nbody 14; hopper needs 6, 6, 3, 5");
  EXPECT_NE(load(folder.write("empty.xml", "")).find("is empty"), std::string::npos);
  const std::string missing = folder.file("missing.xml");
  EXPECT_EQ(load(missing), missing + ": cannot be read: No such file or directory");
  EXPECT_EQ(load(folder.path()), folder.path() + ": cannot be read: is a directory; give a file name");
  const std::string lonely = folder.write("lonely.xml", "<mujoco><include file=\"none.xml\"/></mujoco>");
  EXPECT_TRUE(load(lonely).starts_with(lonely + ": not a valid MuJoCo model: ")) << load(lonely);
  EXPECT_NE(load(lonely).find("none.xml"), std::string::npos) << load(lonely);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"ant.xml", "broken.xml", "empty.xml", "lonely.xml"}));  // no log
}

// It compiles, but what MuJoCo computes on it does not fit in the memory it asks for.
TEST_F(RobotTest, AModelThatFailsWhenRunIsNamed) {
  const TempDir folder;
  std::string model(embedded_model("hopper"));
  model.insert(model.find('>', model.find("<mujoco")) + 1, "<size nstack=\"300\"/>");
  EnvironmentOptions options;
  options.model_file = folder.write("small.xml", model);
  const std::string message = message_of<InputError>([&options] {
    Robot robot("hopper", options);
    Stream stream(1, Purpose::kTest);
    robot.reset(stream);
    for (int step = 0; step < 500; ++step) {  // until it falls, for contacts need the memory
      robot.step(std::vector<double>(3, 0));
    }
  });
  EXPECT_TRUE(message.starts_with(options.model_file + ": the model cannot be simulated: MuJoCo: ")) << message;
}

// A model split in two: the part is found beside the whole, from any working directory, and counts in the digest.
TEST_F(RobotTest, AModelIncludesFilesBesideIt) {
  const TempDir folder;
  const std::string model(embedded_model("hopper"));
  const std::size_t begin = model.find("<actuator>");
  const std::string ending = "</actuator>";
  const std::size_t end = model.find(ending) + ending.size();
  const std::string actuator = model.substr(begin, end - begin);
  EnvironmentOptions options;
  options.model_file =
      folder.write("split.xml", model.substr(0, begin) + "<include file=\"motors.xml\"/>" + model.substr(end));
  folder.write("motors.xml", "<mujoco>" + actuator + "</mujoco>");
  const std::string whole = Robot("hopper", {}).spec().model_digest;
  EXPECT_EQ(whole.size(), 16U);
  EXPECT_EQ(Robot("hopper", options).spec().model_digest, whole);
  EXPECT_EQ(Robot("hopper", options).spec().model, options.model_file);
  std::string stronger = actuator;
  stronger.insert(stronger.find("<motor") + 6, " gear=\"201\"");
  folder.write("motors.xml", "<mujoco>" + stronger + "</mujoco>");
  EXPECT_NE(Robot("hopper", options).spec().model_digest, whole);
}

TEST_F(RobotTest, DrawingFollowsTheRobot) {
  Robot robot("hopper", {});
  const std::vector<Segment> segments = robot.segments();
  ASSERT_EQ(segments.size(), 4U);  // torso, thigh, leg, foot; not the ground
  EXPECT_NEAR(std::max(segments[0].begin[2], segments[0].end[2]), 1.45, 1e-12);
  EXPECT_NEAR(std::min(segments[0].begin[2], segments[0].end[2]), 1.05, 1e-12);
  EXPECT_EQ(segments[3].radius, 0.06);
}

}  // namespace
}  // namespace dissent
