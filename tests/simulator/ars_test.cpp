#include "dissent/simulator/ars.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "dissent/base/error.hpp"
#include "dissent/simulator/robot.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

ArsOptions small_options() {
  ArsOptions options;
  options.environment = "pendulum";
  options.num_iterations = 12;
  options.num_directions = 5;
  options.num_top_directions = 3;
  options.evaluate_every = 4;
  options.num_evaluation_episodes = 3;
  options.checkpoint_every = 1;
  options.seed = 11;
  options.num_threads = 1;
  return options;
}

void expect_same(const TrainResult& a, const TrainResult& b) {
  EXPECT_EQ(format_linear_policy(a.policy), format_linear_policy(b.policy));
  EXPECT_EQ(a.mean_return, b.mean_return);
  EXPECT_EQ(a.num_steps, b.num_steps);
  EXPECT_EQ(a.num_iterations, b.num_iterations);
}

TEST(Normaliser, MergingEqualsAdding) {
  Stream stream(1, Purpose::kTest);
  Normaliser whole(3), first(3), second(3);
  std::vector<std::vector<double>> rows(50, std::vector<double>(3));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    stream.fill_normal(rows[k]);
    rows[k][1] = 1e6 + 1e-3 * rows[k][1];  // a large mean beside a small spread
    rows[k][2] = 4;
    whole.add(rows[k]);
    (k < 17 ? first : second).add(rows[k]);
  }
  first.merge(second);
  first.merge(Normaliser(3));
  EXPECT_EQ(first.count, 50);
  double mean = 0, squares = 0;
  for (const auto& row : rows)
    mean += (row[1] - 1e6) / 50;
  for (const auto& row : rows)
    squares += std::pow(row[1] - 1e6 - mean, 2);
  for (const Normaliser* normaliser : {&whole, &first}) {
    EXPECT_NEAR(normaliser->mean[1] - 1e6, mean, 1e-9);
    EXPECT_NEAR(normaliser->inverse_stddev()[1], 1 / std::sqrt(squares / 49), 1);
    EXPECT_EQ(normaliser->inverse_stddev()[2], 0);  // constant: ignored
  }
  EXPECT_EQ(Normaliser(1).inverse_stddev()[0], 1);
}

TEST(Ars, TheSameBitsOnAnyNumberOfThreads) {
  ArsOptions options = small_options();
  const TrainResult one = train_policy(options);
  options.num_threads = 3;
  expect_same(train_policy(options), one);
  options.seed = 12;
  EXPECT_NE(format_linear_policy(train_policy(options).policy), format_linear_policy(one.policy));
}

TEST(Ars, OneStepByHand) {
  ArsOptions options = small_options();
  options.num_iterations = 1;
  options.num_directions = 1;
  options.num_top_directions = 1;
  const TrainResult result = train_policy(options);
  // With one direction the returns are mean +- gap / 2, so sigma = |gap| / 2 and the step is 2 alpha sign(gap) d.
  std::vector<double> direction(3);
  Stream(options.seed, Purpose::kPolicy, 0).fill_normal(direction);
  // The sign by the two returns: zero weights, so the perturbed ones are +- nu d on the raw observation.
  const auto episode_return = [&](double sign) {
    const auto pendulum = make_environment("pendulum");
    LinearPolicyParameters p{1, 3, 0, {0, 0, 0}, {1, 1, 1}, direction};
    for (double& w : p.weights) {
      w *= sign * options.noise;
    }
    const Stream stream(options.seed, Purpose::kProblem, 0);
    return run_episode(*pendulum, LinearPolicy(p, pendulum->spec(), "test"), stream, stream).total_reward;
  };
  ASSERT_NE(episode_return(1), episode_return(-1));
  const double sign = episode_return(1) > episode_return(-1) ? 1 : -1;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(result.policy.weights[k], sign * 2 * options.step_size * direction[k], 1e-12);
  }
}

TEST(Ars, AStoppedTrainingResumesToTheSameBits) {
  const TempDir folder;
  ArsOptions options = small_options();
  const TrainResult unbroken = train_policy(options);
  options.checkpoint_file = folder.file("train.state");
  options.checkpoint_every = 100;  // so that only the stop writes one
  const TrainResult stopped = train_policy(options, [](const TrainProgress& p) { return p.iteration < 7; });
  EXPECT_FALSE(stopped.finished);
  EXPECT_EQ(stopped.num_iterations, 7U);
  options.num_threads = 2;
  const TrainResult resumed = train_policy(options);
  EXPECT_TRUE(resumed.resumed);
  EXPECT_TRUE(resumed.finished);
  expect_same(resumed, unbroken);
}

