// OutputMap: how a model maps base values z, where its components are Gaussians, to outputs y in the user's units.
//
//   without a flow   y = z: base values are outputs, and what is Gaussian there has closed forms (is_identity)
//   with a flow      y = unscale(g(z; x)), g the conditional flow that all components share (flow/flow.hpp)
// The target scaling is part of the map: components are predicted in base_units(), and log-determinants are those of
// the whole way. A map is structure; the flow's parameters are slices of the model's block, which a Scratch is bound
// to. D outputs; matrices are row-major [rows][D].
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dissent/ensemble/row_blocks.hpp"
#include "dissent/flow/flow.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

struct NamedArrays;

class OutputMap {
 public:
  explicit OutputMap(Scaling target_scaling, std::optional<Flow> flow = {});

  bool is_identity() const { return !flow_; }
  const Flow* flow() const { return flow_ ? &*flow_ : nullptr; }
  std::span<const Coupling> layers() const;  // of the flow; none without
  std::size_t num_outputs() const { return target_scaling_.num_columns(); }

  // From a component's scaled units to those of base values: the target scaling, or nothing to do before a flow.
  const Scaling& base_units() const { return base_units_; }

  // Of one thread, for blocks of up to kModelBlock rows. Map and parameters must outlive it.
  class Scratch;

  // `inputs`: one scaled row for each of the values. `log_det` (may be empty) receives ln |det dy/dz| of each row.
  void to_outputs(Panel<const float> inputs, std::span<const double> base, std::span<double> outputs,
                  std::span<double> log_det, Scratch& scratch) const;
  // The way back: ln |det dz/dy| of each row, never empty. `base` may be `outputs`.
  void to_base(Panel<const float> inputs, std::span<const double> outputs, std::span<double> base,
               std::span<double> log_det, Scratch& scratch) const;

  // Of the structure; parameters are among the model's.
  void add_arrays(NamedArrays& to) const;

 private:
  Scaling target_scaling_;
  Scaling base_units_;
  std::optional<Flow> flow_;
};

class OutputMap::Scratch {
 public:
  Scratch(const OutputMap& map, std::span<const float> parameters);

 private:
  friend class OutputMap;
  std::span<const float> parameters_;
  RowPacker targets_;
  PanelBuffer<float> base_;
  std::optional<FlowWorkspace<float>> flow_;
};

}  // namespace dissent
