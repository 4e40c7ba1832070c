#include "dissent/problem/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/problem/cache.hpp"
#include "dissent/simulator/robot.hpp"
#include "dissent/simulator/transitions_file.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double stddev(const std::vector<double>& values) {
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - centre) * (value - centre);
  }
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// Tolerances below are at least five standard errors: a true implementation fails less than once in a million seeds.
TEST(Problem, HeteroHasThePapersDistributions) {
  const Problem problem = load_problem("hetero");
  EXPECT_EQ(problem.input_names, std::vector<std::string>{"x"});
  EXPECT_EQ(problem.train.num_rows, 100U);
  ASSERT_EQ(problem.pool.num_rows, 100000U);
  ASSERT_EQ(problem.test.num_rows, 20000U);
  std::vector<std::vector<double>> parts(3);  // around -4, 0 and 4: five stddevs of the outer ones reach to +-2
  std::vector<double> noise;
  for (std::size_t row = 0; row < problem.pool.num_rows; ++row) {
    const double x = problem.pool.inputs[row];
    parts[x < -2.5 ? 0 : x < 2.5 ? 1 : 2].push_back(x);
    noise.push_back((problem.pool.targets[row] - 7 * std::sin(x)) / (3 * std::abs(std::cos(x / 2))));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(static_cast<double>(parts[k].size()) / 100000, 1.0 / 3, 0.01);
    EXPECT_NEAR(mean(parts[k]), -4.0 + 4.0 * static_cast<double>(k), 0.03);
    EXPECT_NEAR(stddev(parts[k]), k == 1 ? 0.9 : 0.4, 0.03);
  }
  EXPECT_NEAR(mean(noise), 0, 0.016);
  EXPECT_NEAR(stddev(noise), 1, 0.012);
  std::vector<double> distance;
  for (const double x : problem.test.inputs) {
    distance.push_back(std::abs(x));
  }
  EXPECT_NEAR(mean(problem.test.inputs), 0, 0.08);
  EXPECT_NEAR(mean(distance), 2, 0.03);
  EXPECT_NEAR(stddev(distance), 0.6, 0.02);
}

TEST(Problem, BimodalHasThePapersDistributions) {
  const Problem problem = load_problem("bimodal");
  ASSERT_EQ(problem.pool.num_rows, 100000U);
  EXPECT_NEAR(mean(problem.pool.inputs), 0.5, 0.008);  // exponential with rate 2: mean and stddev 1/2
  EXPECT_NEAR(stddev(problem.pool.inputs), 0.5, 0.012);
  EXPECT_GT(*std::min_element(problem.pool.inputs.begin(), problem.pool.inputs.end()), 0);
  EXPECT_NEAR(mean(problem.test.inputs), 2, 0.05);
  EXPECT_NEAR(stddev(problem.test.inputs), 4 / std::sqrt(12.0), 0.03);
  std::vector<double> first, second;
  for (std::size_t row = 0; row < problem.test.num_rows; ++row) {
    const double x = problem.test.inputs[row];
    const double low = problem.test.targets[row] - 10 * std::sin(x);
    const double high = problem.test.targets[row] - (10 * std::cos(x) + 20 - x);
    (std::abs(low) < std::abs(high) ? first : second).push_back(std::abs(low) < std::abs(high) ? low : high);
  }
  EXPECT_NEAR(static_cast<double>(first.size()) / 20000, 0.5, 0.06);  // the modes touch near x = 3, where they mix
  EXPECT_NEAR(stddev(first), 1, 0.05);
  EXPECT_NEAR(stddev(second), 1, 0.05);
}

TEST(Problem, SeedsChooseTrainingRowsAndNothingElse) {
  ProblemOptions options;
  options.pool_rows = 50;
  options.test_rows = 40;
  const Problem first = load_problem("hetero", options);
  options.seed = 1;
  const Problem second = load_problem("hetero", options);
  EXPECT_NE(first.train.inputs, second.train.inputs);
  EXPECT_EQ(first.pool.inputs, second.pool.inputs);
  EXPECT_EQ(first.test.targets, second.test.targets);
}

TEST(Problem, TheDataSeedVariesPoolAndTestRows) {
  for (const std::string name : {"hetero", "bimodal"}) {
    ProblemOptions options;
    options.pool_rows = 60;
    options.test_rows = 10;
    const Problem first = load_problem(name, options);
    const Problem again = load_problem(name, options);
    EXPECT_EQ(first.pool.inputs, again.pool.inputs) << name;
    options.data_seed = 7;
    const Problem other = load_problem(name, options);
    EXPECT_NE(first.pool.inputs, other.pool.inputs) << name;
    EXPECT_NE(first.test.inputs, other.test.inputs) << name;
    EXPECT_EQ(first.train.inputs, other.train.inputs) << name;  // they follow the run's seed
  }
}

