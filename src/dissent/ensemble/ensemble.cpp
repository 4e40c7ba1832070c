#include "dissent/ensemble/ensemble.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/special.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "dissent/network/rows.hpp"

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

// Component c keeps its part of a full network drawn from its own stream; with shared initial weights, from the first.
void draw_components(const EnsembleOptions& options, const MlpStack& stack, std::span<float> block) {
  Layout layout;
  const Mlp full(stack.full, layout);
  layout.align();
  Block<float> values(layout.size());
  for (std::size_t c = 0; c < stack.components.size(); ++c) {
    const Stream stream(options.seed, Purpose::kInitialise, options.own_initial_weights ? c : 0);
    initialise<float>(full, stream, values);
    gather<float>({full, stack.components[c], stack.masks[c]}, values, block);
  }
}

// By exponents of all ones, which the compiler can look for in vectors of values.
bool all_finite(std::span<const double> values) {
  constexpr std::uint64_t kExponent = std::uint64_t{0x7ff} << 52;
  std::uint64_t found = 0;
  for (const double value : values) {
    found |= static_cast<std::uint64_t>((std::bit_cast<std::uint64_t>(value) & kExponent) == kExponent);
  }
  return found == 0;
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

// Scratch of one thread, for blocks of up to kBlockRows rows.
struct Scratch {
  explicit Scratch(const Ensemble& model)
      : inputs(model.num_inputs(), kBlockRows),
        values(model.num_outputs(), kBlockRows),
        rows(kBlockRows * std::max(model.num_inputs(), model.num_outputs())),
        networks(model.stack().components, kBlockRows) {
    if (model.flow() != nullptr) {
      flow.emplace(*model.flow(), kBlockRows);
    }
  }

  PanelBuffer<float> inputs;
  PanelBuffer<float> values;
  std::vector<float> rows;  // scaled
  MlpWorkspace<float> networks;
  std::optional<FlowWorkspace<float>> flow;
};

void pack_scaled(const Scaling& scaling, std::span<const double> rows, std::span<float> scaled, Panel<float> panel) {
  const std::size_t num_columns = scaling.num_columns();
  const std::size_t num_rows = rows.size() / num_columns;
  for (std::size_t b = 0; b < num_rows; ++b) {
    for (std::size_t c = 0; c < num_columns; ++c) {
      scaled[b * num_columns + c] = static_cast<float>(scaling.scaled(c, rows[b * num_columns + c]));
    }
  }
  pack_rows({scaled.data(), num_columns}, nullptr, num_rows, panel);
}

// Calls body(begin, end, scratch) for blocks of rows.
void for_row_blocks(const Ensemble& model, std::size_t num_rows, ThreadPool* pool,
                    const std::function<void(std::size_t, std::size_t, Scratch&)>& body) {
  const int num_threads = pool == nullptr ? 1 : pool->num_threads();
  std::vector<std::optional<Scratch>> scratch(static_cast<std::size_t>(num_threads));
  const auto run = [&](std::size_t begin, std::size_t end, int thread) {
    std::optional<Scratch>& own = scratch[static_cast<std::size_t>(thread)];
    if (!own) {
      own.emplace(model);
    }
    body(begin, end, *own);
  };
  if (pool != nullptr) {
    pool->for_blocks(num_rows, kBlockRows, run);
    return;
  }
  for (std::size_t begin = 0; begin < num_rows; begin += kBlockRows) {
    run(begin, std::min(begin + kBlockRows, num_rows), 0);
  }
}

}  // namespace

Ensemble::Ensemble(EnsembleOptions options, EnsembleColumns columns)
    : Ensemble(options, columns, draw_masks(options, columns), draw_permutations(options, columns)) {
  draw_components(options_, stack_, parameters_);
  if (flow_) {
    initialise<float>(*flow_, Stream(options_.seed, Purpose::kInitialise, kFlowStream), parameters_);
  }
}

