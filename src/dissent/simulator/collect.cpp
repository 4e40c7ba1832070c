#include "dissent/simulator/collect.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/simulator/evaluate.hpp"
#include "dissent/simulator/named_data.hpp"
#include "dissent/simulator/policy.hpp"
#include "dissent/simulator/variant.hpp"

namespace dissent {
namespace {

constexpr std::size_t kEpisodesPerThread = 8;  // in a wave: enough to keep threads busy, few to waste at the end
constexpr std::size_t kMaxFruitlessEpisodes = 1000;

Transitions empty_transitions(const EnvironmentSpec& spec) {
  Transitions rows;
  rows.observation_size = spec.observation_size;
  rows.action_size = spec.action_size();
  rows.environment = spec.name;
  rows.model = spec.model;
  rows.model_digest = spec.model_digest;
  return rows;
}

void append_floats(std::vector<float>& out, std::span<const double> values) {
  for (const double value : values) {
    out.push_back(static_cast<float>(value));
  }
}

bool representable(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(static_cast<float>(x)); });
}

// One episode as rows.
Transitions collect_episode(Environment& environment, const Policy& policy, bool is_expert, Stream reset_stream,
                            Stream action_stream) {
  Transitions rows = empty_transitions(environment.spec());
  run_episode(environment, policy, reset_stream, action_stream, {}, [&rows, is_expert](const Step& step) {
    if (step.outcome.unstable || !representable(step.next_observation)) {
      rows.num_unstable = 1;
      return false;
    }
    append_floats(rows.observations, step.observation);
    append_floats(rows.actions, step.action);
    append_floats(rows.next_observations, step.next_observation);
    rows.rewards.push_back(static_cast<float>(step.outcome.reward));
    rows.terminals.push_back(step.outcome.terminated ? 1 : 0);
    rows.timeouts.push_back(0);
    rows.expert.push_back(is_expert ? 1 : 0);
    ++rows.num_rows;
    return true;
  });
  if (rows.num_rows > 0) {
    rows.num_episodes = 1;
    rows.timeouts.back() = rows.terminals.back() != 0 ? 0 : 1;
  }
  return rows;
}

struct Section {
  const Policy& policy;
  bool is_expert;
  std::uint64_t first_stream;
  std::size_t num_rows;
};

// Runs waves of episodes until the section is full. How many episodes a wave has depends on the threads; which rows
// come out does not, because episodes are appended in order and what is left over is dropped.
void collect_section(const Section& section, const CollectOptions& options, EnvironmentPool& environments,
                     Executor& executor, Transitions& out) {
  const std::size_t end_rows = out.num_rows + section.num_rows;
  std::size_t episode = 0;
  std::size_t fruitless = 0;
  double mean_length = static_cast<double>(environments.at(0).spec().max_steps);
  std::size_t rows_seen = 0;
  while (out.num_rows < end_rows) {
    const double missing = static_cast<double>(end_rows - out.num_rows);
    const std::size_t wave = std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(missing / mean_length)), 1,
                                                     kEpisodesPerThread * executor.num_threads());
    std::vector<Transitions> episodes(wave);
    executor.for_blocks(wave, 1, [&](std::size_t k, std::size_t, int thread) {
      const std::uint64_t index = section.first_stream + episode + k;
      episodes[k] = collect_episode(environments.at(thread), section.policy, section.is_expert,
                                    Stream(options.seed, Purpose::kProblem, index),
                                    Stream(options.seed, Purpose::kPolicy, index));
    });
    for (const Transitions& rows : episodes) {
      fruitless = rows.num_rows > 0 ? 0 : fruitless + 1;
      rows_seen += rows.num_rows;
      if (out.num_rows < end_rows) {
        out.append(rows, end_rows - out.num_rows);
      }
    }
    check(fruitless < kMaxFruitlessEpisodes,
          "collect: {} episodes of {} in a row diverged at their first step; the model is unstable", fruitless,
          options.environment);
    episode += wave;
    mean_length = std::max(1.0, static_cast<double>(rows_seen) / static_cast<double>(episode));
    if (options.progress) {
      options.progress(out.num_rows);
    }
  }
}

}  // namespace

