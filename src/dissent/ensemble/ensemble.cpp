#include "dissent/ensemble/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/base/special.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/pack_scaled.hpp"
#include "dissent/matrix/rows.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlockRows = 256;                        // rows a thread takes at a time
constexpr std::uint64_t kFlowStream = std::uint64_t{1} << 32;  // beyond every component's number

MlpShape component_shape(const EnsembleOptions& options, const EnsembleColumns& columns) {
  return gaussian_shape(columns.inputs.size(), options.hidden_sizes(), columns.targets.size());
}

std::vector<Mask> draw_masks(const EnsembleOptions& options, const EnsembleColumns& columns) {
  options.check_values();
  const MlpShape shape = component_shape(options, columns);
  std::vector<Mask> masks;
  for (std::size_t c = 0; c < options.num_components; ++c) {
    masks.push_back(options.keep_probability == 1 ? full_mask(shape)
                                                  : draw_mask(shape, options.keep_probability, options.seed, c));
  }
  return masks;
}

std::vector<Permutation> draw_permutations(const EnsembleOptions& options, const EnsembleColumns& columns) {
  if (options.model != Model::kFlow) {
    return {};
  }
  return random_permutations(options.num_flow_layers, columns.targets.size(), options.seed);
}

void check_finite_rows(std::span<const double> values, std::span<const std::string> names, std::string_view function) {
  if (all_finite(values)) {
    return;
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    check(std::isfinite(values[k]), "{}: row {} column '{}' is {}; numbers must be finite", function,
          k / names.size() + 1, names[k % names.size()], values[k]);
  }
}

}  // namespace

// Of one thread, for blocks of up to kBlockRows rows.
struct Ensemble::Scratch {
  explicit Scratch(const Ensemble& model)
      : inputs(model.num_inputs(), kBlockRows),
        rows(kBlockRows * std::max(model.num_inputs(), model.num_outputs())),
        networks(model.stack_.components, kBlockRows),
        component(model.stack_.scratch_size) {}

  // What values on their way through the flow need, and predictions do not.
  void prepare_flow(const Ensemble& model) {
    if (!flow) {
      values = {model.num_outputs(), kBlockRows};
      flow.emplace(*model.flow_, kBlockRows);
    }
  }

  PanelBuffer<float> inputs;
  PanelBuffer<float> values;  // of outputs or base space
  std::vector<float> rows;    // scaled
  MlpWorkspace<float> networks;
  Block<float> component;  // of shared weights
  std::optional<FlowWorkspace<float>> flow;
};

Ensemble::Ensemble(EnsembleOptions options, EnsembleColumns columns)
    : Ensemble(options, columns, draw_masks(options, columns), draw_permutations(options, columns)) {
  initialise<float>(stack_, options_.seed, options_.own_initial_weights, parameters_);
  if (flow_) {
    initialise<float>(*flow_, Stream(options_.seed, Purpose::kInitialise, kFlowStream), parameters_);
  }
}

