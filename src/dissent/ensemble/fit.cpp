#include "dissent/ensemble/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/ensemble/choose_model.hpp"
#include "dissent/ensemble/fit_warnings.hpp"
#include "dissent/ensemble/log_targets.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/row_weights.hpp"
#include "dissent/ensemble/spread.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/ensemble/trainer.hpp"
#include "dissent/ensemble/trend.hpp"
#include "dissent/ensemble/wide_component.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void fail_value(const TrainingRows& rows, std::size_t k, double value,
                             const std::vector<std::string>& names, std::string_view rule) {
  throw InputError(Fault{.value = fmt::format("{}", value),
                         .rule = std::string(rule),
                         .column = names[k % names.size()],
                         .row = rows.row_number(k / names.size())});
}

void check_rows(const TrainingRows& rows) {
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  check(C > 0 && D > 0, "{} input columns and {} targets; at least one of each is required", C, D);
  const std::size_t num_rows = rows.inputs.size() / C;
  check(rows.inputs.size() == num_rows * C && rows.targets.size() == num_rows * D,
        "{} input values in rows of {} and {} target values in rows of {} do not make the same number of rows",
        rows.inputs.size(), C, rows.targets.size(), D);
  const auto check_finite = [&](std::span<const double> values, const std::vector<std::string>& names) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!std::isfinite(values[k])) {
        fail_value(rows, k, values[k], names, "is not a finite number");
      }
    }
  };
  check_finite(rows.inputs, rows.input_names);
  check_finite(rows.targets, rows.target_names);
  check(num_rows <= std::numeric_limits<std::uint32_t>::max(), "{} rows; at most 2^32 - 1 are allowed", num_rows);
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

// The rows in the order of training, the held-out ones last, with their scaling.
struct Prepared {
  std::size_t num_held_out = 0;
  std::vector<std::uint32_t> order;
  EnsembleColumns columns;
  ScaledRows scaled;
};

// The scaling of the training rows. The error names a column whose numbers cannot be scaled.
Scaling scaling_of(ScalingKind kind, std::span<const double> values, const std::vector<std::string>& names) {
  Scaling scaling;
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::vector<double> column;
    for (std::size_t k = c; k < values.size(); k += names.size()) {
      column.push_back(values[k]);
    }
    try {
      const Scaling own = fit_scaling(kind, column, 1);
      scaling.offset.push_back(own.offset.front());
      scaling.scale.push_back(own.scale.front());
      scaling.knee = own.knee;
    } catch (const InputError&) {
      throw InputError(Fault{.rule = "has numbers too large to scale", .column = names[c]});
    }
  }
  return scaling;
}

// Held-out rows and unscaled columns may lie too far out to compute with.
void check_range(const TrainingRows& rows, std::span<const double> values, const std::vector<std::string>& names,
                 const Scaling& scaling, std::span<const std::uint32_t> order) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t column = k % names.size();
    if (!(std::abs((values[k] - scaling.offset[column]) / scaling.scale[column]) <= kFarthestInput)) {
      fail_value(rows, order[k / names.size()] * names.size() + column, values[k], names,
                 "is too far from the other rows to compute with");
    }
  }
}

// Robust scaling bends values that lie far out, which is good for networks. A process must see how far out they are.
ScalingKind input_scaling_kind(const EnsembleOptions& options) {
  const bool bends = options.scaling == ScalingKind::kRobust && !model_kind(options.model).has_network;
  return bends ? ScalingKind::kStandard : options.scaling;
}

Prepared prepare(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
                 Executor* executor) {
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  const std::size_t num_rows = rows.inputs.size() / C;
  Prepared prepared;
  if (train.validation > 0) {
    const auto share = static_cast<std::size_t>(std::lround(train.validation * static_cast<double>(num_rows)));
    prepared.num_held_out = std::max<std::size_t>(1, share);
  }
  check(num_rows >= kMinRows, "{}; at least {} are needed to train on; give more rows", counted(num_rows, "row"),
        kMinRows);
  check(num_rows >= kMinRows + prepared.num_held_out,
        "{}, {} of them held out; at least {} must remain to train on; give more rows, or set `validation` to 0",
        counted(num_rows, "row"), prepared.num_held_out, kMinRows);
  const std::size_t num_kept = num_rows - prepared.num_held_out;
  prepared.order = split_rows(num_rows, prepared.num_held_out, options.seed);
  const std::vector<double> inputs = pick_rows(rows.inputs, C, prepared.order);
  std::vector<double> targets = pick_rows(rows.targets, D, prepared.order);
  const std::vector<std::uint8_t> logarithm = choose_logarithms(options, rows, executor);
  for (std::size_t k = 0; !logarithm.empty() && k < targets.size(); ++k) {
    targets[k] = logarithm[k % D] != 0 ? log_target(targets[k]) : targets[k];
  }
  Trend trend;
  // A line under logarithms would not be a line, and a process extrapolates in its own way.
  if (train.trend && model_kind(options.model).has_network && logarithm.empty()) {
    trend = fit_trend(std::span(inputs).first(num_kept * C), C, std::span(targets).first(num_kept * D), D);
    trend.add(inputs, 1, -1, targets);
  }
  prepared.columns = {
      rows.input_names, rows.target_names,
      scaling_of(input_scaling_kind(options), std::span(inputs).first(num_kept * C), rows.input_names),
      scaling_of(target_scaling_kind(options.scaling), std::span(targets).first(num_kept * D), rows.target_names),
      logarithm};
  check_range(rows, inputs, rows.input_names, prepared.columns.input_scaling, prepared.order);
  check_range(rows, targets, rows.target_names, prepared.columns.target_scaling, prepared.order);
  prepared.columns.trend = std::move(trend);
  prepared.columns.encoding = rows.encoding;
  prepared.scaled = {apply_scaling(prepared.columns.input_scaling, inputs),
                     apply_scaling(prepared.columns.target_scaling, targets),
                     scaled_weights(rows.weights, prepared.order, num_kept)};
  return prepared;
}

