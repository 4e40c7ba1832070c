// Collection: rows of experience (state, action, reward, next state) from an environment and a policy.
//
// A row is one step. Episodes are numbered; episode k draws its reset and its actions from streams named only by (seed,
// part, k). The rows are those of episodes 0, 1, 2, ... in order, cut at the number asked for. So the same seed gives
// the same bits on any number of threads. An episode whose simulation diverges ends before the step that diverged,
// which is counted but never stored. Values are float32, as in D4RL.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/simulator/environment.hpp"

namespace dissent {

// Row-major arrays; the last row of an episode has terminal (fell) or timeout (cut off) set, all others neither.
struct Transitions {
  std::size_t num_rows = 0;
  std::size_t observation_size = 0;
  std::size_t action_size = 0;
  std::vector<float> observations;       // [num_rows][observation_size]
  std::vector<float> actions;            // [num_rows][action_size]
  std::vector<float> rewards;            // [num_rows]
  std::vector<float> next_observations;  // [num_rows][observation_size]
  std::vector<std::uint8_t> terminals;   // [num_rows]
  std::vector<std::uint8_t> timeouts;    // [num_rows]
  std::vector<std::uint8_t> expert;      // [num_rows], 1 where the expert acted
  std::size_t num_episodes = 0;          // that gave at least one row
  std::size_t num_unstable = 0;          // episodes that diverged, among those used
  std::string environment;
  std::string model;         // as in EnvironmentSpec
  std::string model_digest;  // as in EnvironmentSpec
  std::string policy;
  std::string policy_digest;  // of the expert's, as in Policy::digest(); empty if no row is the expert's
  std::uint64_t seed = 0;

  void append(const Transitions& other, std::size_t max_rows);

  // The rows named by `order`, in that order; empty arrays stay empty. Counts of episodes are not kept.
  Transitions select(std::span<const std::size_t> order) const;
};

// What share of the rows comes from the expert: "random" 0, "expert" 1, "mixed:0.1" 0.1. A file name means the rows
// come from that linear policy.
struct PolicyChoice {
  std::string text;
  double expert_share = 0;
  std::string file;  // the expert's policy; empty for the one shipped
};
PolicyChoice parse_policy_choice(std::string_view text);

struct CollectOptions {
  std::string environment;  // or a variant of one
  EnvironmentOptions environment_options;
  PolicyChoice policy;
  std::size_t num_rows = 0;
  std::uint64_t seed = 0;
  std::uint64_t part = 0;  // collections with the same seed and different parts (< 2^14) share no episode
  int num_threads = 0;
  std::function<void(std::size_t rows_done)>
      progress;  // called on the calling thread, never more often than once a wave
};

// Random rows first, then the expert's: num_expert_rows of them.
std::size_t num_expert_rows(double expert_share, std::size_t num_rows);  // exactly round(expert_share * num_rows)
Transitions collect(const CollectOptions& options);

}  // namespace dissent
