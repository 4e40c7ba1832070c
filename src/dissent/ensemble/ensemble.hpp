// Ensemble: a trained (or freshly drawn) model of y given x, both in the user's units.
//
//   p(y | x) = sum_j w_j N(z; mean_j(x), diag stddev_j(x)^2) |det dz/dy|
// where z is y scaled (pne), or y scaled and mapped through the shared conditional flow (flow). C inputs, D outputs,
// M components; matrices are row-major, inputs [N][C] and targets [N][D] in double precision.
//
// All parameters are one flat float block; structure (shapes, masks, permutations) is kept apart from them. Work over
// rows is split in fixed blocks, so results are the same to the bit on any number of threads; they are also the same
// for a row alone and among others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/options.hpp"
#include "dissent/flow/flow.hpp"
#include "dissent/mixture/mixture.hpp"
#include "dissent/network/mask.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

class SafetensorsFile;

// Of model files: what this program writes, and all it reads.
inline constexpr std::string_view kModelFormatVersion = "1";

// Names of the columns, and the statistics they are scaled with.
struct EnsembleColumns {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  Scaling input_scaling;
  Scaling target_scaling;
};

class Ensemble {
 public:
  // A new ensemble with masks, permutations and initial weights drawn from options.seed. Component j draws from streams
  // of its own number, so it is the same in an ensemble of any size.
  Ensemble(EnsembleOptions options, EnsembleColumns columns);

  // One with given masks (one per component) and permutations (one per flow layer); parameters zero.
  Ensemble(EnsembleOptions options, EnsembleColumns columns, std::vector<Mask> masks,
           std::vector<Permutation> permutations);

  const EnsembleOptions& options() const { return options_; }
  const EnsembleColumns& columns() const { return columns_; }
  const Weights& weights() const { return weights_; }
  std::size_t num_inputs() const { return columns_.inputs.size(); }
  std::size_t num_outputs() const { return columns_.targets.size(); }
  std::size_t num_components() const { return stack_.components.size(); }

  const MlpStack& stack() const { return stack_; }  // its layout holds the flow as well
  // Whether components have parameters in common, by a flow or by shared weights, and so must be trained together.
  bool joint() const { return flow_.has_value() || stack_.shared.has_value(); }
  const Flow* flow() const { return flow_ ? &*flow_ : nullptr; }
  std::size_t flow_begin() const { return flow_begin_; }  // offset of the flow's parameters, which are the last
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }

  // From now on no prediction is more certain than at the most certain of these inputs: in each component and output
  // the smallest stddev there becomes a limit. Networks extrapolate log-stddevs as straight lines, so that a little
  // outside of what they were trained on they could claim to be sure a thousandfold.
  void limit_certainty(std::span<const double> inputs, Executor* executor = nullptr);
  // From now on every component's stddev of output d is factors[d] times what it was (recalibration.hpp): ln f is added
  // to the bias of the log-stddevs and to their lower limit. The upper one of all models stays.
  void scale_spread(std::span<const double> factors);

  std::span<const float> log_stddev_floor() const { return log_stddev_floor_; }  // [M][D], in scaled units

  // InputError for an input that cannot be predicted at: not finite, or too far from the rows of the fit to compute
  // with. It names `source`, the column and the row: row_number(k) + 1 for row k, or k + 1 without.
  using RowNumber = std::function<std::size_t(std::size_t row)>;
  void check_rows(std::span<const double> inputs, std::string_view source, const RowNumber& row_number = {}) const;

  // The components at each input. pne: in the user's units. flow: in base space, where the epistemic uncertainty is the
  // same as in output space.
  Mixture<double> predict(std::span<const double> inputs, Executor* executor = nullptr) const;

  // The components in base space (z above) for either model, in the networks' own precision, into memory that is kept
  // from call to call: what scoring wants, as the epistemic uncertainty is that of the outputs.
  void predict_base(std::span<const double> inputs, Mixture<float>& base, Executor* executor = nullptr) const;

  // ln p(y | x) for each row, in the user's units: the log density of predict()'s mixture at the base values of y plus
  // their log-determinant (to_base), so that an ensemble of one component gives the very numbers of its member.
  std::vector<double> log_density(std::span<const double> inputs, std::span<const double> targets,
                                  Executor* executor = nullptr) const;

  // [N][num_samples][D] draws in the user's units. Row n draws from Stream(seed, kSample, n).
  std::vector<double> sample(std::span<const double> inputs, std::size_t num_samples, std::uint64_t seed,
                             Executor* executor = nullptr) const;

  // Base values [N][D] to outputs in the user's units, given one row of inputs each. `log_det` (may be empty) receives
  // ln |det dy/dz| of each row. For pne base values are outputs, and the log-determinant is 0.
  void to_outputs(std::span<const double> inputs, std::span<const double> base, std::span<double> outputs,
                  std::span<double> log_det, Executor* executor = nullptr) const;

  // The way back: ln |det dz/dy| of each row.
  void to_base(std::span<const double> inputs, std::span<const double> outputs, std::span<double> base,
               std::span<double> log_det, Executor* executor = nullptr) const;

  // The product of all factors of scale_spread(), one per output; empty for a model that was never recalibrated.
  const std::vector<double>& spread_factors() const { return spread_factors_; }
  // The version of the program that wrote the file it was loaded from; of this one before that.
  const std::string& written_by() const { return written_by_; }

  // As JSON, what a model file says besides its arrays.
  std::string describe() const;

  // A safetensors file with JSON metadata. load() checks everything and gives the same bits as before save().
  void save(const std::string& path) const;
  static Ensemble load(const std::string& path);
  static Ensemble parse(std::span<const std::byte> bytes, const std::string& source);

 private:
  static Ensemble read(const SafetensorsFile& file);

  struct Scratch;
  std::size_t check_inputs(std::span<const double> inputs, std::string_view function) const;
  void for_row_blocks(std::span<const double> inputs, Executor* executor,
                      const std::function<void(std::size_t, std::size_t, Scratch&)>& body) const;
  Panel<float> heads_of(std::size_t component, std::size_t batch, Scratch& scratch) const;
  void predict_block(std::size_t batch, Scratch& scratch, std::span<double> mean, std::span<double> stddev) const;
  void to_base_block(std::span<const double> outputs, Scratch& scratch, std::span<double> base,
                     std::span<double> log_det) const;

  EnsembleOptions options_;
  EnsembleColumns columns_;
  Weights weights_;
  Scaling mean_units_;  // from a network's means to those of predict()
  MlpStack stack_;
  std::optional<Flow> flow_;
  std::size_t flow_begin_ = 0;
  Block<float> parameters_;
  std::vector<float> log_stddev_floor_;  // [M][D]
  std::vector<double> spread_factors_;   // [D], or empty
  std::string written_by_;
};

}  // namespace dissent
