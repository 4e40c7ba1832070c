#include "dissent/ensemble/network_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/matrix/rows.hpp"

namespace dissent {
namespace {

constexpr std::uint64_t kFlowStream = std::uint64_t{1} << 32;  // beyond every component's number

MlpShape component_shape(const EnsembleOptions& options, const EnsembleColumns& columns) {
  return gaussian_shape(columns.inputs.size(), options.hidden_sizes(), columns.targets.size());
}

std::vector<Mask> draw_masks(const EnsembleOptions& options, const EnsembleColumns& columns) {
  const MlpShape shape = component_shape(options, columns);
  std::vector<Mask> masks;
  for (std::size_t c = 0; c < options.num_components; ++c) {
    masks.push_back(options.keep_probability == 1 ? full_mask(shape)
                                                  : draw_mask(shape, options.keep_probability, options.seed, c));
  }
  return masks;
}

struct NetworkScratch final : ComponentModel::Scratch {
  explicit NetworkScratch(const MlpStack& stack)
      : networks(stack.components, kModelBlock), component(stack.scratch_size) {}

  MlpWorkspace<float> networks;
  Block<float> component;  // the component's part of shared weights
};

NetworkScratch& own(ComponentModel::Scratch& scratch) { return static_cast<NetworkScratch&>(scratch); }

}  // namespace

NetworkModel::NetworkModel(MlpStack stack, std::size_t flow_begin)
    : stack_(std::move(stack)),
      flow_begin_(flow_begin),
      parameters_(stack_.layout.size()),
      log_stddev_floor_(num_components() * num_outputs(), static_cast<float>(kGaussian.log_stddev_min)) {}

std::unique_ptr<ComponentModel::Scratch> NetworkModel::make_scratch() const {
  return std::make_unique<NetworkScratch>(stack_);
}

Panel<float> NetworkModel::heads_of(std::size_t component, const RowBlock& rows, Scratch& scratch) const {
  const std::span<const float> block = component_block<float>(stack_, component, parameters_, own(scratch).component);
  const Panel<float> heads =
      forward<float>(stack_.components[component], block, rows.scaled, rows.count, own(scratch).networks);
  const std::size_t D = num_outputs();
  for (std::size_t d = 0; d < D; ++d) {
    const float floor = log_stddev_floor_[component * D + d];
    float* log_stddev = heads.row(D + d);
    for (std::size_t b = 0; b < rows.count; ++b) {
      log_stddev[b] = std::max(log_stddev[b], floor);
    }
  }
  return heads;
}

void NetworkModel::predict(const RowBlock& rows, const Scaling& units, Scratch& scratch, std::span<double> mean,
                           std::span<double> stddev) const {
  const std::size_t D = num_outputs();
  const std::size_t row = num_components() * D;
  const std::vector<double> zeros(D, 0.0);
  const UnpackMap of_mean{units.offset.data(), units.scale.data()};
  const UnpackMap of_stddev{zeros.data(), units.scale.data(), true, kGaussian.log_stddev_min, kGaussian.log_stddev_max};
  for (std::size_t m = 0; m < num_components(); ++m) {
    const Panel<const float> heads = heads_of(m, rows, scratch);
    unpack_rows(heads.slice(0, D), rows.count, of_mean, {mean.data() + m * D, row});
    unpack_rows(heads.slice(D, D), rows.count, of_stddev, {stddev.data() + m * D, row});
  }
}

void NetworkModel::predict(const RowBlock& rows, Scratch& scratch, std::span<float> mean,
                           std::span<float> stddev) const {
  const std::size_t D = num_outputs();
  const std::size_t row = num_components() * D;
  for (std::size_t m = 0; m < num_components(); ++m) {
    const Panel<float> heads = heads_of(m, rows, scratch);
    exponentiate_log_stddev(kGaussian, heads.slice(D, D), rows.count);
    unpack_rows(heads.slice(0, D), rows.count, {mean.data() + m * D, row});
    unpack_rows(heads.slice(D, D), rows.count, {stddev.data() + m * D, row});
  }
}

void NetworkModel::limit_certainty(const Scaling& input_scaling, std::span<const double> inputs, Executor* executor) {
  const std::size_t num_rows = inputs.size() / input_scaling.num_columns();
  const std::size_t size = log_stddev_floor_.size();
  const std::size_t D = num_outputs();
  const std::size_t num_blocks = (num_rows + kModelBlock - 1) / kModelBlock;
  std::vector<float> lowest(num_blocks * size, std::numeric_limits<float>::infinity());
  for_row_blocks(
      input_scaling, inputs, executor, [&] { return make_scratch(); },
      [&](const RowBlock& rows, std::unique_ptr<Scratch>& scratch) {
        const std::span<float> least = std::span(lowest).subspan(rows.begin / kModelBlock * size, size);
        for (std::size_t k = 0; k < size; ++k) {
          const Panel<float> heads = k % D == 0 ? heads_of(k / D, rows, *scratch) : own(*scratch).networks.outputs();
          const float* log_stddev = heads.row(D + k % D);
          least[k] = *std::min_element(log_stddev, log_stddev + rows.count);
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

// Adds ln f to the bias of the log-stddevs and to their lower limit. Their upper limit, the same for all models, stays.
void NetworkModel::scale_spread(std::span<const double> factors) {
  const std::size_t D = num_outputs();
  for (const Slice& slice : stack_.layout.slices()) {
    if (!slice.name.ends_with("log_stddev.bias")) {
      continue;
    }
    const std::span<float> bias = values_of(slice, parameters());
    for (std::size_t d = 0; d < D; ++d) {
      bias[d] = static_cast<float>(static_cast<double>(bias[d]) + std::log(factors[d]));
    }
  }
  for (std::size_t k = 0; k < log_stddev_floor_.size(); ++k) {
    log_stddev_floor_[k] =
        static_cast<float>(std::clamp(static_cast<double>(log_stddev_floor_[k]) + std::log(factors[k % D]),
                                      kGaussian.log_stddev_min, kGaussian.log_stddev_max));
  }
}

void NetworkModel::raise_floor(std::span<const double> stddev) {
  for (std::size_t k = 0; k < log_stddev_floor_.size(); ++k) {
    const double floor =
        std::clamp(std::log(stddev[k % num_outputs()]), kGaussian.log_stddev_min, kGaussian.log_stddev_max);
    log_stddev_floor_[k] = std::max(log_stddev_floor_[k], static_cast<float>(floor));
  }
}

void NetworkModel::visit_heads(const RowBlock& rows, bool with_heads, Scratch& scratch, const VisitHeads& visit) const {
  for (std::size_t m = 0; m < num_components(); ++m) {
    const Mlp& network = stack_.components[m];
    HeadBlock block{.begin = rows.begin, .count = rows.count, .component = m, .hidden = {}, .heads = {}};
    if (with_heads) {
      block.heads = heads_of(m, rows, scratch);
    } else {
      const std::span<const float> parameters = component_block<float>(stack_, m, parameters_, own(scratch).component);
      forward_hidden<float>(network, parameters, rows.scaled, rows.count, own(scratch).networks);
    }
    block.hidden = last_hidden(network, own(scratch).networks);
    visit(block);
  }
}

ModelParts assemble_networks(const EnsembleOptions& options, const EnsembleColumns& columns, std::vector<Mask> masks,
                             std::vector<Permutation> permutations) {
  check(masks.size() == options.num_components, "{} masks for {} components", masks.size(), options.num_components);
  check(permutations.size() == options.flow_layers(), "{} permutations for {} flow layers", permutations.size(),
        options.flow_layers());
  const MlpShape shape = component_shape(options, columns);
  MlpStack stack =
      options.share_weights ? make_shared_stack(shape, std::move(masks)) : make_stack(shape, std::move(masks));
  const std::size_t flow_begin = stack.layout.align();
  std::optional<Flow> flow;
  if (!permutations.empty()) {
    const CouplingShape coupling{.num_inputs = columns.inputs.size(),
                                 .num_outputs = columns.targets.size(),
                                 .transform = options.transform,
                                 .hidden = options.flow_hidden};
    flow.emplace(coupling, std::move(permutations), stack.layout);
    stack.layout.align();
  }
  return {std::make_unique<NetworkModel>(std::move(stack), flow_begin),
          OutputMap(columns.target_scaling, columns.logarithm, std::move(flow))};
}

ModelParts make_networks(const EnsembleOptions& options, const EnsembleColumns& columns) {
  const auto draw_permutations = options.alternate_layers ? alternating_permutations : random_permutations;
  ModelParts parts = assemble_networks(options, columns, draw_masks(options, columns),
                                       draw_permutations(options.flow_layers(), columns.targets.size(), options.seed));
  auto& networks = static_cast<NetworkModel&>(*parts.components);
  initialise_networks(options, networks, *parts.output_map, networks.parameters());
  return parts;
}

void initialise_networks(const EnsembleOptions& options, const NetworkModel& networks, const OutputMap& map,
                         std::span<float> parameters) {
  initialise<float>(networks.stack(), options.seed, options.own_initial_weights, parameters);
  if (const Flow* flow = map.flow()) {
    initialise<float>(*flow, Stream(options.seed, Purpose::kInitialise, kFlowStream), parameters);
  }
}

}  // namespace dissent
