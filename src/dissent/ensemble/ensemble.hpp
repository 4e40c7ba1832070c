// Ensemble: a trained (or freshly drawn) model of y given x, both in the user's units.
//
//   p(y | x) = sum_j w_j N(z; mean_j(x), diag stddev_j(x)^2) |det dz/dy|
// where z is y (pne, gp), or y scaled and mapped through the shared conditional flow (flow), apart from the trend
// (trend.hpp) if there is one. For a target fitted by its logarithm, ln y takes the place of y. C input columns, D
// outputs, M components; matrices are row-major, inputs [N][C] and targets [N][D] in double precision.
//
// An ensemble consists of columns, weights, a ComponentModel that predicts each component at an input, and an OutputMap
// from there to outputs. The rest of the program needs nothing else from a model, whatever its kind
// (component_model.hpp says how to add one). Work over rows is split into fixed blocks, so results are the same to the
// bit on any number of threads. A row gives the same results alone as among others: to the bit with networks, and to
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
  // Maps a table's columns to the inputs. If the inputs are its columns, a missing cell is filled with the middle of
  // the rows of the fit, according to their scaling.
  TableEncoding table_encoding() const;
  const Weights& weights() const { return weights_; }
  std::size_t num_input_columns() const { return columns_.inputs.size(); }
  std::size_t num_outputs() const { return columns_.targets.size(); }
  std::size_t num_components() const;
  const OutputMap& output_map() const { return *parts_.output_map; }
  bool has_networks() const;   // its components are networks, so there is a last layer
  bool has_posterior() const;  // its components are drawn from a known posterior: process()

  // What was learned, as one block. Models fitted to the same rows predict the same if these bits are the same. The
  // parameters of networks can be changed; InputError for a model without networks.
  std::span<float> parameters();
  std::span<const float> parameters() const;

  // The networks; InputError if the components are not networks.
  NetworkModel& networks();
  const NetworkModel& networks() const;
  // The processes of a gp model; InputError for any other kind.
  ProcessModel& process();
  const ProcessModel& process() const;
  const MlpStack& stack() const;   // of the networks; its layout holds the flow as well
  std::size_t flow_begin() const;  // offset of the flow's parameters, which come last

  // From now on no prediction is more certain than at the most certain of these inputs: for each component and output,
  // the smallest stddev there becomes the lower limit. With a flow the limit holds in base space; the flow may still
  // narrow what it maps. Networks extrapolate log-stddevs as straight lines, so a little outside their training data
  // they could claim to be a thousand times as sure.
  void limit_certainty(std::span<const double> inputs, Executor* executor = nullptr);
  // From now on log densities include this component beside the ensemble's own; an empty one removes it.
  void set_wide_component(WideComponent wide);
  const WideComponent& wide_component() const { return wide_; }
  // From now on every component's stddev of target d is factors[d] times what it was; with a flow, that of the base
  // value that becomes target d (recalibration.hpp).
  void scale_spread(std::span<const double> factors);
  // The product of all factors of scale_spread(), one per target; empty for a model that was never recalibrated.
  const std::vector<double>& spread_factors() const { return spread_factors_; }

  // InputError for an input that is not finite, or too far from the rows of the fit to compute with. It names `source`,
  // the column and the row: row_number(k) for row k, or k if there is no row_number.
  using RowNumber = std::function<std::size_t(std::size_t row)>;
  void check_rows(std::span<const double> inputs, std::string_view source, const RowNumber& row_number = {}) const;

  // The components at each input. pne, gp: in the user's units. flow, and any model of a target fitted by its
  // logarithm: in base space, where the epistemic uncertainty is the same as in output space.
  Mixture<double> predict(std::span<const double> inputs, Executor* executor = nullptr) const;

  // The components in scaled units, before any map, in single precision. For scoring: the epistemic uncertainty is the
  // same as that of the outputs. `base` keeps its memory from call to call.
  void predict_base(std::span<const double> inputs, Mixture<float>& base, Executor* executor = nullptr) const;

  // ln p(y | x) for each row, in the user's units: the log density of predict()'s mixture at the base values of y, plus
  // their log-determinant (to_base). So an ensemble of one component gives exactly that component's numbers. The result
  // is then mixed with the wide component, if there is one.
  std::vector<double> log_density(std::span<const double> inputs, std::span<const double> targets,
                                  Executor* executor = nullptr) const;

  // [N][num_samples][D] draws in the user's units. Row n draws from Stream(seed, kSample, n).
  std::vector<double> sample(std::span<const double> inputs, std::size_t num_samples, std::uint64_t seed,
                             Executor* executor = nullptr) const;

  // Maps base values to outputs in the user's units: points [N][P][D], with P = points_per_input for each input.
  // `log_det` (may be empty) receives ln |det dy/dz| of each point [N][P]. If the output map is the identity, base
  // values are outputs and log-determinants are 0.
  void carry(std::span<const double> inputs, std::size_t points_per_input, std::span<const double> base,
             std::span<double> outputs, std::span<double> log_det, Executor* executor = nullptr) const;
  // The same with one point for each input.
  void to_outputs(std::span<const double> inputs, std::span<const double> base, std::span<double> outputs,
                  std::span<double> log_det, Executor* executor = nullptr) const {
    carry(inputs, 1, base, outputs, log_det, executor);
  }

  // The inverse, with ln |det dz/dy| of each row.
  void to_base(std::span<const double> inputs, std::span<const double> outputs, std::span<double> base,
               std::span<double> log_det, Executor* executor = nullptr) const;

  // Calls visit() for each block of kModelBlock inputs and each component, on any thread. InputError for a model
  // without networks. The inputs must be finite.
  void visit_heads(std::span<const double> inputs, bool with_heads, Executor* executor, const VisitHeads& visit) const;

  // The version of the program that wrote its file; this program's version if it was not loaded from one.
  const std::string& written_by() const { return written_by_; }

  // What a model file says besides its arrays, as JSON.
  std::string describe() const;

  // Of its file: "1", "2" for what version 0.2 of the program would not understand, or "3" for inputs that are made of
  // a table's columns and for stray rows (stray_rows.hpp).
  std::string_view format_version() const;

  // A safetensors file with JSON metadata. load() checks everything and gives the same bits as before save().
  void save(const std::string& path) const;
  static Ensemble load(const std::string& path);
  static Ensemble parse(std::span<const std::byte> bytes, const std::string& source);

 private:
  // The options as an ensemble of these columns uses them; InputError if either is invalid.
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
