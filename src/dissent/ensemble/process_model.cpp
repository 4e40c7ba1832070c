#include "dissent/ensemble/process_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dissent/array/safetensors.hpp"
#include "dissent/base/error.hpp"
#include "dissent/ensemble/options.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {
namespace {

using Eigen::Index;

constexpr double kMostProcessCells = 1e8;  // of the covariances of all outputs: 0.8 GB

Scaling standard_units(const std::vector<float>& values, std::size_t columns) {
  const std::vector<double> wide(values.begin(), values.end());
  return fit_scaling(ScalingKind::kStandard, wide, columns);
}

RowMatrix standardised(const std::vector<float>& values, const Scaling& units) {
  const auto columns = static_cast<Index>(units.num_columns());
  RowMatrix rows(static_cast<Index>(values.size()) / columns, columns);
  for (std::size_t k = 0; k < values.size(); ++k) {
    rows.data()[k] = units.scaled(k % units.num_columns(), static_cast<double>(values[k]));
  }
  return rows;
}

// The first `count` columns of a panel, as rows.
RowMatrix standardised(Panel<const float> panel, std::size_t count, const Scaling& units) {
  RowMatrix rows(static_cast<Index>(count), static_cast<Index>(panel.rows));
  for (std::size_t c = 0; c < panel.rows; ++c) {
    for (std::size_t b = 0; b < count; ++b) {
      rows(static_cast<Index>(b), static_cast<Index>(c)) = units.scaled(c, static_cast<double>(panel(c, b)));
    }
  }
  return rows;
}

// [1 or 1 + M][3 + C] logarithms of one output.
OutputHyperparameters hyperparameters_of(std::span<const float> logs, std::size_t size) {
  OutputHyperparameters out;
  for (std::size_t begin = 0; begin < logs.size(); begin += size) {
    Eigen::VectorXd own(static_cast<Index>(size));
    std::ranges::copy(logs.subspan(begin, size), own.data());
    if (begin == 0) {
      out.mode = Hyperparameters::from_log(own);
    } else {
      out.components.push_back(Hyperparameters::from_log(own));
    }
  }
  return out;
}

}  // namespace

ProcessModel::ProcessModel(std::vector<double> weights, std::size_t num_columns, std::size_t num_outputs,
                           std::uint64_t seed)
    : weights_(std::move(weights)),
      num_columns_(num_columns),
      num_outputs_(num_outputs),
      seed_(seed),
      spread_(num_outputs, 1.0) {}

// Components disagree in all outputs at once. With D / (D + 4) of the variance inside each, two of them differ by about
// 4 nats far from the data, however many outputs there are. Plain draws would be needles in D dimensions, with hardly
// any density between them. With many outputs the search is short, because it dominates the cost, and there is a linear
// part: many outputs are mostly the next state of a system, whose trends go on.
ProcessOptions ProcessModel::options() const {
  constexpr double kNatsApart = 4;
  constexpr std::size_t kFewOutputs = 3;
  constexpr std::size_t kManyOutputs = 32;
  const auto D = static_cast<double>(num_outputs_);
  ProcessOptions options;
  options.components = static_cast<Index>(weights_.size());
  options.weights = weights_;
  options.within = std::ranges::max(weights_) == 1 ? 1 : D / (D + kNatsApart);  // one component has all of it
  options.search.seed = seed_;
  if (num_outputs_ > kFewOutputs) {
    options.vary_hyperparameters = false;
    options.search.starts = 1;
    options.search.stray_share = 0;
    options.search.prior.slope = options.search.loose.slope = kSomeSlope;
    options.search.rows = num_outputs_ > kManyOutputs ? 100 : 200;
    options.search.start_rows = std::min(options.search.start_rows, options.search.rows);
  }
  return options;
}

RowMatrix ProcessModel::standard_inputs(const Rows& rows) const {
  return standardised(rows.inputs, standard_units(rows.inputs, num_columns_));
}

RowMatrix ProcessModel::standard_targets(const Rows& rows) const {
  return standardised(rows.targets, standard_units(rows.targets, num_outputs_));
}

RowMatrix ProcessModel::standard_rows(const Scaling& input_scaling, std::span<const double> inputs) const {
  RowMatrix rows(static_cast<Index>(inputs.size() / num_columns_), static_cast<Index>(num_columns_));
  for_row_blocks(
      input_scaling, inputs, nullptr, [] { return 0; },
      [&](const RowBlock& block, int) {
        rows.middleRows(static_cast<Index>(block.begin), static_cast<Index>(block.count)) =
            standardised(block.scaled, block.count, input_units_);
      });
  return rows;
}

void ProcessModel::assign(Rows rows, std::vector<float> log_hyperparameters, std::vector<float> extra_noise,
                          Executor* executor) {
  const std::size_t size = kLogLength + num_columns_;
  const std::size_t group = log_hyperparameters.size() / num_outputs_;
  check(log_hyperparameters.size() == num_outputs_ * size ||
            log_hyperparameters.size() == num_outputs_ * (1 + weights_.size()) * size,
        "{} hyperparameters for {} outputs of {} components", log_hyperparameters.size(), num_outputs_,
        weights_.size());
  const std::size_t n = rows.inputs.size() / num_columns_;
  check(extra_noise.empty() || extra_noise.size() == num_outputs_ * n, "extra noise of {} rows for {} of {} outputs",
        extra_noise.size(), n, num_outputs_);
  std::vector<OutputHyperparameters> hyperparameters;
  for (std::size_t d = 0; d < num_outputs_; ++d) {
    hyperparameters.push_back(
        hyperparameters_of(std::span<const float>(log_hyperparameters).subspan(d * group, group), size));
    if (!extra_noise.empty()) {
      hyperparameters.back().extra_noise =
          Eigen::Map<const Eigen::VectorXf>(&extra_noise[d * n], static_cast<Index>(n)).cast<double>();
    }
  }
  input_units_ = standard_units(rows.inputs, num_columns_);
  target_units_ = standard_units(rows.targets, num_outputs_);
  process_ = std::make_shared<const GaussianProcess>(options(), standardised(rows.inputs, input_units_),
                                                     standardised(rows.targets, target_units_),
                                                     std::move(hyperparameters), executor);
  rows_ = std::move(rows);
  log_hyperparameters_ = std::move(log_hyperparameters);
  extra_noise_ = std::move(extra_noise);
}

