// Ensemble: a trained (or freshly drawn) model of y given x, both in the user's units.
//
//   p(y | x) = sum_j w_j N(z; mean_j(x), diag stddev_j(x)^2) |det dz/dy|
// where z is y (pne, gp), or y scaled and mapped through the shared conditional flow (flow), beside the trend
// (trend.hpp) if there is one; for a target that is fitted by its logarithm, ln y stands for y. C input columns, D
// outputs, M components; matrices are row-major, inputs [N][C] and targets [N][D] in double precision.
//
// An ensemble is columns, weights, a ComponentModel that says where each component is at an input, and an OutputMap
// from there to outputs. This is all that the rest of the program asks of a model, whatever its kind
// (component_model.hpp says how to add one). Work over rows is split in fixed blocks, so results are the same to the
// bit on any number of threads. For a row alone and among others they are the same to the bit with networks, and to
// about 1e-12 of their size with gp, whose matrix products depend on the shape of a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/model_parts.hpp"
#include "dissent/ensemble/options.hpp"
#include "dissent/mixture/mixture.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

class NetworkModel;
class ProcessModel;
class SafetensorsFile;
struct HeadBlock;
struct Mask;
struct MlpStack;
using Permutation = std::vector<std::uint32_t>;
using VisitHeads = std::function<void(const HeadBlock& block)>;

class Ensemble {
 public:
  // A new ensemble with masks, permutations and initial weights drawn from options.seed. Component j draws from streams
  // of its own number, so it is the same in an ensemble of any size.
  Ensemble(EnsembleOptions options, EnsembleColumns columns);

  // Networks with given masks (one per component) and permutations (one per flow layer); parameters zero.
  Ensemble(EnsembleOptions options, EnsembleColumns columns, std::vector<Mask> masks,
           std::vector<Permutation> permutations);

  const EnsembleOptions& options() const { return options_; }
  const EnsembleColumns& columns() const { return columns_; }
  // From a table's columns to the inputs. Where they are its columns, a missing cell is filled with the middle of the
  // rows of the fit, as their scaling tells it.
  TableEncoding table_encoding() const;
  const Weights& weights() const { return weights_; }
  std::size_t num_input_columns() const { return columns_.inputs.size(); }
  std::size_t num_outputs() const { return columns_.targets.size(); }
  std::size_t num_components() const;
  const OutputMap& output_map() const { return *parts_.output_map; }
  bool has_networks() const;   // its components are, so that there is a last layer
  bool has_posterior() const;  // its components are drawn from one that is known: process()

  // What was learned, as one block: the same bits from the same rows, the same predictions. Those of networks can be
  // changed; InputError for a model without.
  std::span<float> parameters();
  std::span<const float> parameters() const;

  // The networks; InputError for a model whose components are none.
  NetworkModel& networks();
  const NetworkModel& networks() const;
  // The processes of a model of the kind gp; InputError for any other.
  ProcessModel& process();
  const ProcessModel& process() const;
  const MlpStack& stack() const;   // of the networks; its layout holds the flow as well
  std::size_t flow_begin() const;  // offset of the flow's parameters, which are the last

  // From now on no prediction is more certain than at the most certain of these inputs: in each component and output
  // the smallest stddev there becomes a limit; of a model with a flow in base space, where its map may still narrow
  // what it maps. Networks extrapolate log-stddevs as straight lines, so that a little outside of what they were
  // trained on they could claim to be sure a thousandfold.
  void limit_certainty(std::span<const double> inputs, Executor* executor = nullptr);
  // From now on log densities have this component beside the ensemble's own; an empty one takes it away.
  void set_wide_component(WideComponent wide);
  const WideComponent& wide_component() const { return wide_; }
  // From now on every component's stddev of target d is factors[d] times what it was; of a flow, that of the base value
  // which becomes target d (recalibration.hpp).
  void scale_spread(std::span<const double> factors);
  // The product of all factors of scale_spread(), one per target; empty for a model that was never recalibrated.
  const std::vector<double>& spread_factors() const { return spread_factors_; }