void Transitions::append(const Transitions& other, std::size_t max_rows) {
  const std::size_t count = std::min(other.num_rows, max_rows);
  num_unstable += other.num_unstable;
  if (count == 0) {
    return;
  }
  const auto extend = [count](auto& to, const auto& from, std::size_t width) {
    to.insert(to.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count * width));
  };
  extend(observations, other.observations, observation_size);
  extend(actions, other.actions, action_size);
  extend(rewards, other.rewards, 1);
  extend(next_observations, other.next_observations, observation_size);
  extend(terminals, other.terminals, 1);
  extend(timeouts, other.timeouts, 1);
  extend(expert, other.expert, 1);
  if (terminals.back() == 0) {
    timeouts.back() = 1;  // the cut makes this row its episode's last
  }
  num_rows += count;
  num_episodes += other.num_episodes;
}

Transitions Transitions::select(std::span<const std::size_t> order) const {
  Transitions out;
  out.observation_size = observation_size;
  out.action_size = action_size;
  out.num_rows = order.size();
  const auto pick = [&order](auto& to, const auto& source, std::size_t width) {
    if (source.empty()) {
      return;
    }
    to.reserve(order.size() * width);
    for (const std::size_t row : order) {
      const auto begin = source.begin() + static_cast<std::ptrdiff_t>(row * width);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  };
  pick(out.observations, observations, observation_size);
  pick(out.actions, actions, action_size);
  pick(out.rewards, rewards, 1);
  pick(out.next_observations, next_observations, observation_size);
  pick(out.terminals, terminals, 1);
  pick(out.timeouts, timeouts, 1);
  pick(out.expert, expert, 1);
  return out;
}

PolicyChoice parse_policy_choice(std::string_view text) {
  PolicyChoice choice;
  choice.text = text;
  if (text.starts_with("mixed:")) {
    const std::string_view share = text.substr(6);
    choice.expert_share = parse_number(share).value_or(-1);
    check(choice.expert_share >= 0 && choice.expert_share <= 1,
          "policy \"{}\": \"{}\" is not a share of expert rows in [0, 1]", text, share);
  } else if (is_path("policy", text, {"random", "expert", "mixed:0.1"})) {
    choice.expert_share = 1;
    choice.file = text;
  } else {
    choice.expert_share = text == "expert" ? 1 : 0;
  }
  return choice;
}

std::size_t num_expert_rows(double expert_share, std::size_t num_rows) {
  return static_cast<std::size_t>(std::llround(expert_share * static_cast<double>(num_rows)));
}

Transitions collect(const CollectOptions& options) {
  check(options.part < (1U << 14), "collect: part = {} must be below 2^14", options.part);
  ThreadPool threads(options.num_threads);
  const Variant& variant = find_variant(options.environment);
  EnvironmentPool environments(variant.environment, options.environment_options, threads.num_threads());
  const EnvironmentSpec& spec = environments.at(0).spec();
  Transitions rows = empty_transitions(spec);
  rows.environment = variant.name;
  rows.policy = options.policy.text;
  rows.seed = options.seed;
  rows.observations.reserve(options.num_rows * rows.observation_size);
  rows.next_observations.reserve(options.num_rows * rows.observation_size);
  rows.actions.reserve(options.num_rows * rows.action_size);

  const std::size_t num_expert = num_expert_rows(options.policy.expert_share, options.num_rows);
  const std::uint64_t first_stream = options.part << 48;
  if (num_expert < options.num_rows) {
    const UniformPolicy random(spec);
    collect_section({random, false, first_stream, options.num_rows - num_expert}, options, environments, threads, rows);
  }
  if (num_expert > 0) {
    const auto expert = make_expert(variant, spec, options.policy.file);
    rows.policy_digest = expert->digest();
    constexpr std::uint64_t kExpertStreams = std::uint64_t{1} << 47;
    EnvironmentPool its_own(variant.environment, expert_environment(variant, options.environment_options),
                            threads.num_threads());
    collect_section({*expert, true, first_stream + kExpertStreams, num_expert}, options, its_own, threads, rows);
  }
  return rows;
}

}  // namespace dissent
