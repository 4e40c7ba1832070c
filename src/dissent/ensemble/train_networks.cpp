#include "dissent/ensemble/train_networks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "dissent/ensemble/checkpoint.hpp"
#include "dissent/ensemble/device_trainer.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr std::size_t kAutoSteps = 12'000;
constexpr std::size_t kMinAutoEpochs = 20;
constexpr std::size_t kStepsBetweenReports = 25;  // validation and snapshots cost as much as a few steps
constexpr std::size_t kDeviceSteps = 500;         // the same on a device without validation: its calls cost more
constexpr std::size_t kMostRestarts = 3;          // of a unit whose loss diverges

// The trainer's loss is per output, in scaled units and without its constant. This is what to add to D times it to get
// the loss in the user's units; for targets fitted by their logarithms that includes the mean logarithm over the rows.
double loss_constant(const Ensemble& model, const TrainingRows& rows) {
  const std::size_t D = model.num_outputs();
  const double largest = rows.weights.empty() ? 1 : std::ranges::max(rows.weights);
  double logs = 0;
  double count = 0;
  for (std::size_t k = 0; k < rows.targets.size(); ++k) {
    const double weight = rows.weights.empty() ? 1 : rows.weights[k / D] / largest;
    logs += model.columns().is_log(k % D) ? weight * std::log(rows.targets[k]) : 0;
    count += weight;
  }
  return 0.5 * static_cast<double>(D) * kLogTwoPi + model.columns().target_scaling.log_scale_sum() +
         logs * static_cast<double>(D) / count;
}

// The parameters of a unit.
struct UnitParameters {
  std::span<float> now;
  std::span<float> average;
  std::span<float> best;

  bool finite() const {
    return std::ranges::all_of(now, [](float value) { return std::isfinite(value); });
  }
  void swap_average() { std::ranges::swap_ranges(now, average); }
  void keep() { std::ranges::copy(now, best.begin()); }
  void restore() {
    std::ranges::copy(best, now.begin());
    std::ranges::copy(best, average.begin());
  }
};

// A loss this far above the first one, in nats per output, will not come down again.
bool sound(const UnitRecord& unit, double loss) {
  constexpr double kFarAbove = 50;
  return std::isfinite(loss) && (std::isnan(unit.first_loss) || loss < unit.first_loss + kFarAbove);
}

// Judges a unit after some epochs; a smaller `score` is better.
void judge(UnitRecord& unit, UnitParameters parameters, std::size_t epoch, double score, std::size_t patience) {
  if (score < unit.best_loss) {
    unit.best_loss = score;
    unit.best_epoch = epoch;
    parameters.keep();
  } else if (patience > 0 && epoch - unit.best_epoch >= patience) {
    unit.stopped_early = unit.done = true;
  }
}

double mean_of(const std::vector<UnitRecord>& units, double UnitRecord::*value) {
  double sum = 0;
  for (const UnitRecord& unit : units) {
    sum += unit.*value;
  }
  return sum / static_cast<double>(units.size());
}

// With very few rows a bootstrap sample may leave none out.
bool holds_out(const Trainer& trainer) {
  for (std::size_t u = 0; u < trainer.num_units(); ++u) {
    if (!trainer.holds_out(u)) {
      return false;
    }
  }
  return true;
}