  // InputError for an input that cannot be predicted at: not finite, or too far from the rows of the fit to compute
  // with. It names `source`, the column and the row: row_number(k) for row k, or k without.
  using RowNumber = std::function<std::size_t(std::size_t row)>;
  void check_rows(std::span<const double> inputs, std::string_view source, const RowNumber& row_number = {}) const;

  // The components at each input. pne, gp: in the user's units. flow, and any model of a target that is fitted by its
  // logarithm: in base space, where the epistemic uncertainty is the same as in output space.
  Mixture<double> predict(std::span<const double> inputs, Executor* executor = nullptr) const;

  // The components in scaled units, before any map, in single precision, into memory that is kept from call to call:
  // what scoring wants, as the epistemic uncertainty is that of the outputs.
  void predict_base(std::span<const double> inputs, Mixture<float>& base, Executor* executor = nullptr) const;

  // ln p(y | x) for each row, in the user's units: the log density of predict()'s mixture at the base values of y plus
  // their log-determinant (to_base), so that an ensemble of one component gives the very numbers of that component;
  // then mixed with the wide component, if there is one.
  std::vector<double> log_density(std::span<const double> inputs, std::span<const double> targets,
                                  Executor* executor = nullptr) const;

  // [N][num_samples][D] draws in the user's units. Row n draws from Stream(seed, kSample, n).
  std::vector<double> sample(std::span<const double> inputs, std::size_t num_samples, std::uint64_t seed,
                             Executor* executor = nullptr) const;

  // Base values to outputs in the user's units: points [N][P][D], P = points_per_input of them for each input.
  // `log_det` (may be empty) receives ln |det dy/dz| of each point [N][P]. Where the output map is the identity, base
  // values are outputs and log-determinants are 0.
  void carry(std::span<const double> inputs, std::size_t points_per_input, std::span<const double> base,
             std::span<double> outputs, std::span<double> log_det, Executor* executor = nullptr) const;
  // The same with one point for each input.
  void to_outputs(std::span<const double> inputs, std::span<const double> base, std::span<double> outputs,
                  std::span<double> log_det, Executor* executor = nullptr) const {
    carry(inputs, 1, base, outputs, log_det, executor);
  }

  // The way back: ln |det dz/dy| of each row.
  void to_base(std::span<const double> inputs, std::span<const double> outputs, std::span<double> base,
               std::span<double> log_det, Executor* executor = nullptr) const;

  // Calls visit() for each block of kModelBlock inputs and each component, on any thread. InputError for a model
  // without networks. The inputs must be finite.
  void visit_heads(std::span<const double> inputs, bool with_heads, Executor* executor, const VisitHeads& visit) const;

  // The version of the program that wrote the file it was loaded from; of this one before that.
  const std::string& written_by() const { return written_by_; }

  // As JSON, what a model file says besides its arrays.
  std::string describe() const;

  // Of its file: "1", "2" for what version 0.2 of the program would not understand, or "3" for inputs that are made of
  // a table's columns.
  std::string_view format_version() const;

  // A safetensors file with JSON metadata. load() checks everything and gives the same bits as before save().
  void save(const std::string& path) const;
  static Ensemble load(const std::string& path);
  static Ensemble parse(std::span<const std::byte> bytes, const std::string& source);

 private:
  // The options as an ensemble of these columns takes them; InputError for either.
  static EnsembleOptions checked(EnsembleOptions options, const EnsembleColumns& columns);
  friend Ensemble given_ensemble(const MixtureView<double>& pool, const MixtureView<double>& aim);
  Ensemble(EnsembleOptions options, EnsembleColumns columns, ModelParts parts);
  static Ensemble read(const SafetensorsFile& file);

  std::size_t check_inputs(std::span<const double> inputs) const;

  EnsembleOptions options_;
  EnsembleColumns columns_;
  Weights weights_;
  ModelParts parts_;
  std::vector<double> spread_factors_;  // [D], or empty
  WideComponent wide_;
  std::string written_by_;
};

}  // namespace dissent
