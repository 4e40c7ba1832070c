#include "dissent/ensemble/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/special.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/process_model.hpp"
#include "dissent/ensemble/row_blocks.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

void check_columns(const EnsembleColumns& columns) {
  const std::size_t C = columns.inputs.size();
  const std::size_t D = columns.targets.size();
  check(C > 0 && D > 0, "{} input columns and {} targets; at least one of each is required", C, D);
  columns.input_scaling.check_values("input_scaling");
  columns.target_scaling.check_values("target_scaling");
  columns.trend.check_values(C, D);
  check(columns.input_scaling.num_columns() == C && columns.target_scaling.num_columns() == D,
        "scaling of {} input columns and {} targets for {} and {}", columns.input_scaling.num_columns(),
        columns.target_scaling.num_columns(), C, D);
  check(columns.encoding.columns.empty() || columns.encoding.features() == columns.inputs,
        "the inputs are not those that its columns are made into");
  check(columns.logarithm.empty() || columns.logarithm.size() == D, "{} logarithms for {} targets",
        columns.logarithm.size(), D);
}

[[noreturn]] void fail_value(std::string_view source, std::size_t row, const std::string& column, double value,
                             std::string_view rule) {
  throw InputError(Fault{.source = std::string(source),
                         .value = fmt::format("{}", value),
                         .rule = std::string(rule),
                         .column = column,
                         .row = row});
}

void check_finite_rows(std::span<const double> values, std::span<const std::string> names) {
  if (all_finite(values)) {
    return;
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k])) {
      fail_value("", k / names.size(), names[k % names.size()], values[k], "is not a finite number");
    }
  }
}

}  // namespace

EnsembleOptions Ensemble::checked(EnsembleOptions options, const EnsembleColumns& columns) {
  options.check_values();
  check_columns(columns);
  check_argument(options.model != Model::kAuto, "model", "auto",
                 "only a fit can choose; name the kind of the ensemble");
  options.num_components = options.components();
  options.bootstrap = options.bootstrap && !options.share_weights;
  options.own_initial_weights = options.own_initial_weights && !options.share_weights;
  return options;
}

TableEncoding Ensemble::table_encoding() const {
  TableEncoding encoding = columns_.encoding;
  if (encoding.columns.empty()) {
    const Scaling& scaling = columns_.input_scaling;
    const bool to_unit_interval =
        options_.scaling == ScalingKind::kMinMax || (options_.scaling == ScalingKind::kRobust && has_networks());
    for (std::size_t c = 0; c < columns_.inputs.size(); ++c) {
      encoding.columns.push_back(
          {.column = columns_.inputs[c], .fill = scaling.offset[c] + (to_unit_interval ? scaling.scale[c] / 2 : 0)});
    }
  }
  return encoding;
}

Ensemble::Ensemble(EnsembleOptions options, EnsembleColumns columns, ModelParts parts)
    : options_(std::move(options)),
      columns_(std::move(columns)),
      weights_(Weights::from(options_.weights, options_.num_components)),
      parts_(std::move(parts)),
      written_by_(kVersion) {}

Ensemble::Ensemble(EnsembleOptions options, EnsembleColumns columns)
    : options_(checked(std::move(options), columns)),
      columns_(std::move(columns)),
      weights_(Weights::from(options_.weights, options_.num_components)),
      parts_(model_kind(options_.model).make(options_, columns_)),
      written_by_(kVersion) {}

Ensemble::Ensemble(EnsembleOptions options, EnsembleColumns columns, std::vector<Mask> masks,
                   std::vector<Permutation> permutations)
    : options_(checked(std::move(options), columns)),
      columns_(std::move(columns)),
      weights_(Weights::from(options_.weights, options_.num_components)),
      parts_(assemble_networks(options_, columns_, std::move(masks), std::move(permutations))),
      written_by_(kVersion) {}

std::size_t Ensemble::num_components() const { return parts_.components->num_components(); }

bool Ensemble::has_networks() const { return dynamic_cast<const NetworkModel*>(parts_.components.get()) != nullptr; }

bool Ensemble::has_posterior() const {
  const auto* const process = dynamic_cast<const ProcessModel*>(parts_.components.get());
  return process != nullptr && process->is_fitted();
}

std::span<float> Ensemble::parameters() { return networks().parameters(); }

std::span<const float> Ensemble::parameters() const { return std::as_const(*parts_.components).parameters(); }

NetworkModel& Ensemble::networks() {
  auto* const networks = dynamic_cast<NetworkModel*>(parts_.components.get());
  check(networks != nullptr, "the components of model '{}' are not networks", model_name(options_.model));
  return *networks;
}

const NetworkModel& Ensemble::networks() const {
  const auto* const networks = dynamic_cast<const NetworkModel*>(parts_.components.get());
  check(networks != nullptr, "the components of model '{}' are not networks", model_name(options_.model));
  return *networks;
}

ProcessModel& Ensemble::process() {
  auto* const process = dynamic_cast<ProcessModel*>(parts_.components.get());
  check(process != nullptr, "the components of model '{}' are not processes", model_name(options_.model));
  return *process;
}