Ensemble::Ensemble(EnsembleOptions options, EnsembleColumns columns, std::vector<Mask> masks,
                   std::vector<Permutation> permutations)
    : options_(std::move(options)), columns_(std::move(columns)) {
  options_.check_values();
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
  stack_ = make_stack(component_shape(options_, columns_), std::move(masks));
  flow_begin_ = stack_.layout.align();
  if (options_.model == Model::kFlow) {
    check(permutations.size() == options_.num_flow_layers, "ensemble: {} permutations for {} flow layers",
          permutations.size(), options_.num_flow_layers);
    const CouplingShape shape{.num_inputs = num_inputs(),
                              .num_outputs = num_outputs(),
                              .transform = options_.transform,
                              .hidden = options_.flow_hidden};
    flow_.emplace(shape, std::move(permutations), stack_.layout);
    stack_.layout.align();
  }
  parameters_.resize(stack_.layout.size());
}

std::size_t Ensemble::check_inputs(std::span<const double> inputs, std::string_view function) const {
  check(inputs.size() % num_inputs() == 0, "{}: {} input values; rows of {} are required", function, inputs.size(),
        num_inputs());
  check_finite_rows(inputs, columns_.inputs, function);
  return inputs.size() / num_inputs();
}

// store(m, begin, batch, means, stddevs) for every component and block of rows; panels of base space.
void Ensemble::predict_blocks(
    std::span<const double> inputs, ThreadPool* pool,
    const std::function<void(std::size_t, std::size_t, std::size_t, Panel<const float>, Panel<const float>)>& store)
    const {
  const std::size_t D = num_outputs();
  for_row_blocks(*this, inputs.size() / num_inputs(), pool, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::size_t batch = end - begin;
    pack_scaled(columns_.input_scaling, inputs.subspan(begin * num_inputs(), batch * num_inputs()), scratch.rows,
                scratch.inputs.panel());
    for (std::size_t m = 0; m < num_components(); ++m) {
      const Panel<float> heads =
          forward<float>(stack_.components[m], parameters_, scratch.inputs.panel(), batch, scratch.networks);
      exponentiate_log_stddev(kGaussian, heads.slice(D, D), batch);
      store(m, begin, batch, heads.slice(0, D), heads.slice(D, D));
    }
  });
}

Mixture<double> Ensemble::predict(std::span<const double> inputs, ThreadPool* pool) const {
  const std::size_t num_rows = check_inputs(inputs, "predict");
  const std::size_t D = num_outputs();
  const std::size_t row = num_components() * D;
  Mixture<double> mixture = Mixture<double>::diagonal(num_rows, num_components(), D);
  const std::vector<double> zeros(D, 0.0);
  const std::vector<double> offset = flow_ ? zeros : columns_.target_scaling.offset;
  const std::vector<double> scale = flow_ ? std::vector<double>(D, 1.0) : columns_.target_scaling.scale;
  predict_blocks(inputs, pool, [&](std::size_t m, std::size_t begin, std::size_t batch, Panel<const float> mean,
                                   Panel<const float> stddev) {
    const std::size_t first = begin * row + m * D;
    unpack_rows(mean, batch, {offset.data(), scale.data()}, {mixture.mean.data() + first, row});
    unpack_rows(stddev, batch, {zeros.data(), scale.data()}, {mixture.stddev.data() + first, row});
  });
  return mixture;
}

void Ensemble::predict_base(std::span<const double> inputs, Mixture<float>& base, ThreadPool* pool) const {
  const std::size_t num_rows = check_inputs(inputs, "predict_base");
  const std::size_t row = num_components() * num_outputs();
  base.num_inputs = num_rows;
  base.num_components = num_components();
  base.num_outputs = num_outputs();
  base.mean.resize(num_rows * row);
  base.stddev.resize(num_rows * row);
  base.covariance.clear();
  predict_blocks(inputs, pool, [&](std::size_t m, std::size_t begin, std::size_t batch, Panel<const float> mean,
                                   Panel<const float> stddev) {
    const std::size_t first = begin * row + m * num_outputs();
    unpack_rows(mean, batch, {base.mean.data() + first, row});
    unpack_rows(stddev, batch, {base.stddev.data() + first, row});
  });
}