Ensemble::Ensemble(EnsembleOptions options, EnsembleColumns columns, std::vector<Mask> masks,
                   std::vector<Permutation> permutations)
    : options_(std::move(options)), columns_(std::move(columns)) {
  options_.check_values();
  options_.bootstrap = options_.bootstrap && !options_.share_weights;
  options_.own_initial_weights = options_.own_initial_weights && !options_.share_weights;
  check(!columns_.inputs.empty() && !columns_.targets.empty(),
        "ensemble: {} inputs and {} targets; at least one of each is required", columns_.inputs.size(),
        columns_.targets.size());
  columns_.input_scaling.check_values("ensemble: input_scaling");
  columns_.target_scaling.check_values("ensemble: target_scaling");
  check(columns_.input_scaling.num_columns() == num_inputs() && columns_.target_scaling.num_columns() == num_outputs(),
        "ensemble: scaling of {} inputs and {} targets for {} and {}", columns_.input_scaling.num_columns(),
        columns_.target_scaling.num_columns(), num_inputs(), num_outputs());
  check(masks.size() == options_.num_components, "ensemble: {} masks for {} components", masks.size(),
        options_.num_components);
  weights_ = Weights::from(options_.weights, options_.num_components);
  mean_units_ = columns_.target_scaling;
  if (options_.model == Model::kFlow) {
    mean_units_ = {std::vector<double>(num_outputs(), 0.0), std::vector<double>(num_outputs(), 1.0)};
  }
  const MlpShape shape = component_shape(options_, columns_);
  stack_ = options_.share_weights ? make_shared_stack(shape, std::move(masks)) : make_stack(shape, std::move(masks));
  flow_begin_ = stack_.layout.align();
  if (options_.model == Model::kFlow) {
    check(permutations.size() == options_.num_flow_layers, "ensemble: {} permutations for {} flow layers",
          permutations.size(), options_.num_flow_layers);
    const CouplingShape coupling{.num_inputs = num_inputs(),
                                 .num_outputs = num_outputs(),
                                 .transform = options_.transform,
                                 .hidden = options_.flow_hidden};
    flow_.emplace(coupling, std::move(permutations), stack_.layout);
    stack_.layout.align();
  }
  written_by_ = kVersion;
  parameters_.resize(stack_.layout.size());
  log_stddev_floor_.assign(num_components() * num_outputs(), static_cast<float>(kGaussian.log_stddev_min));
}

std::size_t Ensemble::check_inputs(std::span<const double> inputs, std::string_view function) const {
  check(inputs.size() % num_inputs() == 0, "{}: {} input values; rows of {} are required", function, inputs.size(),
        num_inputs());
  check_rows(inputs, function);
  return inputs.size() / num_inputs();
}

void Ensemble::check_rows(std::span<const double> inputs, std::string_view source, const RowNumber& row_number) const {
  const std::size_t C = num_inputs();
  const auto usable = [&](std::size_t column, double value) {  // false for what is not finite as well
    return std::abs(columns_.input_scaling.scaled(column, value)) <= kFarthestInput;
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
      fail("{}: row {} column '{}' is {}; {}", source, (row_number ? row_number(k / C) : k / C) + 1,
           columns_.inputs[k % C], inputs[k],
           std::isfinite(inputs[k]) ? "it is too far from the rows of the fit to compute with"
                                    : "numbers must be finite");
    }
  }
}

// Calls body(begin, end, scratch) for blocks of rows, whose inputs stand scaled in scratch.inputs.
void Ensemble::for_row_blocks(std::span<const double> inputs, Executor* executor,
                              const std::function<void(std::size_t, std::size_t, Scratch&)>& body) const {
  for_blocks(
      executor, inputs.size() / num_inputs(), kBlockRows, [&] { return Scratch(*this); },
      [&](std::size_t begin, std::size_t end, Scratch& scratch) {
        pack_scaled(columns_.input_scaling, inputs.subspan(begin * num_inputs(), (end - begin) * num_inputs()),
                    scratch.rows, scratch.inputs.panel());
        body(begin, end, scratch);
      });
}

// Means and log-stddevs of one component for the inputs in scratch.
Panel<float> Ensemble::heads_of(std::size_t component, std::size_t batch, Scratch& scratch) const {
  const std::span<const float> own = component_block<float>(stack_, component, parameters_, scratch.component);
  const Panel<float> heads =
      forward<float>(stack_.components[component], own, scratch.inputs.panel(), batch, scratch.networks);
  const std::size_t D = num_outputs();
  for (std::size_t d = 0; d < D; ++d) {
    const float floor = log_stddev_floor_[component * D + d];
    float* log_stddev = heads.row(D + d);
    for (std::size_t b = 0; b < batch; ++b) {
      log_stddev[b] = std::max(log_stddev[b], floor);
    }
  }
  return heads;
}

