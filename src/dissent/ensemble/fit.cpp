#include "dissent/ensemble/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/trainer.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr std::size_t kAutoSteps = 12'000;
constexpr std::size_t kMinAutoEpochs = 20;
constexpr std::size_t kStepsBetweenReports = 25;  // validation and snapshots cost as much as a few steps

// The loss of the trainer is per output, in scaled units and without its constant.
double loss_in_user_units(double loss, const Ensemble& model) {
  const auto D = static_cast<double>(model.num_outputs());
  return D * (loss + 0.5 * kLogTwoPi) + model.columns().target_scaling.log_scale_sum();
}

void check_rows(const TrainingRows& rows) {
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  check(C > 0 && D > 0, "fit: {} inputs and {} targets; at least one of each is required", C, D);
  const std::size_t num_rows = rows.inputs.size() / C;
  check(rows.inputs.size() == num_rows * C && rows.targets.size() == num_rows * D,
        "fit: {} input values in rows of {} and {} target values in rows of {} do not make the same number of rows",
        rows.inputs.size(), C, rows.targets.size(), D);
  const auto check_finite = [](std::span<const double> values, const std::vector<std::string>& names) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      check(std::isfinite(values[k]), "fit: row {} column '{}' is {}; numbers must be finite", k / names.size() + 1,
            names[k % names.size()], values[k]);
    }
  };
  check_finite(rows.inputs, rows.input_names);
  check_finite(rows.targets, rows.target_names);
  check(num_rows <= std::numeric_limits<std::uint32_t>::max(), "fit: {} rows; at most 2^32 - 1 are allowed", num_rows);
}

// Row numbers, the held-out ones last.
std::vector<std::uint32_t> split_rows(std::size_t num_rows, std::size_t num_held_out, std::uint64_t seed) {
  std::vector<std::uint32_t> order(num_rows);
  std::iota(order.begin(), order.end(), 0U);
  if (num_held_out > 0) {
    Stream stream(seed, Purpose::kSplit);
    stream.shuffle(std::span(order));
    std::sort(order.begin(), order.end() - static_cast<std::ptrdiff_t>(num_held_out));
  }
  return order;
}

std::vector<double> take_rows(std::span<const double> matrix, std::size_t num_columns,
                              std::span<const std::uint32_t> chosen) {
  std::vector<double> out;
  out.reserve(chosen.size() * num_columns);
  for (const std::uint32_t row : chosen) {
    const std::span<const double> from = matrix.subspan(row * num_columns, num_columns);
    out.insert(out.end(), from.begin(), from.end());
  }
  return out;
}

// Best parameters so far of one unit: what is trained, stopped and restored as a whole. A unit is a component of pne,
// or all of a flow ensemble.
struct Unit {
  std::span<float> parameters;
  Block<float> best;
  double first_loss = std::numeric_limits<double>::quiet_NaN();
  double best_loss = std::numeric_limits<double>::infinity();
  double loss = 0;
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  std::size_t best_epoch = 0;
  std::size_t epochs_run = 0;
  bool done = false;
  bool stopped_early = false;
  bool diverged = false;

  explicit Unit(std::span<float> values) : parameters(values), best(values.begin(), values.end()) {}

  bool finite() const {
    return std::ranges::all_of(parameters, [](float value) { return std::isfinite(value); });
  }

  // After some epochs; `score` is what is to become small.
  void judge(std::size_t epoch, double score, std::size_t patience) {
    constexpr double kFarAbove = 50;  // nats per output above the first loss: no such start is that bad
    epochs_run = epoch;
    if (std::isnan(first_loss)) {
      first_loss = loss;
    }
    if (!std::isfinite(loss) || !std::isfinite(score) || !(loss < first_loss + kFarAbove) || !finite()) {
      diverged = done = true;
      return;
    }
    if (score < best_loss) {
      best_loss = score;
      best_epoch = epoch;
      std::ranges::copy(parameters, best.begin());
    } else if (patience > 0 && epoch - best_epoch >= patience) {
      stopped_early = done = true;
    }
  }

  void restore() { std::ranges::copy(best, parameters.begin()); }
};

std::vector<Unit> make_units(Ensemble& model) {
  std::vector<Unit> units;
  if (model.flow() != nullptr) {
    units.emplace_back(model.parameters());
    return units;
  }
  for (const Mlp& component : model.stack().components) {
    units.emplace_back(component.range(model.parameters()));
  }
  return units;
}

double mean_of(const std::vector<Unit>& units, double Unit::*value) {
  double sum = 0;
  for (const Unit& unit : units) {
    sum += unit.*value;
  }
  return sum / static_cast<double>(units.size());
}

}  // namespace

