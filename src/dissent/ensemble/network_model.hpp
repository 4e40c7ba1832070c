// NetworkModel: components that are networks with Gaussian heads, one after the other in one flat float block or, with
// shared weights, parts of one network. The parameters of the shared flow, if there is one, come last in the block.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "dissent/ensemble/component_model.hpp"
#include "dissent/ensemble/model_parts.hpp"
#include "dissent/ensemble/options.hpp"
#include "dissent/flow/flow.hpp"
#include "dissent/network/gaussian.hpp"
#include "dissent/network/mask.hpp"

namespace dissent {

// Log-stddevs of every model, in scaled units.
inline constexpr GaussianOptions kGaussian{.log_stddev_min = -20, .log_stddev_max = 2, .variance_floor = 0};

class SafetensorsFile;

class NetworkModel final : public ComponentModel {
 public:
  // `stack.layout` holds the flow as well, from flow_begin on. Parameters are zero.
  NetworkModel(MlpStack stack, std::size_t flow_begin);

  const MlpStack& stack() const { return stack_; }
  std::size_t flow_begin() const { return flow_begin_; }
  std::size_t num_outputs() const { return stack_.full.heads.front().size; }
  // Whether components share parameters, through a flow or shared weights, and so must be trained together.
  bool joint() const { return stack_.shared.has_value() || flow_begin_ < stack_.layout.size(); }

  // [M][D], in scaled units: the lower limit of log-stddevs.
  std::span<float> log_stddev_floor() { return log_stddev_floor_; }
  std::span<const float> log_stddev_floor() const { return log_stddev_floor_; }

  std::unique_ptr<ComponentModel> clone() const override { return std::make_unique<NetworkModel>(*this); }
  std::size_t num_components() const override { return stack_.components.size(); }
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const override { return parameters_; }
  std::unique_ptr<Scratch> make_scratch() const override;
  void predict(const RowBlock& rows, const Scaling& units, Scratch& scratch, std::span<double> mean,
               std::span<double> stddev) const override;
  void predict(const RowBlock& rows, Scratch& scratch, std::span<float> mean, std::span<float> stddev) const override;
  void limit_certainty(const Scaling& input_scaling, std::span<const double> inputs, Executor* executor) override;
  void scale_spread(std::span<const double> factors) override;
  void add_arrays(NamedArrays& to) const override;

  // From now on no stddev of output d is below stddev[d], in scaled units.
  void raise_floor(std::span<const double> stddev);

  // Calls visit() for each component of a block (Ensemble::visit_heads).
  void visit_heads(const RowBlock& rows, bool with_heads, Scratch& scratch, const VisitHeads& visit) const;

 private:
  // Means and log-stddevs of one component; log-stddevs are not below their limit.
  Panel<float> heads_of(std::size_t component, const RowBlock& rows, Scratch& scratch) const;

  MlpStack stack_;
  std::size_t flow_begin_;
  Block<float> parameters_;
  std::vector<float> log_stddev_floor_;
};

// Rows of the registry (model_kind.hpp). Masks, permutations and initial weights are drawn from options.seed ...
ModelParts make_networks(const EnsembleOptions& options, const EnsembleColumns& columns);
// ... or read from a model file; InputError, naming the file, for arrays that do not suit the options ...
ModelParts load_networks(const SafetensorsFile& file, const EnsembleOptions& options, const EnsembleColumns& columns);
// ... or masks (one per component) and permutations (one per flow layer) are given, and parameters are zero.
ModelParts assemble_networks(const EnsembleOptions& options, const EnsembleColumns& columns, std::vector<Mask> masks,
                             std::vector<Permutation> permutations);

// Initial weights of all networks and the flow, drawn from options.seed, into a block of the model's layout.
void initialise_networks(const EnsembleOptions& options, const NetworkModel& networks, const OutputMap& map,
                         std::span<float> parameters);

}  // namespace dissent