TEST(Ars, AKilledTrainingResumesToTheSameBits) {
  const TempDir folder;
  ArsOptions options = small_options();
  options.num_iterations = 300;
  const TrainResult unbroken = train_policy(options);
  options.checkpoint_file = folder.file("train.state");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    train_policy(options, [](const TrainProgress& p) {
      if (p.iteration == 150) {
        ::kill(::getpid(), SIGKILL);
      }
      return true;
    });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const TrainResult resumed = train_policy(options);
  EXPECT_TRUE(resumed.resumed);
  expect_same(resumed, unbroken);
  EXPECT_EQ(folder.list(), std::vector<std::string>{"train.state"});
}

TEST(Ars, ACheckpointOfOtherSettingsOrADamagedOneIsRefused) {
  const TempDir folder;
  ArsOptions options = small_options();
  options.num_iterations = 4;
  options.checkpoint_file = folder.file("train.state");
  train_policy(options);
  ArsOptions other = options;
  other.noise = 0.5;
  EXPECT_EQ(message_of<InputError>([&] { train_policy(other); }),
            options.checkpoint_file +
                ": made with other settings (noise=0.025, now noise=0.5); give the same ones or another file");
  const std::string text = read_bytes(options.checkpoint_file);
  for (const std::size_t length : {std::size_t{0}, std::size_t{10}, text.size() / 3, text.size() - 60}) {
    folder.write("train.state", text.substr(0, length));
    EXPECT_TRUE(message_of<InputError>([&] { train_policy(options); }).starts_with(options.checkpoint_file)) << length;
  }
  const auto with_line = [&text](int line, const std::string& content) {
    std::size_t begin = 0;
    for (int k = 1; k < line; ++k) {
      begin = text.find('\n', begin) + 1;
    }
    return text.substr(0, begin) + content + text.substr(text.find('\n', begin));
  };
  for (const auto& [line, content] : std::vector<std::pair<int, std::string>>{
           {3, "-1 100 8 0 1 "},     // iteration, steps, count, best return, has a best
           {3, "1.5 100 8 0 1 "},    //
           {3, "1e300 100 8 0 1 "},  //
           {3, "4 -100 8 0 1 "},     //
           {3, "4 100 -8 0 1 "},     //
           {3, "4 100 8 0 2 "},      //
           {3, "4 100 8 0 0 "},      // a best policy follows nevertheless
           {3, "4 100 8 0 1"},       // no space behind a number
           {4, "0.1x0.2x0.3 "},      //
           {4, "0.1 0.2 "},          // fewer means than squares
           {5, "1 -2 3 "},           // a negative sum of squares
           {6, "1 2 "}}) {           // fewer weights than the pendulum has features
    folder.write("train.state", with_line(line, content));
    EXPECT_TRUE(message_of<InputError>([&] { train_policy(options); }).starts_with(options.checkpoint_file)) << content;
  }
  folder.write("train.state",
               with_line(7, "1 2 0").substr(0, with_line(7, "").find("\n\n") + 1) + "1 2 0\n0 0\n1 1\n0 0\n");
  EXPECT_EQ(message_of<InputError>([&] { train_policy(options); }),
            options.checkpoint_file + ": the checkpoint's sizes do not fit pendulum");
  options.checkpoint_file = folder.path();
  EXPECT_EQ(message_of<InputError>([&] { train_policy(options); }),
            folder.path() + ": cannot be read: is a directory; give a file name");
  options.checkpoint_file = folder.file(std::string(300, 'x'));
  EXPECT_NE(message_of<InputError>([&] { train_policy(options); }).find("the checkpoint cannot be looked up"),
            std::string::npos);
}

