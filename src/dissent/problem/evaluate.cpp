#include "dissent/problem/evaluate.hpp"

#include <cmath>

namespace dissent {
namespace {

// Streams of evaluations stand apart from those of training and collection, whose indices count up from zero.
constexpr std::uint64_t kFirstEvaluationStream = std::uint64_t{1} << 62;

}  // namespace

Episode run_episode(Environment& environment, const Policy& policy, Stream reset_stream, Stream action_stream,
                    const EpisodeOptions& options, const ObservationSink& sink) {
  const EnvironmentSpec& spec = environment.spec();
  const std::size_t max_steps = options.max_steps > 0 ? options.max_steps : spec.max_steps;
  std::vector<double> observation(spec.observation_size);
  std::vector<double> action(spec.action_size());
  Episode episode;
  environment.reset(reset_stream);
  while (episode.num_steps < max_steps && !episode.terminated) {
    environment.observe(observation);
    if (sink) {
      sink(observation, episode.num_steps);
    }
    policy.act(observation, episode.num_steps, action_stream, action);
    const StepOutcome outcome = environment.step(action);
    ++episode.num_steps;
    episode.terminated = outcome.terminated;
    episode.unstable = outcome.unstable;
    if (!outcome.unstable) {
      episode.total_reward += outcome.reward;
      episode.shaped_reward += outcome.reward - (1 - options.alive_weight) * outcome.alive_bonus +
                               (1 - options.control_weight) * outcome.control_cost;
    }
  }
  return episode;
}

EnvironmentPool::EnvironmentPool(std::string name, EnvironmentOptions options, int num_threads)
    : name_(std::move(name)), options_(std::move(options)), environments_(static_cast<std::size_t>(num_threads)) {
  at(0);  // a bad name or model fails here, not inside a parallel loop
}

Environment& EnvironmentPool::at(int thread) {
  std::unique_ptr<Environment>& environment = environments_[static_cast<std::size_t>(thread)];
  if (environment == nullptr) {
    environment = make_environment(name_, options_);
  }
  return *environment;
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

Evaluation evaluate_policy(EnvironmentPool& environments, const Policy& policy, std::size_t num_episodes,
                           std::uint64_t seed, ThreadPool& threads) {
  Evaluation evaluation;
  evaluation.episodes.resize(num_episodes);
  threads.for_blocks(num_episodes, 1, [&](std::size_t begin, std::size_t, int thread) {
    const std::uint64_t index = kFirstEvaluationStream + begin;
    evaluation.episodes[begin] = run_episode(environments.at(thread), policy, Stream(seed, Purpose::kProblem, index),
                                             Stream(seed, Purpose::kPolicy, index));
  });
  return evaluation;
}

}  // namespace dissent
