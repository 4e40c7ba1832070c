// Augmented random search (Mania, Guy and Recht 2018, version V2) for linear policies.
//
// Each iteration draws N directions d_k ~ N(0, I) in weight space, runs an episode with W + nu d_k and one with W - nu
// d_k from the same reset, keeps the b directions with the best max(r+, r-), and moves
//     W += alpha / (b sigma) sum_k (r+_k - r-_k) d_k,   sigma = stddev of the 2 b returns kept.
// Observations are normalised by the mean and stddev of all seen so far. The search climbs the return without the alive
// bonus (else standing still wins) and with a weighted control cost, and reports the plain return. Every few
// iterations, and at the end, the current policy is evaluated on fixed resets of the exact environment, and the best
// one seen is kept.
//
// Episodes depend only on (seed, iteration, direction) and are merged in order: any number of threads gives the same
// bits, and so does a run that was killed and resumed from its checkpoint, or prolonged after its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dissent/simulator/evaluate.hpp"
#include "dissent/simulator/linear_policy.hpp"

namespace dissent {

struct ArsOptions {
  std::string environment;
  std::size_t num_iterations = 200;
  std::size_t num_directions = 8;      // N
  std::size_t num_top_directions = 4;  // b <= N
  double step_size = 0.02;             // alpha
  double noise = 0.025;                // nu
  std::size_t num_observed = 0;        // the policy sees this many first entries of the observation; 0: all
  double clock_hz = 0;                 // > 0 adds clock features
  double control_weight = 1;
  double alive_weight = 0;
  bool euler = false;             // train with the faster integrator; evaluation is always exact
  std::size_t episode_steps = 0;  // 0: the environment's own limit
  std::size_t evaluate_every = 10;
  std::size_t num_evaluation_episodes = 8;
  std::string start_file;  // a policy to start from; its normaliser counts as start_count observations
  double start_count = 1e6;
  // Empty: none. An existing one is resumed; InputError if it has other settings or more iterations than wanted.
  std::string checkpoint_file;
  std::size_t checkpoint_every = 10;
  std::uint64_t seed = 0;
  int num_threads = 0;  // 0: one per core
};

// Running mean and sum of squared deviations per feature (Welford), mergeable (Chan et al.).
struct Normaliser {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  explicit Normaliser(std::size_t size = 0) : mean(size), squares(size) {}
  void add(std::span<const double> values);
  void merge(const Normaliser& other);
  // 1 / stddev; 0 where the values hardly vary, so that they are ignored; 1 before there are two values.
  std::vector<double> inverse_stddev() const;
};

struct TrainState {
  std::size_t iteration = 0;
  std::uint64_t num_steps = 0;  // simulated in training episodes
  std::vector<double> weights;  // [action][feature]
  Normaliser normaliser;        // over the entries observed, not the clock
  double best_return = 0;       // valid when best.num_actions > 0
  LinearPolicyParameters best;
};

struct TrainProgress {
  std::size_t iteration = 0;
  std::size_t first_iteration = 0;  // after which this run resumed; 0 if it did not
  double mean_return = 0;           // plain, over this iteration's training episodes
  bool evaluated = false;
  double evaluated_return = 0;
  double best_return = 0;
  double steps_per_second = 0;  // of this iteration
};

// Return false to stop after this iteration (the checkpoint is then written).
using TrainCallback = std::function<bool(const TrainProgress&)>;

struct TrainResult {
  LinearPolicyParameters policy;  // the best evaluated
  double mean_return = 0;
  std::size_t num_iterations = 0;
  std::uint64_t num_steps = 0;
  bool resumed = false;
  bool finished = false;  // false when the callback stopped it
};

TrainResult train_policy(const ArsOptions& options, const TrainCallback& callback = {});

// The checkpoint as text, every number with the digits that restore its bits. parse_train_state throws InputError when
// the text is damaged or was made with other settings.
std::string format_train_state(const TrainState& state, const ArsOptions& options);
TrainState parse_train_state(std::string_view text, const ArsOptions& options, const std::string& source);

}  // namespace dissent
