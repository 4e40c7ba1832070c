#include "dissent/simulator/collect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "dissent/base/digest.hpp"
#include "dissent/base/error.hpp"
#include "dissent/simulator/named_data.hpp"
#include "dissent/simulator/policy.hpp"
#include "dissent/simulator/robot.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

CollectOptions make_options(const char* environment, const char* policy, std::size_t rows) {
  CollectOptions options;
  options.environment = environment;
  options.policy = parse_policy_choice(policy);
  options.num_rows = rows;
  options.seed = 5;
  options.num_threads = 1;
  return options;
}

void expect_same(const Transitions& a, const Transitions& b) {
  EXPECT_EQ(a.num_rows, b.num_rows);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.rewards, b.rewards);
  EXPECT_EQ(a.next_observations, b.next_observations);
  EXPECT_EQ(a.terminals, b.terminals);
  EXPECT_EQ(a.timeouts, b.timeouts);
  EXPECT_EQ(a.expert, b.expert);
  EXPECT_EQ(a.num_episodes, b.num_episodes);
  EXPECT_EQ(a.num_unstable, b.num_unstable);
}

// Within an episode each row begins where the one before ended; the last has exactly one of the two flags.
void expect_well_formed(const Transitions& rows) {
  ASSERT_EQ(rows.observations.size(), rows.num_rows * rows.observation_size);
  ASSERT_EQ(rows.next_observations.size(), rows.num_rows * rows.observation_size);
  ASSERT_EQ(rows.actions.size(), rows.num_rows * rows.action_size);
  std::size_t ends = 0;
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    ASSERT_LE(rows.terminals[row] + rows.timeouts[row], 1);
    if (rows.terminals[row] + rows.timeouts[row] == 1) {
      ++ends;
    } else {
      ASSERT_LT(row + 1, rows.num_rows);
      for (std::size_t k = 0; k < rows.observation_size; ++k) {
        ASSERT_EQ(rows.next_observations[row * rows.observation_size + k],
                  rows.observations[(row + 1) * rows.observation_size + k]);
      }
    }
  }
  EXPECT_EQ(ends, rows.num_episodes);
  for (const auto* values : {&rows.observations, &rows.next_observations, &rows.actions, &rows.rewards}) {
    EXPECT_TRUE(std::all_of(values->begin(), values->end(), [](float x) { return std::isfinite(x); }));
  }
}

TEST(Collect, PendulumRowsAreWellFormed) {
  const Transitions rows = collect(make_options("pendulum", "mixed:0.25", 1230));
  EXPECT_EQ(rows.num_rows, 1230U);
  EXPECT_EQ(rows.observation_size, 3U);
  EXPECT_EQ(rows.action_size, 1U);
  expect_well_formed(rows);
  EXPECT_EQ(std::count(rows.expert.begin(), rows.expert.end(), 1), 308);  // round(307.5)
  EXPECT_TRUE(std::is_sorted(rows.expert.begin(), rows.expert.end()));    // random rows come first
  EXPECT_EQ(rows.num_episodes, 5U + 2U);                                  // of 200 steps: 922 and 308 rows
}

TEST(Collect, TheSameBitsOnAnyNumberOfThreads) {
  for (const char* name : {"pendulum", "hopper"}) {
    if (std::string(name) == "hopper" && !mujoco_available()) {
      continue;
    }
    CollectOptions options = make_options(name, "mixed:0.3", 3000);
    const Transitions one = collect(options);
    expect_well_formed(one);
    for (const int threads : {2, 5}) {
      options.num_threads = threads;
      expect_same(collect(options), one);
    }
  }
}

TEST(Collect, FewerRowsAreAPrefix) {
  const Transitions many = collect(make_options("pendulum", "random", 900));
  const Transitions few = collect(make_options("pendulum", "random", 333));
  EXPECT_TRUE(std::equal(few.observations.begin(), few.observations.end(), many.observations.begin()));
  EXPECT_EQ(few.timeouts.back(), 1);  // the cut ends the episode
}

TEST(Collect, SeedsAndPartsShareNoEpisode) {
  CollectOptions options = make_options("pendulum", "random", 200);
  const Transitions first = collect(options);
  options.part = 1;
  EXPECT_NE(collect(options).observations, first.observations);
  options.part = 0;
  options.seed = 6;
  EXPECT_NE(collect(options).observations, first.observations);
}

TEST(Collect, NoRowsIsAnEmptyTable) {
  const Transitions rows = collect(make_options("pendulum", "expert", 0));
  EXPECT_EQ(rows.num_rows, 0U);
  EXPECT_EQ(rows.num_episodes, 0U);
  EXPECT_TRUE(rows.observations.empty());
}

TEST(Collect, ProgressCountsUpToTheEnd) {
  CollectOptions options = make_options("pendulum", "mixed:0.5", 10000);
  std::vector<std::size_t> seen;
  options.progress = [&seen](std::size_t rows) { seen.push_back(rows); };
  collect(options);
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 10000U);
}