// Fits the kind of model that predicts best.
FitResult fit_chosen(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
                     const FitControl& control) {
  in_source(rows.source, [&] { check_rows(rows); });
  const auto fit_and_predict = [&](const EnsembleOptions& of_kind, const TrainOptions& short_train,
                                   const TrainingRows& kept, std::span<const double> held_inputs,
                                   std::span<const double> held_targets) {
    FitControl quiet{.executor = control.executor, .warn = false, .device = control.device};
    if (control.progress) {
      quiet.progress = [&](const FitProgress&) { return control.progress({0, 1, kNan, kNan, true}); };
    }
    const FitResult result = fit(of_kind, short_train, kept, quiet);
    if (result.report.interrupted) {
      return HeldOut{};
    }
    return HeldOut{.density = result.model.log_density(held_inputs, held_targets, control.executor),
                   .mean = predictive_mean(result.model, held_inputs, control.executor)};
  };
  const ModelChoice choice = choose_model(options, train, rows, control.networks_only || !rows.weights.empty(),
                                          fit_and_predict, control.executor);
  EnsembleOptions own = options;
  own.model = choice.model;
  FitControl last = control;
  if (choice.interrupted) {  // still fit a model, but without a checkpoint: the kind may yet change
    last.progress = [](const FitProgress&) { return false; };
    last.checkpoint.clear();
  }
  FitResult result = fit(own, train, rows, last);
  result.report.interrupted = result.report.interrupted || choice.interrupted;
  result.report.choice = choice.reason;
  return result;
}

}  // namespace

FitResult fit(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
              const FitControl& control) {
  options.check_values();
  train.check_values();
  if (!rows.weights.empty()) {
    in_source(rows.source, [&] {
      check_rows(rows);
      check_weights(rows);
    });
    if (const WeighedRows weighed(rows); weighed.changed()) {
      return fit(options, train, weighed.rows(), control);
    }
    check(options.model == Model::kAuto || model_kind(options.model).has_network,
          "rows of different weights are for networks (pne, flow); {} takes every row alike",
          model_name(options.model));
  }
  if (options.model == Model::kAuto) {
    return fit_chosen(options, train, rows, control);
  }
  Prepared prepared = in_source(rows.source, [&] {
    check_rows(rows);
    return prepare(options, train, rows, control.executor);
  });
  FitResult result{Ensemble(options, std::move(prepared.columns)), {}};
  in_source(rows.source, [&] { result.model.describe(); });  // fails now if a file cannot hold the names
  result.report = model_kind(options.model)
                      .train(result.model,
                             {train, rows, prepared.order, std::move(prepared.scaled), prepared.num_held_out}, control);
  if (train.limit_certainty) {
    if (train.calibrate_spread && model_kind(options.model).has_network) {
      const std::span<const std::uint32_t> held_out = std::span(prepared.order).last(prepared.num_held_out);
      fit_spread(result.model, rows,
                 held_out.empty() ? out_of_bag_rows(result.model.options(), prepared.order.size())
                                  : held_out_rows(held_out, result.model.num_components()),
                 control.executor);
    }
    if (train.calibrate_spread || !model_kind(options.model).has_network) {
      const std::span<const std::uint32_t> kept =
          std::span(prepared.order).first(prepared.order.size() - prepared.num_held_out);
      result.model.set_wide_component(
          wide_component(pick_rows(rows.targets, rows.target_names.size(), kept), rows.target_names.size()));
    }
    result.model.limit_certainty(rows.inputs, control.executor);
  }
  result.report.num_rows = rows.inputs.size() / rows.input_names.size() - prepared.num_held_out;
  result.report.num_validation_rows = prepared.num_held_out;
  if (control.warn && !result.report.interrupted) {
    std::ranges::move(fit_warnings(result.model, rows, control.executor), std::back_inserter(result.report.warnings));
  }
  return result;
}

}  // namespace dissent
