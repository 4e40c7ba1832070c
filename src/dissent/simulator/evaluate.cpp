#include "dissent/simulator/evaluate.hpp"

#include <cmath>
#include <mutex>

namespace dissent {

Episode run_episode(Environment& environment, const Policy& policy, Stream reset_stream, Stream action_stream,
                    const EpisodeOptions& options, const StepSink& sink) {
  const EnvironmentSpec& spec = environment.spec();
  const std::size_t max_steps = options.max_steps > 0 ? options.max_steps : spec.max_steps;
  std::vector<double> observation(spec.observation_size);
  std::vector<double> next_observation(spec.observation_size);
  std::vector<double> action(spec.action_size());
  Episode episode;
  environment.reset(reset_stream);
  environment.observe(observation);
  bool wanted = true;
  while (wanted && episode.num_steps < max_steps && !episode.terminated) {
    policy.act(observation, episode.num_steps, action_stream, action);
    const StepOutcome outcome = environment.step(action);
    environment.observe(next_observation);
    ++episode.num_steps;
    episode.terminated = outcome.terminated;
    episode.unstable = outcome.unstable;
    if (!outcome.unstable) {
      episode.total_reward += outcome.reward;
      episode.shaped_reward += outcome.reward - (1 - options.alive_weight) * outcome.alive_bonus +
                               (1 - options.control_weight) * outcome.control_cost;
    }
    wanted = !sink || sink({observation, action, outcome, next_observation});
    observation.swap(next_observation);
  }
  return episode;
}

// Makes all at once: a bad name or model fails here, and no parallel loop waits for a model to be compiled.
EnvironmentPool::EnvironmentPool(const std::string& name, const EnvironmentOptions& options, int num_threads) {
  for (int thread = 0; thread < num_threads; ++thread) {
    environments_.push_back(make_environment(name, options));
  }
}

double Evaluation::mean_return() const {
  double sum = 0;
  for (const Episode& episode : episodes) {
    sum += episode.total_reward;
  }
  return episodes.empty() ? 0 : sum / static_cast<double>(episodes.size());
}

double Evaluation::standard_error() const {
  if (episodes.size() < 2) {
    return 0;
  }
  const double mean = mean_return();
  double squares = 0;
  for (const Episode& episode : episodes) {
    squares += (episode.total_reward - mean) * (episode.total_reward - mean);
  }
  const double count = static_cast<double>(episodes.size());
  return std::sqrt(squares / (count - 1) / count);
}

std::size_t Evaluation::num_steps() const {
  std::size_t steps = 0;
  for (const Episode& episode : episodes) {
    steps += episode.num_steps;
  }
  return steps;
}

Evaluation evaluate_policy(EnvironmentPool& environments, const Policy& policy, const EvaluationOptions& options,
                           Executor& executor) {
  Evaluation evaluation;
  evaluation.episodes.resize(options.num_episodes);
  std::mutex mutex;
  std::size_t num_done = 0;
  executor.for_blocks(options.num_episodes, 1, [&](std::size_t episode, std::size_t, int thread) {
    const std::uint64_t index = static_cast<std::uint64_t>(options.resets) + episode;
    evaluation.episodes[episode] =
        run_episode(environments.at(thread), policy, Stream(options.seed, Purpose::kProblem, index),
                    Stream(options.seed, Purpose::kPolicy, index));
    if (options.progress) {
      const std::lock_guard lock(mutex);
      options.progress(++num_done);
    }
  });
  return evaluation;
}

}  // namespace dissent