// A hopper whose motors are `gear / 200` times too strong.
std::string strong_hopper(const TempDir& folder, const char* gear) {
  std::string model(embedded_model("hopper"));
  const std::string published = "gear=\"200\"";
  model.replace(model.find(published), published.size(), std::string("gear=\"") + gear + "\"");
  return folder.write("strong.xml", model);
}

TEST(Collect, ADivergedSimulationIsCountedAndNeverStored) {
  if (!mujoco_available()) {
    GTEST_SKIP() << "built without MuJoCo";
  }
  const TempDir folder;
  CollectOptions options = make_options("hopper", "random", 500);
  options.environment_options.model_file = strong_hopper(folder, "2e7");
  const Transitions rows = collect(options);
  EXPECT_GT(rows.num_unstable, 100U);
  EXPECT_EQ(rows.num_rows, 500U);
  expect_well_formed(rows);
  options.num_threads = 2;
  expect_same(collect(options), rows);
}

TEST(Collect, AModelThatAlwaysDivergesIsAnErrorAndNotAnEndlessLoop) {
  if (!mujoco_available()) {
    GTEST_SKIP() << "built without MuJoCo";
  }
  const TempDir folder;
  CollectOptions options = make_options("hopper", "random", 500);
  options.environment_options.model_file = strong_hopper(folder, "2e9");
  EXPECT_NE(message_of<InputError>([&] { collect(options); }).find("the model is unstable"), std::string::npos);
}

// Problems collected by older versions are read from the cache as long as this holds. If it fails and should, raise
// kFormat in src/dissent/problem/cache.cpp along with these digests. They hold for one processor, simulator and C
// library.
#if defined(__x86_64__)
TEST(Collect, RowsAreThoseOfTheCachesFormat) {
  const auto rows_digest = [](const char* environment, const char* policy) {
    const Transitions rows = collect(make_options(environment, policy, 50));
    std::string bytes;
    for (const auto* values : {&rows.observations, &rows.actions, &rows.next_observations}) {
      bytes.append(reinterpret_cast<const char*>(values->data()), values->size() * sizeof(float));
    }
    return fmt::format("{:016x}", digest(bytes));
  };
  EXPECT_EQ(rows_digest("pendulum", "mixed:0.5"), "17489caff1ab7624");
  if (mujoco_available()) {
    EXPECT_EQ(rows_digest("hopper", "mixed:0.5"), "cd6c401923b8952d");
    EXPECT_EQ(rows_digest("ant", "random"), "4d780fa9ee2c900d");
    EXPECT_EQ(rows_digest("humanoid", "random"), "387f0c29d52626d6");
  }
}
#endif

TEST(Collect, ThePolicyIsNamedByItsNumbers) {
  const TempDir folder;
  const char* numbers = "1 3 0\n0 0 0\n1 1 1\n-1 -2 -3\n";
  const auto policy_digest = [](const std::string& policy) {
    return collect(make_options("pendulum", policy.c_str(), 10)).policy_digest;
  };
  const std::string named = policy_digest(folder.write("a.txt", numbers));
  EXPECT_EQ(named.size(), 16U);
  EXPECT_EQ(policy_digest(folder.write("b.txt", std::string("# made by hand\n") + numbers)), named);
  EXPECT_NE(policy_digest(folder.write("a.txt", "1 3 0\n0 0 0\n1 1 1\n-1 -2 -4\n")), named);
  EXPECT_EQ(policy_digest("random"), "");
  EXPECT_EQ(policy_digest("expert"), "");  // the pendulum's is a formula
}

TEST(PolicyChoice, AFileWithoutItsFolderIsExplained) {
  const TempDir folder;
  folder.write("mypolicy", "1 3 0\n0 0 0\n1 1 1\n-1 -2 -3\n");
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const std::string message = message_of<InputError>([] { parse_policy_choice("mypolicy"); });
  const std::string played =
      message_of<InputError>([] { make_policy(make_environment("pendulum")->spec(), "mypolicy"); });
  std::filesystem::current_path(here);
  EXPECT_EQ(message, "policy 'mypolicy' is not known; a file is given with its folder: ./mypolicy");
  EXPECT_EQ(played, message);
}

TEST(PolicyChoice, Forms) {
  EXPECT_EQ(parse_policy_choice("random").expert_share, 0);
  EXPECT_EQ(parse_policy_choice("expert").expert_share, 1);
  EXPECT_EQ(parse_policy_choice("mixed:0.1").expert_share, 0.1);
  EXPECT_EQ(parse_policy_choice("my/policy.txt").file, "my/policy.txt");
  EXPECT_NE(message_of<InputError>([] { parse_policy_choice("mixed:1.5"); }).find("in [0, 1]"), std::string::npos);
  EXPECT_NE(message_of<InputError>([] { parse_policy_choice("mixed:"); }).find("in [0, 1]"), std::string::npos);
  EXPECT_NE(message_of<InputError>([] { parse_policy_choice("expret"); }).find("did you mean 'expert'?"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