// Those of robots, and the rows to choose training rows from.
TEST(Problem, TheDataSeedVariesWhatIsCollected) {
  const TempDir folder;
  for (const std::string& name : environment_names()) {
    if (name != "pendulum" && !mujoco_available()) {
      continue;
    }
    const CollectedSizes sizes{.train = 30, .pool = 60, .test = 5};
    ProblemOptions options;
    options.cache_directory = folder.file("cache");
    const CollectedProblem first = cached_problem(name, sizes, options);
    const CollectedProblem again = cached_problem(name, sizes, options);
    EXPECT_EQ(first.pool.observations, again.pool.observations) << name;
    EXPECT_EQ(first.pool.expert, again.pool.expert) << name;
    options.data_seed = 7;
    const CollectedProblem other = cached_problem(name, sizes, options);
    EXPECT_NE(first.train.observations, other.train.observations) << name;
    EXPECT_NE(first.pool.observations, other.pool.observations) << name;
    EXPECT_NE(first.test.observations, other.test.observations) << name;
  }
}

TEST(Problem, PoolsAreMixedRandomOrTheExpertsAlone) {
  const TempDir folder;
  ProblemOptions options;
  options.cache_directory = folder.file("cache");
  options.pool_rows = 500;
  options.test_rows = 10;
  const auto experts = [&](PoolPolicy policy) {
    options.pool_policy = policy;
    const Problem collected = load_problem("pendulum", options);
    const Problem cached = load_problem("pendulum", options);
    EXPECT_EQ(collected.from_expert, cached.from_expert);
    EXPECT_EQ(collected.pool.inputs, cached.pool.inputs);
    EXPECT_EQ(collected.from_expert.size(), 500U);
    return std::ranges::count(collected.from_expert, 1);
  };
  EXPECT_EQ(experts(PoolPolicy::kMixed), 50);
  EXPECT_EQ(experts(PoolPolicy::kRandom), 0);
  EXPECT_EQ(experts(PoolPolicy::kExpert), 500);
  EXPECT_TRUE(load_problem("hetero").from_expert.empty());
  EXPECT_EQ(message_of<InputError>([&] { load_problem("hetero", options); }),
            "pool_policy = expert; no policy made the pool of 'hetero'; give it for: pendulum, hopper, ant, humanoid, "
            "pendulum:swing");
  EXPECT_EQ(pool_policy_from_name("random"), PoolPolicy::kRandom);
  EXPECT_THROW(pool_policy_from_name("both"), InputError);
}

// A variant has the environment's random rows, other rows of the expert, and a file of its own.
TEST(Problem, AVariantChangesTheExpertsRowsAlone) {
  const TempDir folder;
  const CollectedSizes sizes{.train = 300, .pool = 500, .test = 50};
  ProblemOptions options;
  options.cache_directory = folder.file("cache");
  const CollectedProblem plain = cached_problem("pendulum", sizes, options);
  options.num_threads = 1;
  const CollectedProblem swing = cached_problem("pendulum:swing", sizes, options);
  options.num_threads = 3;
  options.cache_directory = folder.file("other");
  const CollectedProblem again = cached_problem("pendulum:swing", sizes, options);
  EXPECT_EQ(swing.pool.observations, again.pool.observations);
  EXPECT_EQ(swing.test.actions, again.test.actions);
  EXPECT_EQ(plain.train.observations, swing.train.observations);
  EXPECT_EQ(plain.pool.expert, swing.pool.expert);
  EXPECT_NE(plain.test.observations, swing.test.observations);
  for (std::size_t row = 0; row < sizes.pool; ++row) {
    const bool is_same = plain.pool.observations[3 * row + 2] == swing.pool.observations[3 * row + 2];
    EXPECT_EQ(is_same, plain.pool.expert[row] == 0) << row;
  }
  EXPECT_NE(cache_file("pendulum", sizes, options), cache_file("pendulum:swing", sizes, options));
  EXPECT_EQ(cache_file("pendulum:swing", sizes, options).find(':'), std::string::npos);
}

// Runs that were begun go on with the rows they had: a plain name keeps its file.
TEST(Problem, PlainNamesKeepTheirCacheFiles) {
  if (mujoco_version() != "2.2.2") {
    GTEST_SKIP() << "the name depends on the version of MuJoCo";
  }
  ProblemOptions options;
  options.cache_directory = "c";
  EXPECT_EQ(cache_file("pendulum", {.train = 10000, .pool = 100000, .test = 2000}, options),
            "c/problems/pendulum-eb16605382f8c6e1.npz");
}

