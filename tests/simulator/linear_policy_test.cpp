#include "dissent/simulator/linear_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dissent/base/error.hpp"
#include "dissent/simulator/named_data.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

EnvironmentSpec small_spec() {
  EnvironmentSpec spec;
  spec.name = "small";
  spec.observation_size = 2;
  spec.action_low = {-1};
  spec.action_high = {1};
  spec.seconds_per_step = 0.05;
  spec.max_steps = 10;
  return spec;
}

double act(const LinearPolicy& policy, std::vector<double> observation, std::size_t step) {
  Stream stream(0, Purpose::kTest);
  double action = 0;
  policy.act(observation, step, stream, std::span(&action, 1));
  return action;
}

TEST(LinearPolicy, NormalisesMultipliesAndClips) {
  const LinearPolicy policy(parse_linear_policy("1 2 0\n1 2\n0.5 4\n0.3 -0.1\n", "text"), small_spec(), "text");
  EXPECT_NEAR(act(policy, {2, 2.5}, 0), 0.3 * 0.5 - 0.1 * 2, 1e-15);
  EXPECT_EQ(act(policy, {100, 2}, 0), 1);
  EXPECT_EQ(act(policy, {-100, 2}, 0), -1);
}

TEST(LinearPolicy, ClockAddsSineCosineAndOne) {
  const LinearPolicy policy(parse_linear_policy("1 5 2\n0 0 0 0 0\n1 1 1 1 1\n0 0 0.5 0.25 0.125\n", "text"),
                            small_spec(), "text");
  const double phase = 2 * std::numbers::pi * 2 * 3 * 0.05;
  EXPECT_NEAR(act(policy, {7, 7}, 3), 0.5 * std::sin(phase) + 0.25 * std::cos(phase) + 0.125, 1e-15);
}

TEST(LinearPolicy, FewerFeaturesAreTheFirstEntries) {
  const LinearPolicy policy(parse_linear_policy("1 4 2\n1 0 0 0\n2 1 1 1\n0.1 0 0 0.5\n", "text"), small_spec(),
                            "text");
  EXPECT_NEAR(act(policy, {3, 99}, 0), 0.1 * (3 - 1) * 2 + 0.5, 1e-15);
}

TEST(LinearPolicy, TextRestoresEveryBit) {
  LinearPolicyParameters parameters;
  parameters.num_actions = 2;
  parameters.num_features = 3;
  Stream stream(1, Purpose::kTest);
  for (auto* values : {&parameters.mean, &parameters.inverse_stddev, &parameters.weights}) {
    values->resize(values == &parameters.weights ? 6 : 3);
    stream.fill_normal(*values);
  }
  for (double& value : parameters.inverse_stddev) {
    value = std::abs(value) * 1e-200;
  }
  const std::string text = format_linear_policy(parameters, "how it was made\nin two lines");
  EXPECT_TRUE(text.starts_with("# how it was made\n# in two lines\n2 3 0\n"));
  const LinearPolicyParameters read = parse_linear_policy(text, "text");
  EXPECT_EQ(read.mean, parameters.mean);
  EXPECT_EQ(read.inverse_stddev, parameters.inverse_stddev);
  EXPECT_EQ(read.weights, parameters.weights);
}

TEST(LinearPolicy, BadTextIsNamedWithLineAndRule) {
  const auto error = [](const char* text) {
    return message_of<InputError>([text] { parse_linear_policy(text, "p.txt"); });
  };
  EXPECT_EQ(error(""), "p.txt: ends before the header: actions, features, clock frequency; the file is cut short");
  EXPECT_EQ(error("1 2\n"), "p.txt: line 1: 2 numbers, expected 3 (header: actions, features, clock frequency)");
  EXPECT_EQ(error("# c\n1 2 0\n1 x\n"), "p.txt: line 3: \"x\" is not a finite number");
  EXPECT_EQ(error("1 2 0\n1 nan\n"), "p.txt: line 2: \"nan\" is not a finite number");
  EXPECT_EQ(error("1 2 0\n1 2 3\n"), "p.txt: line 2: more than 2 numbers (means)");
  EXPECT_EQ(error("1 2 0\n0 0\n1 1\n"), "p.txt: ends before the weights of an action; the file is cut short");
  EXPECT_EQ(error("1 2 0\n0 0\n1 -1\n1 1\n"), "p.txt: inverse stddev 1 = -1 is negative");
  EXPECT_EQ(error("1 2 0\n0 0\n1 1\n1 1\n5\n"), "p.txt: text follows the last row of weights");
  EXPECT_EQ(error("1e9 2 0\n"), "p.txt: 1000000000 actions and 2 features; both must be whole and in [1, 4096]");
  EXPECT_EQ(error("1 2 -1\n"), "p.txt: clock frequency -1 is negative");
}

TEST(LinearPolicy, SizesMustFitTheEnvironment) {
  const LinearPolicyParameters parameters = parse_linear_policy("1 3 0\n0 0 0\n1 1 1\n1 1 1\n", "p.txt");
  EXPECT_EQ(message_of<InputError>([&] { LinearPolicy(parameters, small_spec(), "p.txt"); }),
            "p.txt: a policy of 1 actions and 3 features; small needs 1 actions and 1 to 2 features");
}

TEST(LinearPolicy, ShippedPoliciesSayHowTheyWereMade) {
  for (const char* name : {"hopper", "ant", "humanoid"}) {
    const std::string_view text = embedded_policy(name);
    EXPECT_NE(text.find(std::string("dissent policy train ") + name), std::string_view::npos) << name;
    EXPECT_GT(parse_linear_policy(text, name).num_actions, 0U);
  }
  EXPECT_TRUE(embedded_policy("pendulum").empty());
}

TEST(Policy, NamesAndFiles) {
  EXPECT_EQ(message_of<InputError>([] { make_policy(small_spec(), "randm"); }),
            "policy 'randm' is not known; did you mean 'random'? (known: random, expert)");
  EXPECT_EQ(message_of<InputError>([] { make_policy(small_spec(), "none/such.txt"); }),
            "none/such.txt: cannot be read: No such file or directory");
  const TempDir folder;
  EXPECT_EQ(message_of<InputError>([&] { make_policy(small_spec(), folder.path()); }),
            folder.path() + ": cannot be read: is a directory; give a file name");
  EXPECT_EQ(message_of<InputError>([] { make_policy(small_spec(), "mixed:0.1"); }),
            "policy 'mixed:0.1': a mixture is made of rows, by collecting; an episode is played by one policy: random, "
            "expert or a policy's file");
}

TEST(Policy, RandomIsUniformWithinTheBounds) {
  EnvironmentSpec spec = small_spec();
  spec.action_low = {-3};
  spec.action_high = {1};
  const UniformPolicy policy(spec);
  Stream stream(2, Purpose::kTest);
  double sum = 0;
  for (int k = 0; k < 10000; ++k) {
    double action = 0;
    policy.act({}, 0, stream, std::span(&action, 1));
    ASSERT_GT(action, -3);
    ASSERT_LT(action, 1);
    sum += action;
  }
  EXPECT_NEAR(sum / 10000, -1, 5 * 4 / std::sqrt(12 * 10000.0));  // five standard errors: fails once in 1.7 million
}

}  // namespace
}  // namespace dissent