FitResult fit(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
              const FitControl& control) {
  options.check_values();
  train.check_values();
  check_rows(rows);
  const std::size_t num_rows = rows.inputs.size() / rows.input_names.size();
  const std::size_t num_held_out =
      train.validation > 0
          ? std::max<std::size_t>(
                1, static_cast<std::size_t>(std::lround(train.validation * static_cast<double>(num_rows))))
          : 0;
  check(num_rows >= kMinRows + num_held_out, "fit: {} rows, {} of them held out; at least {} must remain to train on",
        num_rows, num_held_out, kMinRows);
  const std::vector<std::uint32_t> order = split_rows(num_rows, num_held_out, options.seed);
  const std::span<const std::uint32_t> kept = std::span(order).first(num_rows - num_held_out);
  const std::span<const std::uint32_t> held_out = std::span(order).last(num_held_out);
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  const std::vector<double> inputs = take_rows(rows.inputs, C, kept);
  const std::vector<double> targets = take_rows(rows.targets, D, kept);
  EnsembleColumns columns{rows.input_names, rows.target_names, fit_scaling(options.scaling, inputs, C),
                          fit_scaling(options.scaling, targets, D)};

  FitResult result{Ensemble(options, columns), {}};
  Ensemble& model = result.model;
  Trainer trainer(model, train,
                  {apply_scaling(columns.input_scaling, inputs), apply_scaling(columns.target_scaling, targets)},
                  {apply_scaling(columns.input_scaling, take_rows(rows.inputs, C, held_out)),
                   apply_scaling(columns.target_scaling, take_rows(rows.targets, D, held_out))});
  const std::size_t steps = trainer.steps_per_epoch();
  const std::size_t epochs =
      train.epochs > 0 ? train.epochs : std::max(kMinAutoEpochs, (kAutoSteps + steps - 1) / steps);
  trainer.plan_epochs(epochs);
  const std::size_t interval = std::max<std::size_t>(1, kStepsBetweenReports / steps);
  const std::size_t patience =
      num_held_out == 0 ? 0 : static_cast<std::size_t>(std::ceil(train.patience * static_cast<double>(epochs)));

  std::vector<Unit> units = make_units(model);
  for (std::size_t epoch = 0; epoch < epochs; epoch += interval) {
    const std::size_t end = std::min(epochs, epoch + interval);
    const auto train_unit = [&](std::size_t u) {
      Unit& unit = units[u];
      if (unit.done) {
        return;
      }
      unit.loss = trainer.run_epochs(u, epoch, end, control.pool);
      if (num_held_out > 0 && std::isfinite(unit.loss)) {
        unit.validation_loss = trainer.validation_loss(u);
      }
      unit.judge(end, num_held_out > 0 && std::isfinite(unit.loss) ? unit.validation_loss : unit.loss, patience);
    };
    if (control.pool != nullptr && units.size() > 1) {
      control.pool->for_blocks(units.size(), 1, [&](std::size_t u, std::size_t, int) { train_unit(u); });
    } else {
      for (std::size_t u = 0; u < units.size(); ++u) {
        train_unit(u);
      }
    }
    if (control.progress) {
      control.progress({end, epochs, loss_in_user_units(mean_of(units, &Unit::loss), model),
                        loss_in_user_units(mean_of(units, &Unit::validation_loss), model)});
    }
    if (std::ranges::all_of(units, &Unit::done)) {
      break;
    }
  }

  FitReport& report = result.report;
  report.num_rows = kept.size();
  report.num_validation_rows = num_held_out;
  report.epochs = epochs;
  for (std::size_t u = 0; u < units.size(); ++u) {
    Unit& unit = units[u];
    if (num_held_out > 0 || unit.diverged) {
      unit.restore();
      unit.validation_loss = num_held_out > 0 ? unit.best_loss : unit.validation_loss;
      unit.loss = unit.diverged && num_held_out == 0 ? unit.best_loss : unit.loss;
    }
    report.epochs_run = std::max(report.epochs_run, unit.epochs_run);
    report.stopped_early = report.stopped_early || unit.stopped_early;
    const std::size_t members = units.size() == 1 && model.flow() != nullptr ? model.num_components() : 1;
    for (std::size_t c = 0; unit.diverged && c < members; ++c) {
      report.diverged.push_back(members > 1 ? c : u);
    }
  }
  report.loss = loss_in_user_units(mean_of(units, &Unit::loss), model);
  report.validation_loss = num_held_out > 0 ? loss_in_user_units(mean_of(units, &Unit::validation_loss), model)
                                            : std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace dissent
