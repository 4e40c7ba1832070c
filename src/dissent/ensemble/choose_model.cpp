#include "dissent/ensemble/choose_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/log_targets.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/process_model.hpp"
#include "dissent/ensemble/row_copies.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kFewestRows = 20;    // with fewer, take the kind with the strongest prior
constexpr std::size_t kRaceSteps = 3000;   // of a network
constexpr std::size_t kManyColumns = 100;  // with more, a step costs more, so there are fewer steps
constexpr std::size_t kFewestSteps = 500;
constexpr double kMostNats = 10;  // the most that one row counts for or against a kind
constexpr double kClear = 2;      // standard errors
constexpr double kFar = 5;        // likewise
constexpr double kWorse = 1.1;    // times the error
constexpr std::size_t kRowsToTell = 20;
constexpr std::size_t kRowsToHope = 15;
constexpr std::uint64_t kStreamIndex = 1;  // of Purpose::kSplit; a fit's own split uses 0

struct Runner {
  Model model;
  std::vector<double> density = {};  // log density of each row held out so far
  std::vector<double> errors = {};   // absolute errors, [rows][D]
  bool worse = false;                // dropped for its errors

  // Mean log density of the first `count` rows.
  double mean(std::size_t count) const {
    return std::accumulate(density.begin(), density.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
           static_cast<double>(count);
  }
};

// The rows held out in one fold, and the others.
struct Fold {
  std::vector<double> inputs;
  std::vector<double> targets;
  std::vector<double> held_inputs;
  std::vector<double> held_targets;
  std::vector<double> weights;  // of the rows not held out; may be empty
};

// The fold in which each row is held out. Rows take the folds in turn, in this order. Copies share a fold: otherwise
// the model would have seen them.
std::vector<std::size_t> fold_numbers(std::span<const std::uint32_t> order, std::span<const std::uint32_t> first) {
  constexpr std::size_t kNone = kFolds;
  std::vector<std::size_t> fold(order.size(), kNone);
  std::size_t num_different = 0;
  for (const std::uint32_t row : order) {
    fold[first[row]] = fold[first[row]] == kNone ? num_different++ % kFolds : fold[first[row]];
  }
  std::ranges::transform(first, fold.begin(), [&](std::uint32_t row) { return fold[row]; });
  return fold;
}

// Of held-out copies only the first is kept, so they count as one row for or against a kind.
Fold make_fold(const TrainingRows& rows, std::span<const std::uint32_t> order, std::span<const std::uint32_t> first,
               std::span<const std::size_t> folds, std::size_t fold) {
  std::vector<std::uint32_t> kept;
  std::vector<std::uint32_t> held;
  for (const std::uint32_t row : order) {
    if (folds[row] != fold) {
      kept.push_back(row);
    } else if (first[row] == row) {
      held.push_back(row);
    }
  }
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  return {pick_rows(rows.inputs, C, kept), pick_rows(rows.targets, D, kept), pick_rows(rows.inputs, C, held),
          pick_rows(rows.targets, D, held),
          rows.weights.empty() ? std::vector<double>() : pick_rows(rows.weights, 1, kept)};
}

TrainOptions race_options(TrainOptions train, const TrainingRows& rows) {
  if (train.epochs == 0) {
    const std::size_t C = rows.input_names.size();
    const std::size_t n = rows.inputs.size() / C;
    const std::size_t given = train.resolved(C, rows.target_names.size(), n).batch_size.value_or(0);
    const std::size_t batch = given == 0 ? n : std::min(given, n);
    const std::size_t steps = std::max(kFewestSteps, kRaceSteps * kManyColumns / std::max(kManyColumns, C));
    train.epochs = std::max<std::size_t>(5, steps * batch / n);
  }
  return train;
}

// A mean over rows, and its standard error.
struct Advantage {
  double mean = 0;
  double error = 0;
};

Advantage over_rows(std::span<const double> gains) {
  double sum = 0;
  double squares = 0;
  for (const double gain : gains) {
    sum += gain;
    squares += gain * gain;
  }
  const auto count = static_cast<double>(gains.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean) / count)};
}

