// The return of a policy: episodes from fresh resets, in parallel, the same to the bit on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/simulator/policy.hpp"

namespace dissent {

struct Episode {
  double total_reward = 0;
  double shaped_reward = 0;  // alive bonus and control cost weighted: what a trainer climbs
  std::size_t num_steps = 0;
  bool terminated = false;
  bool unstable = false;  // the diverged step counts in num_steps but not in the rewards
};

struct EpisodeOptions {
  std::size_t max_steps = 0;  // 0: the environment's own limit
  double alive_weight = 0;    // how much of the alive bonus shaped_reward includes
  double control_weight = 1;  // how much of the control cost shaped_reward includes
};

struct Step {
  std::span<const double> observation;  // on which the policy acted
  std::span<const double> action;
  const StepOutcome& outcome;
  std::span<const double> next_observation;
};

// Called after each step, the diverged one included; false ends the episode.
using StepSink = std::function<bool(const Step&)>;

// Runs one episode: resets from `reset_stream`, acts with `action_stream`.
Episode run_episode(Environment& environment, const Policy& policy, Stream reset_stream, Stream action_stream,
                    const EpisodeOptions& options = {}, const StepSink& sink = {});

// One environment per thread of a pool.
class EnvironmentPool {
 public:
  EnvironmentPool(const std::string& name, const EnvironmentOptions& options, int num_threads);
  Environment& at(int thread) { return *environments_[static_cast<std::size_t>(thread)]; }

 private:
  std::vector<std::unique_ptr<Environment>> environments_;
};

struct Evaluation {
  std::vector<Episode> episodes;
  double mean_return() const;
  double standard_error() const;  // of the mean; 0 for fewer than two episodes
  std::size_t num_steps() const;
};

// Which resets to use: those on which a trainer chose its best policy flatter that policy, so a report uses others.
// Both lie apart from the streams of training and collection, whose indices count up from zero. With other values a
// trained policy would not come out again bit for bit.
enum class Resets : std::uint64_t { kSelection = std::uint64_t{1} << 62, kReport = std::uint64_t{1} << 63 };

struct EvaluationOptions {
  std::size_t num_episodes = 20;
  std::uint64_t seed = 0;
  Resets resets = Resets::kReport;
  std::function<void(std::size_t episodes_done)> progress;  // from any thread, but from one at a time
};

Evaluation evaluate_policy(EnvironmentPool& environments, const Policy& policy, const EvaluationOptions& options,
                           Executor& executor);

}  // namespace dissent