// Evaluations fall between the two ends, so the first end's own must leave no trace.
TEST(Ars, AProlongedTrainingEqualsAnUnbrokenOne) {
  for (const std::uint64_t seed : {1, 2}) {
    const TempDir folder;
    ArsOptions options = small_options();
    options.seed = seed;
    options.evaluate_every = 16;
    options.num_iterations = 20;
    options.checkpoint_file = folder.file("unbroken.state");
    std::string state_on_the_way;  // as it was saved before iteration 13
    const TrainResult unbroken = train_policy(options, [&](const TrainProgress& p) {
      state_on_the_way = p.iteration == 12 ? read_bytes(options.checkpoint_file) : state_on_the_way;
      return true;
    });
    options.checkpoint_file = folder.file("prolonged.state");
    options.num_iterations = 12;
    const TrainResult first = train_policy(options);
    EXPECT_EQ(read_bytes(options.checkpoint_file), state_on_the_way);
    expect_same(train_policy(options), first);  // again, from a state that is finished
    options.num_iterations = 20;
    expect_same(train_policy(options), unbroken);
    EXPECT_EQ(read_bytes(folder.file("prolonged.state")), read_bytes(folder.file("unbroken.state")));
  }
}

TEST(Ars, FewerIterationsThanTheStateHasAreRefused) {
  const TempDir folder;
  ArsOptions options = small_options();
  options.checkpoint_file = folder.file("train.state");
  train_policy(options);
  options.num_iterations = 5;
  EXPECT_EQ(message_of<InputError>([&] { train_policy(options); }),
            options.checkpoint_file +
                ": this training is at iteration 12 already, beyond the 5 wanted; give at least as "
                "many iterations, or another file");
}

TEST(Ars, WeightsThatOverflowAreAnErrorAndNothingIsSaved) {
  const TempDir folder;
  ArsOptions options = small_options();
  options.num_directions = 1;
  options.num_top_directions = 1;
  options.step_size = 1e308;
  options.checkpoint_file = folder.file("train.state");
  EXPECT_NE(message_of<InputError>([&] { train_policy(options); }).find("after iteration 1 the weights"),
            std::string::npos);
  EXPECT_TRUE(folder.list().empty());
}

TEST(Ars, StartsFromAGivenPolicy) {
  const TempDir folder;
  ArsOptions options = small_options();
  options.start_file = folder.write("start.txt", "1 3 0\n0.1 0.2 0.3\n2 1 0.5\n-1 -2 -3\n");
  options.num_iterations = 1;
  options.step_size = 1e-9;
  const LinearPolicyParameters policy = train_policy(options).policy;
  EXPECT_NEAR(policy.weights[2], -3, 1e-6);
  EXPECT_NEAR(policy.mean[1], 0.2, 5e-3);  // a million observations outweigh the two thousand of one iteration
  EXPECT_NEAR(policy.inverse_stddev[0], 2, 1e-2);
  options.clock_hz = 1;
  EXPECT_NE(message_of<InputError>([&] { train_policy(options); }).find("clock runs at 0 Hz"), std::string::npos);
}

TEST(Ars, ObservesOnlyTheFirstEntries) {
  ArsOptions options = small_options();
  options.num_observed = 2;
  options.clock_hz = 1;
  EXPECT_EQ(train_policy(options).policy.num_features, 5U);  // two entries and the clock's three
  options.num_observed = 4;
  EXPECT_EQ(message_of<InputError>([&] { train_policy(options); }),
            "train_policy: num_observed = 4; pendulum has 3 entries");
}

TEST(Ars, BadSettingsAreRefused) {
  ArsOptions options = small_options();
  options.num_top_directions = 6;
  EXPECT_NE(message_of<InputError>([&] { train_policy(options); }).find("num_top_directions = 6"), std::string::npos);
  options = small_options();
  options.noise = 0;
  EXPECT_NE(message_of<InputError>([&] { train_policy(options); }).find("noise = 0"), std::string::npos);
}

TEST(Ars, AHopperLearnsWithinSeconds) {
  if (!mujoco_available()) {
    GTEST_SKIP() << "built without MuJoCo";
  }
  ArsOptions options;
  options.environment = "hopper";
  options.num_iterations = 40;
  options.euler = true;
  options.seed = 3;
  double first = 0;
  const TrainResult result = train_policy(options, [&first](const TrainProgress& progress) {
    first = progress.iteration == 1 ? progress.mean_return : first;
    return true;
  });
  EXPECT_LT(first, 100);
  EXPECT_GT(result.mean_return, 200);
}

}  // namespace
}  // namespace dissent