const ProcessModel& Ensemble::process() const {
  const auto* const process = dynamic_cast<const ProcessModel*>(parts_.components.get());
  check(process != nullptr, "the components of model '{}' are not processes", model_name(options_.model));
  return *process;
}

const MlpStack& Ensemble::stack() const { return networks().stack(); }
std::size_t Ensemble::flow_begin() const { return networks().flow_begin(); }

std::size_t Ensemble::check_inputs(std::span<const double> inputs) const {
  check(inputs.size() % num_input_columns() == 0, "{} input values do not make rows of {}", inputs.size(),
        num_input_columns());
  check_rows(inputs, "");
  return inputs.size() / num_input_columns();
}

void Ensemble::check_rows(std::span<const double> inputs, std::string_view source, const RowNumber& row_number) const {
  const std::size_t C = num_input_columns();
  const Scaling& scaling = columns_.input_scaling;
  const auto usable = [&](std::size_t column, double value) {  // also false for a value that is not finite
    return std::abs((value - scaling.offset[column]) / scaling.scale[column]) <= kFarthestInput;
  };
  bool all_usable = true;
  for (std::size_t begin = 0; begin + C <= inputs.size(); begin += C) {
    for (std::size_t c = 0; c < C; ++c) {
      all_usable &= usable(c, inputs[begin + c]);
    }
  }
  if (all_usable) {
    return;
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!usable(k % C, inputs[k])) {
      fail_value(
          source, row_number ? row_number(k / C) : k / C, columns_.inputs[k % C], inputs[k],
          std::isfinite(inputs[k]) ? "is too far from the rows of the fit to compute with" : "is not a finite number");
    }
  }
}

void Ensemble::limit_certainty(std::span<const double> inputs, Executor* executor) {
  check_inputs(inputs);
  parts_.components->limit_certainty(columns_.input_scaling, inputs, executor);
}

void Ensemble::set_wide_component(WideComponent wide) {
  wide.check_values(num_outputs());
  wide_ = std::move(wide);
}

void Ensemble::scale_spread(std::span<const double> factors) {
  const std::size_t D = num_outputs();
  check(factors.size() == D, "{} spread factors for {} outputs", factors.size(), D);
  for (const double factor : factors) {
    check(factor > 0 && std::isfinite(factor), "spread factor {} is not finite and > 0", factor);
  }
  std::vector<double> of_base;
  for (const std::size_t target : output_map().targets_of_base()) {
    of_base.push_back(factors[target]);
  }
  parts_.components->scale_spread(of_base);
  spread_factors_.resize(D, 1.0);
  for (std::size_t d = 0; d < D; ++d) {
    spread_factors_[d] *= factors[d];
  }
}

Mixture<double> Ensemble::predict(std::span<const double> inputs, Executor* executor) const {
  const std::size_t num_rows = check_inputs(inputs);
  const std::size_t row = num_components() * num_outputs();
  Mixture<double> mixture = Mixture<double>::diagonal(num_rows, num_components(), num_outputs());
  mixture.space = output_map().is_identity() ? Space::kOutput : Space::kBase;
  mixture.weights = weights_;
  const ComponentModel& components = *parts_.components;
  for_row_blocks(
      columns_.input_scaling, inputs, executor, [&] { return components.make_scratch(); },
      [&](const RowBlock& rows, std::unique_ptr<ComponentModel::Scratch>& scratch) {
        const std::span<double> mean = std::span(mixture.mean).subspan(rows.begin * row, rows.count * row);
        components.predict(rows, output_map().base_units(), *scratch, mean,
                           std::span(mixture.stddev).subspan(rows.begin * row, rows.count * row));
        if (mixture.space == Space::kOutput) {
          columns_.trend.add(rows.inputs, num_components(), 1, mean);
        }
      });
  return mixture;
}

void Ensemble::predict_base(std::span<const double> inputs, Mixture<float>& base, Executor* executor) const {
  const std::size_t row = num_components() * num_outputs();
  base.num_inputs = check_inputs(inputs);
  base.num_components = num_components();
  base.num_outputs = num_outputs();
  base.mean.resize(base.num_inputs * row);
  base.stddev.resize(base.num_inputs * row);
  base.covariance.clear();
  base.space = Space::kBase;
  base.weights = weights_;
  const ComponentModel& components = *parts_.components;
  for_row_blocks(
      columns_.input_scaling, inputs, executor, [&] { return components.make_scratch(); },
      [&](const RowBlock& rows, std::unique_ptr<ComponentModel::Scratch>& scratch) {
        components.predict(rows, *scratch, std::span(base.mean).subspan(rows.begin * row, rows.count * row),
                           std::span(base.stddev).subspan(rows.begin * row, rows.count * row));
      });
}