// The lead of `a` over `b` in nats per row; one row counts for at most kMostNats.
Advantage advantage(const Runner& a, const Runner& b) {
  std::vector<double> gains(a.density.size());
  std::ranges::transform(a.density, b.density, gains.begin(),
                         [](double own, double other) { return std::clamp(own - other, -kMostNats, kMostNats); });
  return over_rows(gains);
}

// How far the errors of `a` exceed kWorse times those of `b`, each output in units of b's mean error.
Advantage excess_error(const Runner& a, const Runner& b) {
  const std::size_t num_rows = a.density.size();
  const std::size_t D = a.errors.size() / num_rows;
  std::vector<double> excess(num_rows);
  for (std::size_t d = 0; d < D; ++d) {
    double mean = std::numeric_limits<double>::min();
    for (std::size_t k = d; k < a.errors.size(); k += D) {
      mean += b.errors[k] / static_cast<double>(num_rows);
    }
    for (std::size_t n = 0; n < num_rows; ++n) {
      excess[n] += (a.errors[n * D + d] - kWorse * b.errors[n * D + d]) / mean;
    }
  }
  return over_rows(excess);
}

bool is_worse(const Runner& a, const Runner& b) {
  const Advantage excess = excess_error(a, b);
  return a.density.size() >= kRowsToTell && excess.mean > kClear * excess.error;
}

// Whether `a` has beaten `b`: clearly ahead at the end, or far ahead earlier with errors that do not seem larger.
bool has_won(const Runner& a, const Runner& b, bool last) {
  const Advantage ahead = advantage(a, b);
  return last ? ahead.mean > kClear * ahead.error
              : ahead.mean > kFar * ahead.error && a.density.size() >= kRowsToTell && excess_error(a, b).mean <= 0;
}

// Whether a lead after some folds is too small to become clear after all of them: it would stay unclear even if the
// remaining folds were one standard error better than those so far.
bool is_hopeless(const Advantage& ahead, std::size_t folds_done) {
  const double share = static_cast<double>(folds_done) / static_cast<double>(kFolds);
  return ahead.mean / std::sqrt(share) + std::sqrt(1 - share) * ahead.error < kClear * ahead.error;
}

// Says how far behind the others were, over the rows that both predicted.
std::string reason_of(const Runner& best, const std::vector<Runner>& others) {
  std::vector<std::string> behind;
  for (const Runner& other : others) {
    const double mean = best.mean(other.density.size()) - other.mean(other.density.size());
    const char* const ahead = other.worse ? "ahead, but with larger errors" : "ahead, too little to tell";
    behind.push_back(fmt::format("{} {:.2g} {}", model_name(other.model), std::abs(mean), mean < 0 ? ahead : "behind"));
  }
  return fmt::format("{}: {:.4g} nats a row on {} held out in turn{}{}", model_name(best.model),
                     best.mean(best.density.size()), counted(best.density.size(), "row"), behind.empty() ? "" : "; ",
                     fmt::join(behind, ", "));
}

class Race {
 public:
  // first: the first copy of each row.
  Race(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
       std::span<const std::uint32_t> first, const FitAndPredict& fit_and_predict)
      : options_(options),
        train_(train),
        rows_(rows),
        fit_and_predict_(fit_and_predict),
        first_(first),
        order_(first.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    Stream stream(options.seed, Purpose::kSplit, kStreamIndex);
    stream.shuffle(std::span(order_));
    folds_ = fold_numbers(order_, first);
  }

  ModelChoice run(std::vector<Model> models) {
    for (const Model model : models) {
      running_.push_back({model});
    }
    for (std::size_t fold = 0; fold < kFolds && running_.size() > 1; ++fold) {
      if (!run_fold(make_fold(rows_, order_, first_, folds_, fold))) {
        const Model first = running_.front().model;
        return {first, fmt::format("{}: the comparison was interrupted", model_name(first)), true};
      }
      drop(fold + 1);
    }
    return {running_.front().model, reason_of(running_.front(), dropped_)};
  }