// mean and stddev: [batch][M][D]
void Ensemble::predict_block(std::size_t batch, Scratch& scratch, std::span<double> mean,
                             std::span<double> stddev) const {
  const std::size_t D = num_outputs();
  const std::size_t row = num_components() * D;
  const std::vector<double> zeros(D, 0.0);
  const OutputMap of_mean{mean_units_.offset.data(), mean_units_.scale.data()};
  const OutputMap of_stddev{zeros.data(), mean_units_.scale.data(), true, kGaussian.log_stddev_min,
                            kGaussian.log_stddev_max};
  for (std::size_t m = 0; m < num_components(); ++m) {
    const Panel<const float> heads = heads_of(m, batch, scratch);
    unpack_rows(heads.slice(0, D), batch, of_mean, {mean.data() + m * D, row});
    unpack_rows(heads.slice(D, D), batch, of_stddev, {stddev.data() + m * D, row});
  }
}

void Ensemble::limit_certainty(std::span<const double> inputs, Executor* executor) {
  const std::size_t num_rows = check_inputs(inputs, "fit");
  const std::size_t size = log_stddev_floor_.size();
  const std::size_t D = num_outputs();
  const std::size_t num_blocks = (num_rows + kBlockRows - 1) / kBlockRows;
  std::vector<float> lowest(num_blocks * size, std::numeric_limits<float>::infinity());
  for_row_blocks(inputs, executor, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::span<float> own = std::span(lowest).subspan(begin / kBlockRows * size, size);
    for (std::size_t k = 0; k < size; ++k) {
      const Panel<float> heads = k % D == 0 ? heads_of(k / D, end - begin, scratch) : scratch.networks.outputs();
      const float* log_stddev = heads.row(D + k % D);
      own[k] = *std::min_element(log_stddev, log_stddev + (end - begin));
    }
  });
  for (std::size_t k = 0; num_rows > 0 && k < size; ++k) {
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t block = 0; block < num_blocks; ++block) {
      least = std::min(least, lowest[block * size + k]);
    }
    log_stddev_floor_[k] =
        std::clamp(least, static_cast<float>(kGaussian.log_stddev_min), static_cast<float>(kGaussian.log_stddev_max));
  }
}

Mixture<double> Ensemble::predict(std::span<const double> inputs, Executor* executor) const {
  const std::size_t num_rows = check_inputs(inputs, "predict");
  const std::size_t row = num_components() * num_outputs();
  Mixture<double> mixture = Mixture<double>::diagonal(num_rows, num_components(), num_outputs());
  mixture.space = flow_ ? Space::kBase : Space::kOutput;
  mixture.weights = weights_;
  for_row_blocks(inputs, executor, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::size_t count = (end - begin) * row;
    predict_block(end - begin, scratch, std::span(mixture.mean).subspan(begin * row, count),
                  std::span(mixture.stddev).subspan(begin * row, count));
  });
  return mixture;
}

void Ensemble::predict_base(std::span<const double> inputs, Mixture<float>& base, Executor* executor) const {
  const std::size_t D = num_outputs();
  const std::size_t row = num_components() * D;
  base.num_inputs = check_inputs(inputs, "predict");
  base.num_components = num_components();
  base.num_outputs = D;
  base.mean.resize(base.num_inputs * row);
  base.stddev.resize(base.num_inputs * row);
  base.covariance.clear();
  base.space = Space::kBase;
  base.weights = weights_;
  for_row_blocks(inputs, executor, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    for (std::size_t m = 0; m < num_components(); ++m) {
      const Panel<float> heads = heads_of(m, end - begin, scratch);
      exponentiate_log_stddev(kGaussian, heads.slice(D, D), end - begin);
      const std::size_t first = begin * row + m * D;
      unpack_rows(heads.slice(0, D), end - begin, {base.mean.data() + first, row});
      unpack_rows(heads.slice(D, D), end - begin, {base.stddev.data() + first, row});
    }
  });
}