void Ensemble::to_base(std::span<const double> inputs, std::span<const double> outputs, std::span<double> base,
                       std::span<double> log_det, Executor* executor) const {
  const std::size_t num_rows = check_inputs(inputs);
  const std::size_t D = num_outputs();
  check(outputs.size() == num_rows * D && base.size() == outputs.size() && log_det.size() == num_rows,
        "{} outputs, {} base values and {} log-determinants for {} rows of {}", outputs.size(), base.size(),
        log_det.size(), num_rows, D);
  check_finite_rows(outputs, columns_.targets);
  if (output_map().is_identity()) {
    std::ranges::copy(outputs, base.begin());
    std::ranges::fill(log_det, 0.0);
    return;
  }
  for_row_blocks(
      columns_.input_scaling, inputs, executor, [&] { return OutputMap::Scratch(output_map(), parameters()); },
      [&](const RowBlock& rows, OutputMap::Scratch& scratch) {
        const std::span<double> own = base.subspan(rows.begin * D, rows.count * D);
        std::ranges::copy(outputs.subspan(rows.begin * D, rows.count * D), own.begin());
        columns_.trend.add(rows.inputs, 1, -1, own);
        output_map().to_base(rows.scaled, own, own, log_det.subspan(rows.begin, rows.count), scratch);
      });
}

void Ensemble::carry(std::span<const double> inputs, std::size_t points_per_input, std::span<const double> base,
                     std::span<double> outputs, std::span<double> log_det, Executor* executor) const {
  const std::size_t D = num_outputs();
  const std::size_t num_points = check_inputs(inputs) * points_per_input;
  check(base.size() == num_points * D && outputs.size() == base.size() &&
            (log_det.empty() || log_det.size() == num_points),
        "{} base values, {} outputs and {} log-determinants for {} points of {}", base.size(), outputs.size(),
        log_det.size(), num_points, D);
  if (output_map().is_identity()) {
    std::ranges::copy(base, outputs.begin());
    std::ranges::fill(log_det, 0.0);
    return;
  }
  struct Scratch {
    RowPacker packer;
    OutputMap::Scratch map;
  };
  for_blocks(
      executor, num_points, kModelBlock,
      [&] {
        return Scratch{RowPacker(columns_.input_scaling), OutputMap::Scratch(output_map(), parameters())};
      },
      [&](std::size_t begin, std::size_t end, Scratch& scratch) {
        const std::size_t batch = end - begin;
        output_map().to_outputs(scratch.packer.pack_repeated(inputs, points_per_input, begin, end),
                                base.subspan(begin * D, batch * D), outputs.subspan(begin * D, batch * D),
                                log_det.empty() ? log_det : log_det.subspan(begin, batch), scratch.map);
      });
  columns_.trend.add(inputs, points_per_input, 1, outputs);
}

std::vector<double> Ensemble::log_density(std::span<const double> inputs, std::span<const double> targets,
                                          Executor* executor) const {
  const std::size_t num_rows = check_inputs(inputs);
  const std::size_t D = num_outputs();
  const std::size_t M = num_components();
  check(targets.size() == num_rows * D, "{} target values for {} rows of {}", targets.size(), num_rows, D);
  check_finite_rows(targets, columns_.targets);
  struct Scratch {
    std::unique_ptr<ComponentModel::Scratch> components;
    OutputMap::Scratch map;
  };
  std::vector<double> result(num_rows);
  const auto compute = [&](const RowBlock& rows, Scratch& scratch) {
    std::vector<double> mean(rows.count * M * D);
    std::vector<double> stddev(rows.count * M * D);
    std::vector<double> base(rows.count * D);
    std::vector<double> log_det(rows.count);
    std::vector<double> terms(M);
    parts_.components->predict(rows, output_map().base_units(), *scratch.components, mean, stddev);
    std::ranges::copy(targets.subspan(rows.begin * D, rows.count * D), base.begin());
    columns_.trend.add(rows.inputs, 1, -1, base);
    output_map().to_base(rows.scaled, base, base, log_det, scratch.map);
    for (std::size_t b = 0; b < rows.count; ++b) {
      for (std::size_t m = 0; m < M; ++m) {
        const std::size_t at = (b * M + m) * D;
        const DiagonalGaussian component{std::span(mean).subspan(at, D), std::span(stddev).subspan(at, D)};
        terms[m] = weights_.log[m] + dissent::log_density(component, std::span(base).subspan(b * D, D));
      }
      result[rows.begin + b] = wide_.mixed(log_sum_exp(terms) + log_det[b], targets.subspan((rows.begin + b) * D, D));
    }
  };
  for_row_blocks(
      columns_.input_scaling, inputs, executor,
      [&] {
        return Scratch{parts_.components->make_scratch(), OutputMap::Scratch(output_map(), parameters())};
      },
      compute);
  return result;
}

void Ensemble::visit_heads(std::span<const double> inputs, bool with_heads, Executor* executor,
                           const VisitHeads& visit) const {
  const NetworkModel& model = networks();
  for_row_blocks(
      columns_.input_scaling, inputs, executor, [&] { return model.make_scratch(); },
      [&](const RowBlock& rows, std::unique_ptr<ComponentModel::Scratch>& scratch) {
        model.visit_heads(rows, with_heads, *scratch, visit);
      });
}

}  // namespace dissent