// Runs epochs until the end, or until the caller stops it, in steps of `interval`.
class Run {
 public:
  Run(Ensemble& model, Trainer& trainer, const TrainOptions& train, double loss_constant, const FitControl& control)
      : model_(model),
        loss_constant_(loss_constant),
        trainer_(trainer),
        holds_out_(dissent::holds_out(trainer)),
        validates_(holds_out_ && train.choose_epoch),
        control_(control),
        averages_(validates_ && train.averaging > 0),
        best_(model.parameters().begin(), model.parameters().end()),
        state_{.units = std::vector<UnitRecord>(trainer.num_units()),
               .parameters = model.parameters(),
               .average = trainer.average(),
               .best = best_,
               .first_moment = trainer.first_moment(),
               .second_moment = trainer.second_moment()} {
    const std::size_t steps = trainer.steps_per_epoch();
    epochs_ = train.epochs > 0 ? train.epochs : std::max(kMinAutoEpochs, (kAutoSteps + steps - 1) / steps);
    const bool on_device = control.device != nullptr;
    interval_ = std::max<std::size_t>(1, (on_device && !validates_ ? kDeviceSteps : kStepsBetweenReports) / steps);
    patience_ = validates_ ? static_cast<std::size_t>(std::ceil(train.patience * static_cast<double>(epochs_))) : 0;
    trainer.plan_epochs(epochs_);
    if (on_device) {
      device_.emplace(*control.device, trainer, model.parameters());
    }
  }

  FitReport run(const std::string& identity) {
    FitReport report;
    if (!control_.checkpoint.empty() && read_checkpoint(control_.checkpoint, identity, state_)) {
      report.resumed_epoch = state_.epoch;
      for (std::size_t u = 0; u < state_.units.size(); ++u) {
        trainer_.set_restart(u, state_.units[u].restarts);
      }
    }
    auto saved = std::chrono::steady_clock::now();
    while (!finished() && !report.interrupted) {
      train_interval();
      report.interrupted = control_.progress && !control_.progress(progress()) && !finished();
      const auto now = std::chrono::steady_clock::now();
      if (!control_.checkpoint.empty() &&
          (report.interrupted || std::chrono::duration<double>(now - saved).count() >= control_.checkpoint_seconds)) {
        write_checkpoint(control_.checkpoint, identity, state_);
        saved = now;
      }
    }
    finish(report);
    return report;
  }

 private:
  bool finished() const { return std::ranges::all_of(state_.units, &UnitRecord::done); }

  UnitParameters parameters_of(std::size_t unit) {
    const std::span<float> now = trainer_.parameters(unit);
    const auto offset = static_cast<std::size_t>(now.data() - state_.parameters.data());
    return {now, state_.average.subspan(offset, now.size()), state_.best.subspan(offset, now.size())};
  }

  // Restarts the unit with other draws and a lower learning rate; after the last restart, keeps the best so far.
  void recover(std::size_t u, UnitParameters parameters) {
    UnitRecord& unit = state_.units[u];
    if (unit.restarts < kMostRestarts) {
      const std::size_t restarts = unit.restarts + 1;
      unit = UnitRecord{.restarts = restarts};
      trainer_.restart(u, restarts);
      parameters.keep();
      return;
    }
    unit.diverged = unit.done = true;
    parameters.restore();  // so that everything kept or saved is finite
  }

  std::size_t next_end(const UnitRecord& unit) const { return std::min(epochs_, unit.epochs_run + interval_); }

  void train_unit(std::size_t u) {
    const UnitRecord& unit = state_.units[u];
    if (!unit.done) {
      const std::size_t end = next_end(unit);
      settle(u, end, trainer_.run_epochs(u, unit.epochs_run, end, control_.executor));
    }
  }

  void train_on_device() {
    std::vector<DeviceTrainer::Stretch> stretches;
    for (std::size_t u = 0; u < state_.units.size(); ++u) {
      const UnitRecord& unit = state_.units[u];
      if (!unit.done) {
        stretches.push_back({u, unit.epochs_run, next_end(unit)});
      }
    }
    const std::vector<double> losses = device_->run(stretches);
    for (std::size_t k = 0; k < stretches.size(); ++k) {
      settle(stretches[k].unit, stretches[k].end, losses[k]);
    }
  }