TEST(Problem, UnknownNamesSuggestTheNearest) {
  EXPECT_EQ(message_of<InputError>([] { load_problem("bimodel"); }),
            "problem 'bimodel' is not known; did you mean 'bimodal'? (known: hetero, bimodal, pendulum, hopper, ant, "
            "humanoid, pendulum:swing)");
  EXPECT_EQ(message_of<InputError>([] { load_problem("pendulum:swim"); }),
            "problem 'pendulum:swim' is not known; did you mean 'pendulum:swing'? (known: hetero, bimodal, pendulum, "
            "hopper, ant, humanoid, pendulum:swing)");
  EXPECT_EQ(message_of<InputError>([] { make_environment("hoper"); }),
            "environment 'hoper' is not known; did you mean 'hopper'? (known: pendulum, hopper, ant, humanoid)");
}

TEST(Problem, TheCacheFollowsTheEnvironment) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const std::string saved = cache == nullptr ? "" : cache;
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(default_cache_directory(), "/somewhere/dissent");
  if (const char* home = std::getenv("HOME")) {
    ::setenv("XDG_CACHE_HOME", "relative", 1);
    EXPECT_EQ(default_cache_directory(), std::string(home) + "/.cache/dissent");
  }
  ::unsetenv("XDG_CACHE_HOME");
  if (const char* home = std::getenv("HOME")) {
    EXPECT_EQ(default_cache_directory(), std::string(home) + "/.cache/dissent");
  }
  if (cache != nullptr) {
    ::setenv("XDG_CACHE_HOME", saved.c_str(), 1);
  }
}

class CachedProblemTest : public testing::Test {
 protected:
  CachedProblemTest() {
    options_.cache_directory = folder_.file("cache");
    options_.pool_rows = 2000;
    options_.test_rows = 100;
    options_.notice = [this](const std::string& message) { notices_.push_back(message); };
  }
  std::string only_file() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(options_.cache_directory + "/problems")) {
      files.push_back(entry.path().string());
    }
    EXPECT_EQ(files.size(), 1U);
    return files.front();
  }
  TempDir folder_;
  ProblemOptions options_;
  std::vector<std::string> notices_;
};

TEST_F(CachedProblemTest, CollectsOnceThenReads) {
  const Problem first = load_problem("pendulum", options_);
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_EQ(first.input_names.size(), 4U);
  EXPECT_EQ(first.input_names.back(), "action_0");
  EXPECT_EQ(first.target_names.size(), 3U);
  EXPECT_EQ(first.train.num_rows, 200U);
  EXPECT_EQ(first.pool.num_rows, 2000U);
  EXPECT_EQ(first.test.num_rows, 100U);
  const Problem second = load_problem("pendulum", options_);
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_EQ(second.train.inputs, first.train.inputs);
  EXPECT_EQ(second.pool.targets, first.pool.targets);
  EXPECT_EQ(second.test.inputs, first.test.inputs);
  options_.seed = 9;
  EXPECT_NE(load_problem("pendulum", options_).train.inputs, first.train.inputs);
  EXPECT_EQ(notices_.size(), 1U);
}

// The targets are the true next states: cos^2 + sin^2 = 1, and the random policy's torques fill [-2, 2].
TEST_F(CachedProblemTest, RowsObeyTheirPhysics) {
  const Problem problem = load_problem("pendulum", options_);
  for (std::size_t row = 0; row < problem.pool.num_rows; ++row) {
    const double* input = problem.pool.inputs.data() + 4 * row;
    const double* target = problem.pool.targets.data() + 3 * row;
    const double speed = std::clamp(input[2] + (15 * input[1] + 3 * input[3]) * 0.05, -8.0, 8.0);
    EXPECT_NEAR(target[2], speed, 1e-5);
    EXPECT_NEAR(target[0] * target[0] + target[1] * target[1], 1, 1e-6);
  }
}

