#include "dissent/ensemble/output_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dissent/matrix/rows.hpp"

namespace dissent {
namespace {

constexpr double kLargestLogarithm = 709;  // exp() of more is infinite

UnpackMap by(const Scaling& units) { return {.offset = units.offset.data(), .scale = units.scale.data()}; }

}  // namespace

double log_target(double value) { return std::log(std::max(value, std::numeric_limits<double>::min())); }

OutputMap::OutputMap(Scaling target_scaling, std::vector<std::uint8_t> logarithm, std::optional<Flow> flow)
    : target_scaling_(std::move(target_scaling)),
      base_units_(target_scaling_),
      logarithm_(std::move(logarithm)),
      has_logarithms_(std::ranges::count(logarithm_, 0) < std::ssize(logarithm_)),
      flow_(std::move(flow)) {
  if (flow_) {
    base_units_ = {std::vector<double>(num_outputs(), 0.0), std::vector<double>(num_outputs(), 1.0)};
  }
}

std::span<const Coupling> OutputMap::layers() const { return flow_ ? flow_->layers() : std::span<const Coupling>(); }

// The last layer makes base value k from value permutation[k] of the layer before.
std::vector<std::size_t> OutputMap::targets_of_base() const {
  std::vector<std::size_t> targets(num_outputs());
  std::iota(targets.begin(), targets.end(), std::size_t{0});
  for (const Coupling& layer : layers()) {
    const std::vector<std::size_t> before = targets;
    std::ranges::transform(layer.permutation(), targets.begin(), [&](std::uint32_t from) { return before[from]; });
  }
  return targets;
}

OutputMap::Scratch::Scratch(const OutputMap& map, std::span<const float> parameters)
    : parameters_(parameters), targets_(map.target_scaling_) {
  if (map.flow_) {
    rows_.resize(map.num_outputs() * kModelBlock);
    base_ = {map.num_outputs(), kModelBlock};
    flow_.emplace(*map.flow_, kModelBlock);
  }
}

void OutputMap::to_outputs(Panel<const float> inputs, std::span<const double> base, std::span<double> outputs,
                           std::span<double> log_det, Scratch& scratch) const {
  if (flow_) {
    flow_to_outputs(inputs, base, outputs, log_det, scratch);
  } else {
    std::ranges::copy(base, outputs.begin());
    std::ranges::fill(log_det, 0.0);
  }
  const std::size_t D = num_outputs();
  for (std::size_t k = 0; has_logarithms_ && k < outputs.size(); ++k) {
    if (logarithm_[k % D] != 0) {
      const double log_value = outputs[k];
      outputs[k] = std::exp(std::min(log_value, kLargestLogarithm));
      if (!log_det.empty()) {
        log_det[k / D] += log_value;
      }
    }
  }
}

void OutputMap::to_base(Panel<const float> inputs, std::span<const double> outputs, std::span<double> base,
                        std::span<double> log_det, Scratch& scratch) const {
  const std::size_t D = num_outputs();
  std::vector<double> values;  // with logarithms taken
  std::vector<double> log_values(has_logarithms_ ? log_det.size() : 0, 0.0);
  if (has_logarithms_) {
    values.assign(outputs.begin(), outputs.end());
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (logarithm_[k % D] != 0) {
        values[k] = log_target(values[k]);
        log_values[k / D] += values[k];
      }
    }
    outputs = values;
  }
  if (flow_) {
    flow_to_base(inputs, outputs, base, log_det, scratch);
  } else {
    std::ranges::copy(outputs, base.begin());
    std::ranges::fill(log_det, 0.0);
  }
  for (std::size_t b = 0; b < log_values.size(); ++b) {
    log_det[b] -= log_values[b];
  }
}

void OutputMap::flow_to_outputs(Panel<const float> inputs, std::span<const double> base, std::span<double> outputs,
                                std::span<double> log_det, Scratch& scratch) const {
  const std::size_t D = num_outputs();
  const std::size_t batch = base.size() / D;
  std::ranges::transform(base, scratch.rows_.begin(), [](double value) { return static_cast<float>(value); });
  pack_rows({scratch.rows_.data(), D}, nullptr, batch, scratch.base_.panel());
  const FlowResult<float> result =
      from_base<float>(*flow_, scratch.parameters_, inputs, scratch.base_.panel(), batch, *scratch.flow_);
  unpack_rows(result.values, batch, by(base_units_), {outputs.data(), D});  // unchanged: base units are 1 here
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t d = 0; d < D; ++d) {
      outputs[b * D + d] = target_scaling_.original(d, outputs[b * D + d]);
    }
  }
  const double log_scale = target_scaling_.log_scale_sum();
  for (std::size_t b = 0; b < log_det.size(); ++b) {
    log_det[b] = static_cast<double>(result.log_det[b]) + log_scale;
  }
}

void OutputMap::flow_to_base(Panel<const float> inputs, std::span<const double> outputs, std::span<double> base,
                             std::span<double> log_det, Scratch& scratch) const {
  const std::size_t D = num_outputs();
  const std::size_t batch = outputs.size() / D;
  const FlowResult<float> result = dissent::to_base<float>(*flow_, scratch.parameters_, inputs,
                                                           scratch.targets_.pack(outputs), batch, *scratch.flow_);
  const double log_scale = target_scaling_.log_scale_sum();
  unpack_rows(result.values, batch, by(base_units_), {base.data(), D});
  for (std::size_t b = 0; b < batch; ++b) {
    log_det[b] = static_cast<double>(result.log_det[b]) - log_scale;
  }
}

}  // namespace dissent