void ProcessModel::predict(const RowBlock& rows, const Scaling& units, Scratch&, std::span<double> mean,
                           std::span<double> stddev) const {
  const std::size_t D = num_outputs_;
  if (!process_) {
    std::ranges::fill(mean, 0.0);
    std::ranges::fill(stddev, 1.0);
  } else {
    process_->predict(standardised(rows.scaled, rows.count, input_units_), mean, stddev);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] = target_units_.original(k % D, mean[k]);
      stddev[k] *= target_units_.scale[k % D];
    }
  }
  for (std::size_t k = 0; k < mean.size(); ++k) {
    mean[k] = units.original(k % D, mean[k]);
    stddev[k] *= units.scale[k % D] * spread_[k % D];
  }
}

void ProcessModel::predict(const RowBlock& rows, Scratch& scratch, std::span<float> mean,
                           std::span<float> stddev) const {
  const Scaling same{std::vector<double>(num_outputs_, 0.0), std::vector<double>(num_outputs_, 1.0)};
  std::vector<double> wide_mean(mean.size());
  std::vector<double> wide_stddev(stddev.size());
  predict(rows, same, scratch, wide_mean, wide_stddev);
  std::ranges::transform(wide_mean, mean.begin(), [](double value) { return static_cast<float>(value); });
  std::ranges::transform(wide_stddev, stddev.begin(), [](double value) { return static_cast<float>(value); });
}

void ProcessModel::scale_spread(std::span<const double> factors) {
  std::ranges::transform(spread_, factors, spread_.begin(), std::multiplies());
}

void ProcessModel::add_arrays(NamedArrays& to) const {
  const std::size_t n = rows_.inputs.size() / num_columns_;
  const std::size_t size = kLogLength + num_columns_;
  const std::size_t each = log_hyperparameters_.size() / num_outputs_ / size;
  to.add("process.inputs", ArrayView(std::span<const float>(rows_.inputs), {n, num_columns_}));
  to.add("process.targets", ArrayView(std::span<const float>(rows_.targets), {n, num_outputs_}));
  to.add("process.log_hyperparameters",
         ArrayView(std::span<const float>(log_hyperparameters_), {num_outputs_, each, size}));
  to.add("process.spread", ArrayView(spread_));
  if (!extra_noise_.empty()) {
    to.add("process.extra_noise", ArrayView(std::span<const float>(extra_noise_), {num_outputs_, n}));
  }
}

bool can_be_process(std::size_t num_rows, std::size_t num_outputs) {
  const auto n = static_cast<double>(num_rows);
  return n <= static_cast<double>(GaussianProcess::kMostRows) &&
         static_cast<double>(num_outputs) * n * n <= kMostProcessCells;
}

ModelParts make_process(const EnsembleOptions& options, const EnsembleColumns& columns) {
  return {std::make_unique<ProcessModel>(Weights::from(options.weights, options.num_components).value,
                                         columns.inputs.size(), columns.targets.size(), options.seed),
          OutputMap(columns.target_scaling, columns.logarithm)};
}

ModelParts load_process(const SafetensorsFile& file, const EnsembleOptions& options, const EnsembleColumns& columns) {
  ModelParts parts = make_process(options, columns);
  auto& model = static_cast<ProcessModel&>(*parts.components);
  const std::size_t D = model.num_outputs_;
  const auto floats = [&](const char* name, std::size_t first, const Shape& rest) {
    Shape shape{first};
    shape.insert(shape.end(), rest.begin(), rest.end());
    const Array array = file.load(name, DType::kFloat32, shape);
    const std::span<const float> values = array.values<float>();
    for (const float value : values) {
      check(std::isfinite(value), "{}: holds {}; its values must be finite", array.source(), value);
    }
    return std::vector<float>(values.begin(), values.end());
  };
  const auto first_of = [&](const char* name, std::size_t axis) {
    const Array array = file.load(name);
    check(array.shape().size() > axis, "{}: has the wrong shape; the file is damaged", array.source());
    return array.shape()[axis];
  };
  const std::size_t n = first_of("process.inputs", 0);
  const std::size_t each = first_of("process.log_hyperparameters", 1);
  check(can_be_process(n, D), "{}: {} rows of {} outputs are too many for a Gaussian process; the file is damaged",
        file.source(), n, D);
  ProcessModel::Rows rows{floats("process.inputs", n, {model.num_columns_}), floats("process.targets", n, {D})};
  std::vector<float> logs = floats("process.log_hyperparameters", D, {each, kLogLength + model.num_columns_});
  std::vector<float> extra;
  if (file.contains("process.extra_noise")) {
    extra = floats("process.extra_noise", D, {n});
  }
  const std::vector<double> spread = file.load("process.spread", DType::kFloat64, {D}).to<double>();
  for (const double factor : spread) {
    check(std::isfinite(factor) && factor > 0, "{}: a spread of {} cannot be; the file is damaged", file.source(),
          factor);
  }
  if (n > 0) {
    in_source(file.source(), [&] { model.assign(std::move(rows), std::move(logs), std::move(extra), nullptr); });
  }
  model.spread_ = spread;
  return parts;
}

}  // namespace dissent