// outputs and base: [batch][D]
void Ensemble::to_base_block(std::span<const double> outputs, Scratch& scratch, std::span<double> base,
                             std::span<double> log_det) const {
  if (!flow_) {
    std::ranges::copy(outputs, base.begin());
    std::ranges::fill(log_det, 0.0);
    return;
  }
  const std::size_t D = num_outputs();
  const std::size_t batch = outputs.size() / D;
  scratch.prepare_flow(*this);
  pack_scaled(columns_.target_scaling, outputs, scratch.rows, scratch.values.panel());
  const FlowResult<float> result = dissent::to_base<float>(*flow_, parameters_, scratch.inputs.panel(),
                                                           scratch.values.panel(), batch, *scratch.flow);
  const double log_scale = columns_.target_scaling.log_scale_sum();
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t d = 0; d < D; ++d) {
      base[b * D + d] = static_cast<double>(result.values(d, b));
    }
    log_det[b] = static_cast<double>(result.log_det[b]) - log_scale;
  }
}

void Ensemble::to_base(std::span<const double> inputs, std::span<const double> outputs, std::span<double> base,
                       std::span<double> log_det, Executor* executor) const {
  const std::size_t num_rows = check_inputs(inputs, "to_base");
  const std::size_t D = num_outputs();
  check(outputs.size() == num_rows * D && base.size() == outputs.size() && log_det.size() == num_rows,
        "to_base: {} outputs, {} base values and {} log-determinants for {} rows of {}", outputs.size(), base.size(),
        log_det.size(), num_rows, D);
  check_finite_rows(outputs, columns_.targets, "to_base");
  for_row_blocks(inputs, executor, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::size_t batch = end - begin;
    to_base_block(outputs.subspan(begin * D, batch * D), scratch, base.subspan(begin * D, batch * D),
                  log_det.subspan(begin, batch));
  });
}

std::vector<double> Ensemble::log_density(std::span<const double> inputs, std::span<const double> targets,
                                          Executor* executor) const {
  const std::size_t num_rows = check_inputs(inputs, "log_density");
  const std::size_t D = num_outputs();
  const std::size_t M = num_components();
  check(targets.size() == num_rows * D, "log_density: {} target values for {} rows of {}", targets.size(), num_rows, D);
  check_finite_rows(targets, columns_.targets, "log_density");
  std::vector<double> result(num_rows);
  for_row_blocks(inputs, executor, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::size_t batch = end - begin;
    std::vector<double> mean(batch * M * D);
    std::vector<double> stddev(batch * M * D);
    std::vector<double> base(batch * D);
    std::vector<double> log_det(batch);
    std::vector<double> terms(M);
    predict_block(batch, scratch, mean, stddev);
    to_base_block(targets.subspan(begin * D, batch * D), scratch, base, log_det);
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t m = 0; m < M; ++m) {
        const std::size_t at = (b * M + m) * D;
        const DiagonalGaussian member{std::span(mean).subspan(at, D), std::span(stddev).subspan(at, D)};
        terms[m] = weights_.log[m] + dissent::log_density(member, std::span(base).subspan(b * D, D));
      }
      result[begin + b] = log_sum_exp(terms) + log_det[b];
    }
  });
  return result;
}

