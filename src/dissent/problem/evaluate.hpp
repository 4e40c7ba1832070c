// The return of a policy: episodes from fresh resets, in parallel, the same to the bit on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dissent/base/threads.hpp"
#include "dissent/problem/policy.hpp"

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

// Called with each observation on which the policy acts.
using ObservationSink = std::function<void(std::span<const double> observation, std::size_t step)>;

// Runs one episode: resets from `reset_stream`, acts with `action_stream`.
Episode run_episode(Environment& environment, const Policy& policy, Stream reset_stream, Stream action_stream,
                    const EpisodeOptions& options = {}, const ObservationSink& sink = {});

// One environment per thread of a pool, made when first used.
class EnvironmentPool {
 public:
  EnvironmentPool(std::string name, EnvironmentOptions options, int num_threads);
  Environment& at(int thread);

 private:
  std::string name_;
  EnvironmentOptions options_;
  std::vector<std::unique_ptr<Environment>> environments_;
};

struct Evaluation {
  std::vector<Episode> episodes;
  double mean_return() const;
  double standard_error() const;  // of the mean; 0 for fewer than two episodes
  std::size_t num_steps() const;
};

Evaluation evaluate_policy(EnvironmentPool& environments, const Policy& policy, std::size_t num_episodes,
                           std::uint64_t seed, ThreadPool& threads);

}  // namespace dissent
