#include "dissent/device/train_shape.hpp"

#include <algorithm>

#include "dissent/device/train_kernel.hpp"

namespace dissent::device {
namespace {

constexpr std::size_t kMostBatch = kMostRows;

DenseNet dense_net(const Mlp& mlp, std::span<const float> block) {
  DenseNet net;
  const std::span<const float> own = mlp.range(block);
  net.begin = static_cast<int>(own.data() - block.data());
  net.end = net.begin + static_cast<int>(own.size());
  for (const Mlp::Layer& layer : mlp.layers()) {
    net.layers[net.num_layers++] = {static_cast<int>(layer.num_inputs), static_cast<int>(layer.num_outputs),
                                    static_cast<int>(layer.weight), static_cast<int>(layer.bias)};
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

// With copies of what fits beside the rest, so that three blocks still share a multiprocessor.
TrainMemory with_copies(const TrainShape& shape) {
  TrainMemory more = shape.memory;
  more.flow_copy = shape.conditioner.end - shape.conditioner.begin;
  for (const DenseNet& net : shape.networks) {
    more.base_copy = std::max(more.base_copy, net.end - net.begin);
  }
  if (shared_bytes(shape.kind.rows, more) > kThirdShared) {
    return shape.memory;
  }
  TrainMemory most = more;
  most.gradients = shape.conditioner.num_layers == 0 || shape.kind.group >= static_cast<int>(shape.networks.size());
  return shared_bytes(shape.kind.rows, most) <= kThirdShared ? most : more;
}

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
    kind.group = std::min(static_cast<int>(networks.size()), kMaxGroup);
    memory.flow_units = widest_hidden(conditioner) + 1;
  }
  memory.base_units = base + 1;
  const bool few = problem.batch_size <= kFewRows || shared_bytes(kSomeRows, memory) > most_shared;
  kind.rows = few ? kFewRows : kSomeRows;
  kind.most_rows = kind.rows;
  while (!few && kind.most_rows < kMostRows &&
         kind.most_rows < static_cast<int>(std::min(problem.batch_size, kMostBatch))) {
    kind.most_rows *= 2;
  }
  memory = with_copies(*this);
  kind.copies = memory.base_copy > 0;
  kind.gradients = memory.gradients;
  const int heads = networks.front().layers[networks.front().num_layers - 1].outputs;
  scratch_size = kind.most_rows * (kept + kept_units(conditioner) + heads + std::max(base, memory.flow_units));
}

int TrainShape::widest() const { return std::max(memory.base_units, memory.flow_units) - 1; }

}  // namespace dissent::device