void Ensemble::to_outputs(std::span<const double> inputs, std::span<const double> base, std::span<double> outputs,
                          std::span<double> log_det, Executor* executor) const {
  const std::size_t num_rows = check_inputs(inputs, "to_outputs");
  const std::size_t D = num_outputs();
  check(base.size() == num_rows * D && outputs.size() == base.size() && (log_det.empty() || log_det.size() == num_rows),
        "to_outputs: {} base values, {} outputs and {} log-determinants for {} rows of {}", base.size(), outputs.size(),
        log_det.size(), num_rows, D);
  if (!flow_) {
    std::ranges::copy(base, outputs.begin());
    std::ranges::fill(log_det, 0.0);
    return;
  }
  const double log_scale = columns_.target_scaling.log_scale_sum();
  for_row_blocks(inputs, executor, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::size_t batch = end - begin;
    scratch.prepare_flow(*this);
    const Panel<float> z = scratch.values.panel();
    for (std::size_t k = 0; k < batch * D; ++k) {
      z(k % D, k / D) = static_cast<float>(base[begin * D + k]);
    }
    const FlowResult<float> result =
        from_base<float>(*flow_, parameters_, scratch.inputs.panel(), z, batch, *scratch.flow);
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t d = 0; d < D; ++d) {
        outputs[(begin + b) * D + d] = columns_.target_scaling.original(d, static_cast<double>(result.values(d, b)));
      }
      if (!log_det.empty()) {
        log_det[begin + b] = static_cast<double>(result.log_det[b]) + log_scale;
      }
    }
  });
}

// In groups of rows, and segments of a row's draws, so that what lies beside the result stays small. A row's stream
// goes on from segment to segment: the draws are those of one piece.
std::vector<double> Ensemble::sample(std::span<const double> inputs, std::size_t num_samples, std::uint64_t seed,
                                     Executor* executor) const {
  const std::size_t N = check_inputs(inputs, "sample");
  const std::size_t M = num_components();
  const std::size_t C = num_inputs();
  const std::size_t D = num_outputs();
  std::vector<double> outputs;
  check(N == 0 || num_samples <= outputs.max_size() / N / D,
        "sample: {} draws of {} outputs for each of {} rows are more than memory can hold", num_samples, D, N);
  if (N == 0 || num_samples == 0) {
    return outputs;
  }
  outputs.resize(N * num_samples * D);
  constexpr std::size_t kDraws = 64 * kBlockRows;  // at a time
  const std::size_t group = std::min(N, std::max<std::size_t>(64, kDraws / num_samples));
  const std::size_t segment = std::min(num_samples, kDraws / std::min(group, kDraws));
  std::vector<double> repeated;
  std::vector<double> base;
  std::vector<double> drawn;
  std::vector<Stream> streams;
  for (std::size_t first = 0; first < N; first += group) {
    const std::size_t count = std::min(group, N - first);
    const Mixture<double> mixture = predict(inputs.subspan(first * C, count * C), executor);
    streams.clear();
    for (std::size_t n = 0; n < count; ++n) {
      streams.emplace_back(seed, Purpose::kSample, first + n);
    }
    for (std::size_t begin = 0; begin < num_samples; begin += segment) {
      const std::size_t length = std::min(segment, num_samples - begin);
      repeated.resize(count * length * C);
      base.resize(count * length * D);
      drawn.resize(base.size());
      const auto draw = [&](std::size_t n, std::size_t row) {
        std::ranges::copy(inputs.subspan((first + n) * C, C), repeated.begin() + static_cast<std::ptrdiff_t>(row * C));
        double left = streams[n].uniform();
        std::size_t m = 0;
        while (m + 1 < M && left >= weights_.value[m]) {
          left -= weights_.value[m++];
        }
        for (std::size_t d = 0; d < D; ++d) {
          const std::size_t at = (n * M + m) * D + d;
          base[row * D + d] = mixture.mean[at] + mixture.stddev[at] * streams[n].normal();
        }
      };
      for_blocks(executor, count, std::max<std::size_t>(1, kBlockRows / length), [&](auto from, auto to, std::size_t) {
        for (std::size_t row = from * length; row < to * length; ++row) {
          draw(row / length, row);
        }
      });
      to_outputs(repeated, base, drawn, {}, executor);
      for (std::size_t n = 0; n < count; ++n) {
        std::copy_n(drawn.data() + n * length * D, length * D,
                    outputs.data() + ((first + n) * num_samples + begin) * D);
      }
    }
  }
  return outputs;
}

}  // namespace dissent