  // Decides what happens to a unit whose last epoch had this loss.
  void settle(std::size_t u, std::size_t end, double loss) {
    UnitRecord& unit = state_.units[u];
    UnitParameters parameters = parameters_of(u);
    if (averages_) {
      parameters.swap_average();
    }
    const double score = validates_ && std::isfinite(loss) ? trainer_.validation_loss(u) : loss;
    unit.epochs_run = end;
    if (!sound(unit, loss) || !std::isfinite(score) || !parameters.finite()) {
      recover(u, parameters);
      return;
    }
    unit.first_loss = std::isnan(unit.first_loss) ? loss : unit.first_loss;
    unit.loss = loss;
    unit.validation_loss = validates_ ? score : unit.validation_loss;
    judge(unit, parameters, end, score, patience_);
    if (averages_) {
      parameters.swap_average();
    }
    unit.done = unit.done || end == epochs_;
  }

  void train_interval() {
    const std::size_t num_units = state_.units.size();
    if (device_) {
      train_on_device();
    } else if (control_.executor != nullptr && num_units > 1) {
      control_.executor->for_blocks(num_units, 1, [&](std::size_t u, std::size_t, int) { train_unit(u); });
    } else {
      for (std::size_t u = 0; u < num_units; ++u) {
        train_unit(u);
      }
    }
    state_.epoch = epochs_;
    for (const UnitRecord& unit : state_.units) {
      state_.epoch = unit.done ? state_.epoch : std::min(state_.epoch, unit.epochs_run);
    }
  }

  FitProgress progress() const {
    return {state_.epoch, epochs_, in_user_units(mean_of(state_.units, &UnitRecord::loss)),
            in_user_units(mean_of(state_.units, &UnitRecord::validation_loss))};
  }

  // Takes the best parameters if they are known, and reports what happened.
  void finish(FitReport& report) {
    report.epochs = epochs_;
    for (std::size_t u = 0; u < state_.units.size(); ++u) {
      UnitRecord& unit = state_.units[u];
      if (validates_) {
        parameters_of(u).restore();
        unit.validation_loss = unit.best_loss;
      } else if (unit.diverged && std::isfinite(unit.best_loss)) {
        unit.loss = unit.best_loss;
      }
      report.epochs_run = std::max(report.epochs_run, unit.epochs_run);
      report.stopped_early = report.stopped_early || unit.stopped_early;
      report.kept_epochs.push_back(validates_ || unit.diverged ? unit.best_epoch : unit.epochs_run);
      const std::size_t first = model_.networks().joint() ? 0 : u;
      const std::size_t last = model_.networks().joint() ? model_.num_components() : u + 1;
      for (std::size_t c = first; c < last; ++c) {
        if (unit.diverged) {
          report.diverged.push_back(c);
        } else if (unit.restarts > 0) {
          report.restarted.push_back(c);
        }
      }
      if (holds_out_ && !validates_) {
        unit.validation_loss = trainer_.validation_loss(u);
      }
    }
    report.loss = in_user_units(mean_of(state_.units, &UnitRecord::loss));
    report.validation_loss = holds_out_ ? in_user_units(mean_of(state_.units, &UnitRecord::validation_loss))
                                        : std::numeric_limits<double>::quiet_NaN();
  }

  double in_user_units(double loss) const { return static_cast<double>(model_.num_outputs()) * loss + loss_constant_; }

  Ensemble& model_;
  double loss_constant_;
  Trainer& trainer_;
  std::optional<DeviceTrainer> device_;
  bool holds_out_;  // there are rows to judge by ...
  bool validates_;  // ... and they are used during training
  const FitControl& control_;
  std::size_t epochs_ = 0;
  std::size_t interval_ = 1;
  std::size_t patience_ = 0;
  bool averages_;
  Block<float> best_;
  FitState state_;
};

}  // namespace

FitReport train_networks(Ensemble& model, TrainingSet data, const FitControl& control) {
  Trainer trainer(model, data.options, std::move(data.scaled), data.num_held_out, control.device != nullptr);
  Run run(model, trainer, data.options, loss_constant(model, data.rows), control);
  return run.run(control.checkpoint.empty() ? "" : fit_identity(model, data.options, data.rows));
}

}  // namespace dissent