TEST_F(CachedProblemTest, ADamagedCacheIsCollectedAgain) {
  const Problem first = load_problem("pendulum", options_);
  const std::string file = only_file();
  std::string bytes = read_bytes(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  const Problem second = load_problem("pendulum", options_);
  ASSERT_EQ(notices_.size(), 3U);
  EXPECT_TRUE(notices_[1].starts_with("cache damaged")) << notices_[1];
  EXPECT_EQ(second.pool.inputs, first.pool.inputs);
  EXPECT_EQ(only_file(), file);
}

TEST_F(CachedProblemTest, ACacheThatCannotBeWrittenIsAClearError) {
  folder_.write("cache", "a file where the folder should be");
  const std::string message = message_of<SystemError>([&] { load_problem("pendulum", options_); });
  EXPECT_NE(message.find("set XDG_CACHE_HOME to a folder you may write to"), std::string::npos) << message;
}

TEST_F(CachedProblemTest, ACacheThatCannotBeReachedIsAClearError) {
  options_.cache_directory = folder_.file(std::string(300, 'x'));
  const std::string message = message_of<SystemError>([&] { load_problem("pendulum", options_); });
  EXPECT_NE(message.find("the cache directory cannot be made: File name too long; set XDG_CACHE_HOME"),
            std::string::npos)
      << message;
}

TEST_F(CachedProblemTest, WhatAKilledProcessLeftIsRemoved) {
  const std::filesystem::path problems = options_.cache_directory + "/problems";
  std::filesystem::create_directories(problems);
  for (const char* name : {".old.npz.1-0.tmp", ".new.npz.1-0.tmp", "other.npz"}) {
    std::ofstream(problems / name) << "half";
  }
  const auto two_days_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  std::filesystem::last_write_time(problems / ".old.npz.1-0.tmp", two_days_ago);
  std::filesystem::last_write_time(problems / "other.npz", two_days_ago);
  load_problem("pendulum", options_);
  EXPECT_FALSE(std::filesystem::exists(problems / ".old.npz.1-0.tmp"));
  EXPECT_TRUE(std::filesystem::exists(problems / ".new.npz.1-0.tmp"));
  EXPECT_TRUE(std::filesystem::exists(problems / "other.npz"));
}

TEST_F(CachedProblemTest, ProgressCountsTheWholeProblem) {
  std::vector<std::size_t> done;
  options_.progress = [&done](std::size_t rows_done, std::size_t rows) {
    EXPECT_EQ(rows, 10000U + 2000U + 10 * 100U);  // test rows are thinned ten times
    done.push_back(rows_done);
  };
  load_problem("pendulum", options_);
  ASSERT_FALSE(done.empty());
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 13000U);
}

// The paper's sizes; a tenth of the pool is the expert's, the training rows are not. The pendulum's expert is upright
// most of the time, a random one hardly ever.
TEST_F(CachedProblemTest, SizesAndSharesAreThePapers) {
  options_.pool_rows = 0;
  options_.test_rows = 0;
  const Problem problem = load_problem("pendulum", options_);
  EXPECT_EQ(problem.train.num_rows, 200U);
  EXPECT_EQ(problem.pool.num_rows, 100000U);
  EXPECT_EQ(problem.test.num_rows, 2000U);
  const auto upright = [](const ProblemRows& rows) {
    std::size_t count = 0;
    for (std::size_t row = 0; row < rows.num_rows; ++row) {
      count += rows.inputs[4 * row] > 0.95 ? 1 : 0;
    }
    return static_cast<double>(count) / static_cast<double>(rows.num_rows);
  };
  const double random = upright(problem.train);
  const double expert = upright(problem.test);
  EXPECT_LT(random, 0.2);
  EXPECT_GT(expert, 0.6);
  EXPECT_NEAR(upright(problem.pool), 0.9 * random + 0.1 * expert, 0.06);
}

TEST_F(CachedProblemTest, AnyExperienceFileIsAProblem) {
  CollectOptions collect_options;
  collect_options.environment = "pendulum";
  collect_options.policy = parse_policy_choice("random");
  collect_options.num_rows = 1000;
  write_transitions(folder_.file("rows.npz"), collect(collect_options));
  const Problem problem = load_problem(folder_.file("rows.npz"), options_);
  EXPECT_EQ(problem.train.num_rows, 200U);
  EXPECT_EQ(problem.test.num_rows, 100U);
  EXPECT_EQ(problem.pool.num_rows, 700U);
  EXPECT_EQ(problem.input_names.size(), 4U);
  std::vector<double> torques;  // each row of the file once
  for (const ProblemRows* rows : {&problem.train, &problem.pool, &problem.test}) {
    for (std::size_t row = 0; row < rows->num_rows; ++row) {
      torques.push_back(rows->inputs[4 * row + 3]);
    }
  }
  std::sort(torques.begin(), torques.end());
  EXPECT_EQ(std::unique(torques.begin(), torques.end()) - torques.begin(), 1000);
  options_.train_rows = 950;
  EXPECT_NE(message_of<InputError>([&] { load_problem(folder_.file("rows.npz"), options_); }).find("none for the pool"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
