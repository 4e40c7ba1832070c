// OutputMap: how a model maps base values z, where its components are Gaussians, to outputs y in the user's units.
//
//   without a flow   y = z: base values are outputs, and what is Gaussian there has closed forms (is_identity)
//   with a flow      y = unscale(g(z; x)), g the conditional flow that all components share (flow/flow.hpp)
// For a target fitted by its logarithm, y is exp() of that.
// The target scaling is part of the map: components are predicted in base_units(), and log-determinants cover the whole
// map. A map holds only structure; the flow's parameters are slices of the model's block, to which a Scratch is bound.
// D outputs; matrices are row-major [rows][D].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dissent/ensemble/row_blocks.hpp"
#include "dissent/flow/flow.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

struct NamedArrays;

// The logarithm of a target. A value without one counts as the smallest positive number, so that its density is tiny
// but finite.
double log_target(double value);

class OutputMap {
 public:
  // `logarithm`: [D], 1 for targets fitted by their logarithms, or empty.
  OutputMap(Scaling target_scaling, std::vector<std::uint8_t> logarithm, std::optional<Flow> flow = {});

  bool is_identity() const { return !flow_ && !has_logarithms_; }
  // Whether output d is an increasing function of base value d alone.
  bool is_separable() const { return !flow_; }
  const Flow* flow() const { return flow_ ? &*flow_ : nullptr; }
  std::span<const Coupling> layers() const;  // of the flow; none without
  std::size_t num_outputs() const { return target_scaling_.num_columns(); }

  // [D]: the target that base value k becomes. A flow permutes, so base value 0 need not be target 0.
  std::vector<std::size_t> targets_of_base() const;

  // From a component's scaled units to those of base values: the target scaling, or the identity if a flow follows.
  const Scaling& base_units() const { return base_units_; }

  // For one thread and blocks of up to kModelBlock rows. Map and parameters must outlive it.
  class Scratch;

  // `inputs`: one scaled row for each of the values. `log_det` (may be empty) receives ln |det dy/dz| of each row.
  void to_outputs(Panel<const float> inputs, std::span<const double> base, std::span<double> outputs,
                  std::span<double> log_det, Scratch& scratch) const;
  // The inverse, with ln |det dz/dy| of each row; `log_det` is never empty. `base` may be `outputs`.
  void to_base(Panel<const float> inputs, std::span<const double> outputs, std::span<double> base,
               std::span<double> log_det, Scratch& scratch) const;

  // Adds the arrays of the structure; parameters are among the model's.
  void add_arrays(NamedArrays& to) const;

 private:
  void flow_to_outputs(Panel<const float> inputs, std::span<const double> base, std::span<double> outputs,
                       std::span<double> log_det, Scratch& scratch) const;
  void flow_to_base(Panel<const float> inputs, std::span<const double> outputs, std::span<double> base,
                    std::span<double> log_det, Scratch& scratch) const;

  Scaling target_scaling_;
  Scaling base_units_;
  std::vector<std::uint8_t> logarithm_;  // [D], or empty
  bool has_logarithms_;
  std::optional<Flow> flow_;
};

class OutputMap::Scratch {
 public:
  Scratch(const OutputMap& map, std::span<const float> parameters);

 private:
  friend class OutputMap;
  std::span<const float> parameters_;
  RowPacker targets_;
  std::vector<float> rows_;  // base values on their way into the panel
  PanelBuffer<float> base_;
  std::optional<FlowWorkspace<float>> flow_;
};

}  // namespace dissent