 private:
  // False if a fit was interrupted.
  bool run_fold(const Fold& fold) {
    TrainingRows rows{rows_.input_names, rows_.target_names, fold.inputs, fold.targets, rows_.source};
    rows.weights = fold.weights;
    for (Runner& runner : running_) {
      EnsembleOptions options = options_;
      options.model = runner.model;
      const HeldOut held =
          fit_and_predict_(options, race_options(train_, rows), rows, fold.held_inputs, fold.held_targets);
      if (held.density.empty()) {
        return false;
      }
      runner.density.insert(runner.density.end(), held.density.begin(), held.density.end());
      for (std::size_t k = 0; k < held.mean.size(); ++k) {
        runner.errors.push_back(std::abs(held.mean[k] - fold.held_targets[k]));
      }
    }
    return true;
  }

  // The first kind stays unless another is clearly ahead of it at the end, or far ahead earlier. A kind drops out if it
  // is behind once there are enough rows to tell, if its lead is too small to become clear, or if its errors are
  // clearly larger. Once the first kind is beaten, any lead counts.
  void drop(std::size_t folds_done) {
    const bool last = folds_done == kFolds;
    for (std::size_t k = running_.size(); k-- > 1;) {
      const Advantage ahead = advantage(running_[k], running_.front());
      const bool told = ahead.mean < -kClear * ahead.error || running_[k].density.size() >= kRowsToTell;
      const bool weak =
          !first_beaten_ && (last || running_[k].density.size() >= kRowsToHope) && is_hopeless(ahead, folds_done);
      running_[k].worse = is_worse(running_[k], running_.front());
      if (running_[k].worse || (ahead.mean <= 0 ? told || last : weak)) {
        out(k);
      }
    }
    if (const std::size_t best = best_winner(last); best > 0) {
      std::swap(running_[best], running_.front());
      out(best);
      first_beaten_ = true;
    }
    for (std::size_t k = running_.size(); k-- > 1;) {
      if (last || (first_beaten_ && advantage(running_[k], running_.front()).mean <= 0)) {
        out(k);
      }
    }
  }

  // The kind with the largest lead among those that have beaten the front, whatever their order; 0 if none has.
  std::size_t best_winner(bool last) const {
    std::size_t best = 0;
    double most = 0;
    for (std::size_t k = 1; k < running_.size(); ++k) {
      const double lead = advantage(running_[k], running_.front()).mean;
      if (lead > most && ((first_beaten_ && last) || has_won(running_[k], running_.front(), last))) {
        best = k;
        most = lead;
      }
    }
    return best;
  }

  void out(std::size_t k) {
    dropped_.push_back(running_[k]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(k));
  }

  EnsembleOptions options_;
  TrainOptions train_;
  const TrainingRows& rows_;
  const FitAndPredict& fit_and_predict_;
  std::span<const std::uint32_t> first_;
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> folds_;  // of each row
  std::vector<Runner> running_;
  std::vector<Runner> dropped_;
  bool first_beaten_ = false;  // the kind with the strongest prior is out
};

}  // namespace

ModelChoice choose_model(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
                         bool networks_only, const FitAndPredict& fit_and_predict, Executor* executor) {
  const std::size_t n = rows.targets.size() / rows.target_names.size();
  std::vector<Model> models;
  if (!networks_only && can_be_process(n, rows.target_names.size())) {
    models.push_back(Model::kGp);
  }
  models.insert(models.end(), {Model::kPne, Model::kFlow});
  const std::vector<std::uint32_t> first = first_copies(rows);
  std::size_t num_different = 0;
  for (std::size_t row = 0; row < n; ++row) {
    num_different += first[row] == row ? 1 : 0;
  }
  if (num_different < kFewestRows) {
    return {models.front(), fmt::format("{}: {} {} too few to compare models", model_name(models.front()),
                                        counted(num_different, num_different < n ? "different row" : "row"),
                                        num_different == 1 ? "is" : "are")};
  }
  EnsembleOptions race = options;
  const std::vector<std::uint8_t> logarithm = choose_logarithms(options, rows, executor);
  if (logarithm.empty()) {
    race.log_targets = LogTargets::kNone;
  }
  try {
    return Race(race, train, rows, first, fit_and_predict).run(models);
  } catch (const InputError& error) {
    if (error.fault().argument == "device") {
      throw;
    }
    // The rows are so far apart that some cannot be predicted from the others; the fit will say so.
    return {models.front(),
            fmt::format("{}: the rows are too far apart to compare models", model_name(models.front()))};
  }
}

}  // namespace dissent
