#include "dissent/simulator/ars.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/simulator/named_data.hpp"

namespace dissent {
namespace {

// The two episodes of one direction.
struct Trial {
  std::vector<double> direction;
  Episode plus;
  Episode minus;
  Normaliser seen;
};

void check_options(const ArsOptions& o) {
  check(o.num_directions > 0, "train_policy: num_directions is 0; at least one direction is needed");
  check(o.num_top_directions > 0 && o.num_top_directions <= o.num_directions,
        "train_policy: num_top_directions = {} is not in [1, num_directions = {}]", o.num_top_directions,
        o.num_directions);
  check(o.step_size > 0 && o.noise > 0, "train_policy: step_size = {} and noise = {} must be > 0", o.step_size,
        o.noise);
  check(o.clock_hz >= 0 && std::isfinite(o.clock_hz), "train_policy: clock_hz = {} must be >= 0", o.clock_hz);
  check(o.control_weight >= 0 && o.alive_weight >= 0,
        "train_policy: control_weight = {} and alive_weight = {} must be >= 0", o.control_weight, o.alive_weight);
  check(o.evaluate_every > 0 && o.num_evaluation_episodes > 0 && o.checkpoint_every > 0,
        "train_policy: evaluate_every, num_evaluation_episodes and checkpoint_every must be > 0");
  check(o.start_count > 0, "train_policy: start_count = {} must be > 0", o.start_count);
}

class Trainer {
 public:
  explicit Trainer(const ArsOptions& options)
      : options_(options),
        threads_(options.num_threads),
        training_(options.environment, {.model_file = {}, .euler = options.euler}, threads_.num_threads()),
        exact_(options.environment, {}, threads_.num_threads()),
        spec_(training_.at(0).spec()),
        num_observed_(options.num_observed > 0 ? options.num_observed : spec_.observation_size),
        num_features_(num_observed_ + num_clock_features(options.clock_hz)) {
    check(num_observed_ <= spec_.observation_size, "train_policy: num_observed = {}; {} has {} entries", num_observed_,
          spec_.name, spec_.observation_size);
    restore();
    if (finished()) {
      TrainProgress untold;
      evaluate_at_the_end(untold);
    }
  }

  bool finished() const { return state_.iteration >= options_.num_iterations; }
  bool resumed() const { return resumed_; }
  const TrainState& state() const { return state_; }

  TrainProgress step() {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Trial> trials = run_trials();
    TrainProgress progress;
    std::uint64_t steps = 0;
    for (const Trial& trial : trials) {  // in order of direction, so that rounding does not depend on the threads
      state_.normaliser.merge(trial.seen);
      steps += trial.plus.num_steps + trial.minus.num_steps;
      progress.mean_return += (trial.plus.total_reward + trial.minus.total_reward) / (2.0 * trials.size());
    }
    update_weights(trials);
    state_.num_steps += steps;
    ++state_.iteration;
    check(std::isfinite(progress.mean_return) &&
              std::all_of(state_.weights.begin(), state_.weights.end(), [](double w) { return std::isfinite(w); }),
          "train_policy: after iteration {} the weights or returns are no longer finite; the step size {} or the noise "
          "{} "
          "is too large",
          state_.iteration, options_.step_size, options_.noise);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    progress.steps_per_second = static_cast<double>(steps) / elapsed.count();

    if (evaluation_is_due()) {
      evaluate(progress);
    }
    if (state_.iteration % options_.checkpoint_every == 0 || finished()) {
      save();
    }
    if (finished()) {
      evaluate_at_the_end(progress);
    }
    progress.iteration = state_.iteration;
    progress.first_iteration = first_iteration_;
    progress.best_return = state_.best_return;
    return progress;
  }

  void save() const {
    if (!options_.checkpoint_file.empty()) {
      AtomicFile file(options_.checkpoint_file);
      file.write(format_train_state(state_, options_));
      file.commit();
    }
  }

  LinearPolicyParameters current() const { return with_weights(state_.weights); }

 private:
  bool has_checkpoint() const {
    std::error_code error;
    const bool found = !options_.checkpoint_file.empty() && std::filesystem::exists(options_.checkpoint_file, error);
    check_in(options_.checkpoint_file, !error, "the checkpoint cannot be looked up: {}", error.message());
    return found;
  }