std::vector<double> Ensemble::log_density(std::span<const double> inputs, std::span<const double> targets,
                                          ThreadPool* pool) const {
  const std::size_t num_rows = check_inputs(inputs, "log_density");
  const std::size_t D = num_outputs();
  const std::size_t M = num_components();
  check(targets.size() == num_rows * D, "log_density: {} target values for {} rows of {}", targets.size(), num_rows, D);
  check_finite_rows(targets, columns_.targets, "log_density");
  const double log_jacobian = -columns_.target_scaling.log_scale_sum();
  std::vector<double> result(num_rows);
  for_row_blocks(*this, num_rows, pool, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::size_t batch = end - begin;
    pack_scaled(columns_.input_scaling, inputs.subspan(begin * num_inputs(), batch * num_inputs()),
                scratch.rows, scratch.inputs.panel());
    pack_scaled(columns_.target_scaling, targets.subspan(begin * D, batch * D), scratch.rows,
                scratch.values.panel());
    Panel<const float> z = std::as_const(scratch.values).panel();
    const float* log_det = nullptr;
    if (flow_) {
      const FlowResult<float> base =
          to_base<float>(*flow_, parameters_, scratch.inputs.panel(), scratch.values.panel(), batch, *scratch.flow);
      z = base.values;
      log_det = base.log_det;
    }
    std::vector<double> terms(batch * M);
    for (std::size_t m = 0; m < M; ++m) {
      const Panel<float> heads =
          forward<float>(stack_.components[m], parameters_, scratch.inputs.panel(), batch, scratch.networks);
      for (std::size_t b = 0; b < batch; ++b) {
        double sum = weights_.log[m];
        for (std::size_t d = 0; d < D; ++d) {
          const double log_stddev =
              std::clamp(static_cast<double>(heads(D + d, b)), kGaussian.log_stddev_min, kGaussian.log_stddev_max);
          // The scaled target again in double: rounded to float it would lose what a small stddev can see.
          const double value =
              flow_ ? static_cast<double>(z(d, b)) : columns_.target_scaling.scaled(d, targets[(begin + b) * D + d]);
          const double residual = (value - static_cast<double>(heads(d, b))) * std::exp(-log_stddev);
          sum -= 0.5 * (kLogTwoPi + residual * residual) + log_stddev;
        }
        terms[b * M + m] = sum;
      }
    }
    for (std::size_t b = 0; b < batch; ++b) {
      result[begin + b] = log_sum_exp(std::span(terms).subspan(b * M, M)) + log_jacobian +
                          (log_det == nullptr ? 0.0 : static_cast<double>(log_det[b]));
    }
  });
  return result;
}

void Ensemble::to_outputs(std::span<const double> inputs, std::span<const double> base, std::span<double> outputs,
                          std::span<double> log_det, ThreadPool* pool) const {
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
  for_row_blocks(*this, num_rows, pool, [&](std::size_t begin, std::size_t end, Scratch& scratch) {
    const std::size_t batch = end - begin;
    pack_scaled(columns_.input_scaling, inputs.subspan(begin * num_inputs(), batch * num_inputs()),
                scratch.rows, scratch.inputs.panel());
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

std::vector<double> Ensemble::sample(std::span<const double> inputs, std::size_t num_samples, std::uint64_t seed,
                                     ThreadPool* pool) const {
  const Mixture<double> mixture = predict(inputs, pool);
  const std::size_t C = num_inputs();
  const std::size_t D = num_outputs();
  std::vector<double> repeated(mixture.num_inputs * num_samples * C);
  std::vector<double> base(mixture.num_inputs * num_samples * D);
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    Stream stream(seed, Purpose::kSample, n);
    for (std::size_t s = 0; s < num_samples; ++s) {
      const std::size_t row = n * num_samples + s;
      std::ranges::copy(inputs.subspan(n * C, C), repeated.begin() + static_cast<std::ptrdiff_t>(row * C));
      double left = stream.uniform();
      std::size_t m = 0;
      while (m + 1 < num_components() && left >= weights_.value[m]) {
        left -= weights_.value[m++];
      }
      for (std::size_t d = 0; d < D; ++d) {
        const std::size_t at = (n * num_components() + m) * D + d;
        base[row * D + d] = mixture.mean[at] + mixture.stddev[at] * stream.normal();
      }
    }
  }
  std::vector<double> outputs(base.size());
  to_outputs(repeated, base, outputs, {}, pool);
  return outputs;
}

}  // namespace dissent
