#include "dissent/device/train_shape.hpp"

#include <algorithm>

#include "dissent/device/train_kernel.hpp"

namespace dissent::device {
namespace {

constexpr std::size_t kMostOrders = std::size_t{1} << 27;  // rows: each slice has its own order

DenseNet dense_net(const Mlp& mlp, std::span<const float> block) {
  DenseNet net;
  const std::span<const float> own = mlp.range(block);
  net.begin = static_cast<int>(own.data() - block.data());
  net.end = net.begin + static_cast<int>(own.size());
  int copy = 0;
  for (const Mlp::Layer& layer : mlp.layers()) {
    const auto inputs = static_cast<int>(layer.num_inputs);
    const auto outputs = static_cast<int>(layer.num_outputs);
    net.layers[net.num_layers++] = {inputs, outputs, static_cast<int>(layer.weight), static_cast<int>(layer.bias),
                                    copy};
    copy += copy_size(inputs, outputs);
  }
  return net;
}

int widest_hidden(const DenseNet& net) {
  int most = 0;
  for (int l = 0; l + 1 < net.num_layers; ++l) {
    most = std::max(most, net.layers[l].outputs);
  }
  return most;
}

// Columns of a panel that has room for the units of a layer and the bias.
int panel_columns(int units) { return std::max(rounded_up(units), units + 1); }

// Size of the copy of a network's hidden layers, which come before the last.
int hidden_copy(const DenseNet& net) { return net.num_layers == 0 ? 0 : net.layers[net.num_layers - 1].copy; }

}  // namespace

TrainShape::TrainShape(const FitProblem& problem, std::size_t most_shared) {
  const std::span<const float> block = problem.networks.parameters();
  int base = 0;
  int kept = 0;
  for (const Mlp& mlp : problem.networks.stack().components) {
    networks.push_back(dense_net(mlp, block));
    base = std::max(base, widest_hidden(networks.back()));
    kept = std::max(kept, kept_units(networks.back()));
  }
  if (problem.flow != nullptr) {
    conditioner = dense_net(problem.flow->layers().front().conditioner(), block);
    kind.flow_width = padded_flow_width(conditioner.layers[conditioner.num_layers - 1].inputs);
    kind.members = std::min(static_cast<int>(networks.size()), kMaxMembers);
    memory.flow_units = panel_columns(widest_hidden(conditioner));
    memory.stage = stage_size(kind.flow_width) + raw_size(conditioner.layers[conditioner.num_layers - 1].inputs);
  }
  memory.base_units = panel_columns(base);
  const bool few = problem.batch_size <= kFewRows || shared_bytes(kSomeRows, memory) > most_shared;
  kind.rows = few ? kFewRows : kSomeRows;
  const auto batch = static_cast<int>(std::min(problem.batch_size, problem.num_rows));
  kind.slices = std::clamp((batch + kind.rows - 1) / kind.rows, 1, kMaxSlices / kind.members);
  if (static_cast<std::size_t>(kind.slices) * problem.samples.size() * problem.num_rows > kMostOrders) {
    kind.slices = 1;
  }
  kind.most_rows = !few && slice_rows(batch, kind.slices, kind.rows) > kind.rows ? kMostRows : kind.rows;
  kind.in_turn = problem.flow != nullptr && kind.members < static_cast<int>(networks.size());
  if (!kind.in_turn) {
    memory.flow_copy = hidden_copy(conditioner);
    memory.flow_gradient = conditioner.end - conditioner.begin;
    for (const DenseNet& net : networks) {
      memory.base_copy = std::max(memory.base_copy, hidden_copy(net));
      memory.base_gradient = std::max(memory.base_gradient, net.end - net.begin);
    }
  }
  const int heads = networks.front().layers[networks.front().num_layers - 1].outputs;
  const int carried = std::max(memory.base_units, memory.flow_units);
  scratch_size = kind.most_rows * (kept + kept_units(conditioner) + heads + carried);
}

int TrainShape::widest() const {
  int most = widest_hidden(conditioner);
  for (const DenseNet& net : networks) {
    most = std::max(most, widest_hidden(net));
  }
  return most;
}

}  // namespace dissent::device