  void restore() {
    if (has_checkpoint()) {
      const std::string& file = options_.checkpoint_file;
      state_ = parse_train_state(read_text(file), options_, file);
      const LinearPolicyParameters& best = state_.best;
      check_in(file,
               state_.weights.size() == spec_.action_size() * num_features_ &&
                   state_.normaliser.mean.size() == num_observed_ &&
                   (best.num_actions == 0 ||
                    (best.num_actions == spec_.action_size() && best.num_features == num_features_)),
               "the checkpoint's sizes do not fit {}", spec_.name);
      check_in(file, state_.iteration <= options_.num_iterations,
               "this training is at iteration {} already, beyond the {} wanted; give at least as many iterations, or "
               "another file",
               state_.iteration, options_.num_iterations);
      resumed_ = true;
      first_iteration_ = state_.iteration;
      return;
    }
    state_.weights.assign(spec_.action_size() * num_features_, 0);
    state_.normaliser = Normaliser(num_observed_);
    if (!options_.start_file.empty()) {
      start_from(read_linear_policy(options_.start_file));
    }
  }

  void start_from(const LinearPolicyParameters& start) {
    check_in(options_.start_file, start.clock_hz == options_.clock_hz, "its clock runs at {} Hz, the training's at {}",
             start.clock_hz, options_.clock_hz);
    const LinearPolicy checked(start, spec_, options_.start_file);
    check_in(options_.start_file, start.num_features == num_features_, "its policy has {} features, the training's {}",
             start.num_features, num_features_);
    state_.weights = start.weights;
    Normaliser& normaliser = state_.normaliser;
    normaliser.count = options_.start_count;
    for (std::size_t k = 0; k < num_observed_; ++k) {
      normaliser.mean[k] = start.mean[k];
      const double inverse = start.inverse_stddev[k];
      normaliser.squares[k] = inverse > 0 ? (options_.start_count - 1) / (inverse * inverse) : 0;
    }
  }

  LinearPolicyParameters with_weights(std::vector<double> weights) const {
    LinearPolicyParameters p;
    p.num_actions = spec_.action_size();
    p.num_features = num_features_;
    p.clock_hz = options_.clock_hz;
    p.mean = state_.normaliser.mean;
    p.mean.resize(p.num_features, 0);  // the clock's features are bounded as they are
    p.inverse_stddev = state_.normaliser.inverse_stddev();
    p.inverse_stddev.resize(p.num_features, 1);
    p.weights = std::move(weights);
    return p;
  }

  std::vector<Trial> run_trials() {
    const std::size_t num_weights = state_.weights.size();
    std::vector<Trial> trials(options_.num_directions);
    std::vector<Normaliser> seen(2 * trials.size(), Normaliser(num_observed_));
    const std::uint64_t first_stream = state_.iteration * options_.num_directions;
    for (std::size_t k = 0; k < trials.size(); ++k) {
      trials[k].direction.resize(num_weights);
      Stream(options_.seed, Purpose::kPolicy, first_stream + k).fill_normal(trials[k].direction);
    }
    const EpisodeOptions episode_options{options_.episode_steps, options_.alive_weight, options_.control_weight};
    threads_.for_blocks(2 * trials.size(), 1, [&](std::size_t item, std::size_t, int thread) {
      Trial& trial = trials[item / 2];
      const double sign = item % 2 == 0 ? 1 : -1;
      std::vector<double> weights = state_.weights;
      for (std::size_t k = 0; k < num_weights; ++k) {
        weights[k] += sign * options_.noise * trial.direction[k];
      }
      const LinearPolicy policy(with_weights(std::move(weights)), spec_, "train_policy");
      const Stream stream(options_.seed, Purpose::kProblem, first_stream + item / 2);
      (item % 2 == 0 ? trial.plus : trial.minus) = run_episode(
          training_.at(thread), policy, stream, stream.substream(0), episode_options, [&](const Step& step) {
            seen[item].add(step.observation.first(num_observed_));
            return true;
          });
    });
    for (std::size_t k = 0; k < trials.size(); ++k) {
      trials[k].seen = std::move(seen[2 * k]);
      trials[k].seen.merge(seen[2 * k + 1]);
    }
    return trials;
  }

  void update_weights(const std::vector<Trial>& trials) {
    std::vector<std::size_t> order(trials.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto score = [&](std::size_t k) {
      return std::max(trials[k].plus.shaped_reward, trials[k].minus.shaped_reward);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
    order.resize(options_.num_top_directions);

    const double count = 2.0 * static_cast<double>(order.size());
    double mean = 0;
    for (const std::size_t k : order) {
      mean += (trials[k].plus.shaped_reward + trials[k].minus.shaped_reward) / count;
    }
    double squares = 0;
    for (const std::size_t k : order) {
      squares += std::pow(trials[k].plus.shaped_reward - mean, 2) + std::pow(trials[k].minus.shaped_reward - mean, 2);
    }
    const double stddev = std::sqrt(squares / count);
    if (!(stddev > 0)) {
      return;  // all returns are equal: there is no direction to prefer
    }
    for (const std::size_t k : order) {
      const double gain = options_.step_size / (static_cast<double>(order.size()) * stddev) *
                          (trials[k].plus.shaped_reward - trials[k].minus.shaped_reward);
      for (std::size_t w = 0; w < state_.weights.size(); ++w) {
        state_.weights[w] += gain * trials[k].direction[w];
      }
    }
  }

  bool evaluation_is_due() const { return state_.iteration % options_.evaluate_every == 0; }

  // The last policy may be the best, wherever the end falls. What this finds goes into the result but never into the
  // saved state: a training that is prolonged later must not differ from one that never ended here.
  void evaluate_at_the_end(TrainProgress& progress) {
    if (!evaluation_is_due()) {
      evaluate(progress);
    }
  }

  void evaluate(TrainProgress& progress) {
    LinearPolicyParameters candidate = current();
    const LinearPolicy policy(candidate, spec_, "train_policy");
    progress.evaluated = true;
    EvaluationOptions evaluation;
    evaluation.num_episodes = options_.num_evaluation_episodes;
    evaluation.seed = options_.seed;
    evaluation.resets = Resets::kSelection;
    progress.evaluated_return = evaluate_policy(exact_, policy, evaluation, threads_).mean_return();
    if (state_.best.num_actions == 0 || progress.evaluated_return > state_.best_return) {
      state_.best_return = progress.evaluated_return;
      state_.best = std::move(candidate);
    }
  }

  const ArsOptions& options_;
  ThreadPool threads_;
  EnvironmentPool training_;
  EnvironmentPool exact_;
  EnvironmentSpec spec_;
  std::size_t num_observed_;
  std::size_t num_features_;
  TrainState state_;
  bool resumed_ = false;
  std::size_t first_iteration_ = 0;
};

}  // namespace

void Normaliser::add(std::span<const double> values) {
  count += 1;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double before = values[k] - mean[k];
    mean[k] += before / count;
    squares[k] += before * (values[k] - mean[k]);
  }
}

void Normaliser::merge(const Normaliser& other) {
  if (other.count == 0) {
    return;
  }
  const double total = count + other.count;
  for (std::size_t k = 0; k < mean.size(); ++k) {
    const double gap = other.mean[k] - mean[k];
    mean[k] += gap * (other.count / total);
    squares[k] += other.squares[k] + gap * gap * (count * other.count / total);
  }
  count = total;
}

std::vector<double> Normaliser::inverse_stddev() const {
  constexpr double kSmallestStddev = 1e-7;
  std::vector<double> inverse(mean.size(), 1);
  if (count >= 2) {
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const double stddev = std::sqrt(squares[k] / (count - 1));
      inverse[k] = stddev > kSmallestStddev ? 1 / stddev : 0;
    }
  }
  return inverse;
}

TrainResult train_policy(const ArsOptions& options, const TrainCallback& callback) {
  check_options(options);
  Trainer trainer(options);
  bool wanted = true;
  while (wanted && !trainer.finished()) {
    const TrainProgress progress = trainer.step();
    wanted = !callback || callback(progress);
  }
  if (!wanted && !trainer.finished()) {
    trainer.save();
  }
  TrainResult result;
  const TrainState& state = trainer.state();
  result.policy = state.best.num_actions > 0 ? state.best : trainer.current();
  result.mean_return = state.best_return;
  result.num_iterations = state.iteration;
  result.num_steps = state.num_steps;
  result.resumed = trainer.resumed();
  result.finished = trainer.finished();
  return result;
}

}  // namespace dissent
