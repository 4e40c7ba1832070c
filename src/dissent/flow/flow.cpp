#include "dissent/flow/flow.hpp"

#include <algorithm>

#include "dissent/base/error.hpp"

namespace dissent {

Flow::Flow(const CouplingShape& shape, std::vector<Permutation> permutations, Layout& layout, const std::string& prefix)
    : shape_(shape) {
  check(!permutations.empty(), "there must be at least one layer");
  layers_.reserve(permutations.size());
  for (std::size_t l = 0; l < permutations.size(); ++l) {
    layers_.emplace_back(shape, std::move(permutations[l]), layout, fmt::format("{}layer{}.", prefix, l));
  }
}

std::vector<Permutation> random_permutations(std::size_t num_layers, std::size_t num_outputs, std::uint64_t seed) {
  std::vector<Permutation> permutations;
  for (std::size_t l = 0; l < num_layers; ++l) {
    permutations.push_back(random_permutation(num_outputs, seed, l));
  }
  return permutations;
}

std::vector<Permutation> alternating_permutations(std::size_t num_layers, std::size_t num_outputs, std::uint64_t seed) {
  std::vector<Permutation> permutations = random_permutations(num_layers, num_outputs, seed);
  const std::size_t num_transformed = (num_outputs + 1) / 2;  // they come first, in every layer
  for (std::size_t l = 1; l < num_layers; ++l) {
    std::stable_partition(permutations[l].begin(), permutations[l].end(),
                          [&](std::uint32_t from) { return from >= num_transformed; });
  }
  return permutations;
}

template <class T>
void initialise(const Flow& flow, const Stream& stream, std::span<T> block) {
  for (std::size_t l = 0; l < flow.layers().size(); ++l) {
    initialise<T>(flow.layers()[l].conditioner(), stream.substream(l), block);
  }
}

template <class T>
FlowWorkspace<T>::FlowWorkspace(const Flow& flow, std::size_t capacity)
    : capacity_(capacity), log_det_(padded_batch(capacity)) {
  layers_.reserve(flow.layers().size());
  for (const Coupling& layer : flow.layers()) {
    layers_.emplace_back(layer, capacity);
  }
  const std::size_t num_buffers = flow.layers().size() > 1 ? 2 : 1;
  for (std::size_t k = 0; k < num_buffers; ++k) {
    gradient_[k] = PanelBuffer<T>(flow.num_outputs(), capacity);
  }
}

template <class T>
struct FlowWorkspace<T>::Access {
  static void begin(const Flow& flow, Panel<const T> x, Panel<const T> values, std::size_t batch,
                    FlowWorkspace& workspace) {
    check(batch <= workspace.capacity_, "batch = {} exceeds the workspace's capacity {}", batch, workspace.capacity_);
    check(x.rows == flow.num_inputs(), "x has {} rows, not num_inputs = {}", x.rows, flow.num_inputs());
    check(values.rows == flow.num_outputs(), "y or z has {} rows, not num_outputs = {}", values.rows,
          flow.num_outputs());
    workspace.batch_ = batch;
    std::fill(workspace.log_det_.begin(), workspace.log_det_.end(), T(0));
  }

  static FlowResult<T> to_base(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> values,
                               FlowWorkspace& workspace) {
    for (std::size_t l = 0; l < flow.layers().size(); ++l) {
      coupling_forward(flow.layers()[l], CouplingCall<T>{block, workspace.batch_, x, values, workspace.log_det_.data()},
                       workspace.layers_[l]);
      values = workspace.layers_[l].result.panel();
    }
    return {workspace.layers_.back().result.panel(), workspace.log_det_.data()};
  }

  static FlowResult<T> from_base(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> values,
                                 FlowWorkspace& workspace) {
    for (std::size_t l = flow.layers().size(); l-- > 0;) {
      coupling_inverse(flow.layers()[l], CouplingCall<T>{block, workspace.batch_, x, values, workspace.log_det_.data()},
                       workspace.layers_[l]);
      values = workspace.layers_[l].result.panel();
    }
    return {workspace.layers_.front().result.panel(), workspace.log_det_.data()};
  }

  static void backward(const Flow& flow, std::span<const T> block, FlowWorkspace& workspace,
                       const FlowGradient<T>& gradient) {
    check(gradient.grad_base.rows == flow.num_outputs(), "grad_base has {} rows, not num_outputs = {}",
          gradient.grad_base.rows, flow.num_outputs());
    const std::size_t batch = workspace.batch_;
    Panel<T> current = workspace.gradient_[0].panel();
    for (std::size_t d = 0; d < flow.num_outputs(); ++d) {
      std::copy_n(gradient.grad_base.row(d), padded_batch(batch), current.row(d));
      std::fill(current.row(d) + batch, current.row(d) + padded_batch(batch), T(0));
    }
    backward_layers(flow, block, workspace, flow.layers().size(), gradient.grad_log_det, gradient.grad_block);
  }

  // Layers before `end`, from the gradient with respect to their result in gradient_[(number of layers - end) % 2].
  static void backward_layers(const Flow& flow, std::span<const T> block, FlowWorkspace& workspace, std::size_t end,
                              const T* grad_log_det, std::span<T> grad_block) {
    const std::size_t num_layers = flow.layers().size();
    for (std::size_t l = end; l-- > 0;) {
      const Panel<T> earlier = l > 0 ? workspace.gradient_[(num_layers - l) % 2].panel() : Panel<T>();
      coupling_backward(flow.layers()[l],
                        CouplingGradient<T>{.block = block,
                                            .batch = workspace.batch_,
                                            .grad_log_det = grad_log_det,
                                            .grad_result = workspace.gradient_[(num_layers - l - 1) % 2].panel(),
                                            .grad_block = grad_block,
                                            .grad_values = earlier},
                        workspace.layers_[l]);
    }
  }

  static FlowResult<T> step(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> values,
                            FlowWorkspace& workspace, const FlowStep<T>& step) {
    const std::size_t last = flow.layers().size() - 1;
    for (std::size_t l = 0; l < last; ++l) {
      coupling_forward(flow.layers()[l], CouplingCall<T>{block, workspace.batch_, x, values, workspace.log_det_.data()},
                       workspace.layers_[l]);
      values = workspace.layers_[l].result.panel();
    }
    coupling_step(flow.layers()[last],
                  CouplingStep<T>{.call = {block, workspace.batch_, x, values, workspace.log_det_.data()},
                                  .center = step.center,
                                  .curvature = step.curvature,
                                  .grad_log_det = step.grad_log_det,
                                  .grad_block = step.grad_block,
                                  .grad_values = last > 0 ? workspace.gradient_[1].panel() : Panel<T>()},
                  workspace.layers_[last]);
    backward_layers(flow, block, workspace, last, step.grad_log_det, step.grad_block);
    return {workspace.layers_.back().result.panel(), workspace.log_det_.data()};
  }
};

template <class T>
FlowResult<T> to_base(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> y, std::size_t batch,
                      FlowWorkspace<T>& workspace) {
  FlowWorkspace<T>::Access::begin(flow, x, y, batch, workspace);
  return FlowWorkspace<T>::Access::to_base(flow, block, x, y, workspace);
}

template <class T>
FlowResult<T> from_base(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> z,
                        std::size_t batch, FlowWorkspace<T>& workspace) {
  FlowWorkspace<T>::Access::begin(flow, x, z, batch, workspace);
  return FlowWorkspace<T>::Access::from_base(flow, block, x, z, workspace);
}

template <class T>
void backward(const Flow& flow, std::span<const T> block, FlowWorkspace<T>& workspace,
              const FlowGradient<T>& gradient) {
  FlowWorkspace<T>::Access::backward(flow, block, workspace, gradient);
}

template <class T>
FlowResult<T> to_base_step(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> y,
                           std::size_t batch, FlowWorkspace<T>& workspace, const FlowStep<T>& step) {
  FlowWorkspace<T>::Access::begin(flow, x, y, batch, workspace);
  return FlowWorkspace<T>::Access::step(flow, block, x, y, workspace, step);
}

template void initialise(const Flow&, const Stream&, std::span<float>);
template void initialise(const Flow&, const Stream&, std::span<double>);
template class FlowWorkspace<float>;
template class FlowWorkspace<double>;
template FlowResult<float> to_base(const Flow&, std::span<const float>, Panel<const float>, Panel<const float>,
                                   std::size_t, FlowWorkspace<float>&);
template FlowResult<double> to_base(const Flow&, std::span<const double>, Panel<const double>, Panel<const double>,
                                    std::size_t, FlowWorkspace<double>&);
template FlowResult<float> from_base(const Flow&, std::span<const float>, Panel<const float>, Panel<const float>,
                                     std::size_t, FlowWorkspace<float>&);
template FlowResult<double> from_base(const Flow&, std::span<const double>, Panel<const double>, Panel<const double>,
                                      std::size_t, FlowWorkspace<double>&);
template void backward(const Flow&, std::span<const float>, FlowWorkspace<float>&, const FlowGradient<float>&);
template void backward(const Flow&, std::span<const double>, FlowWorkspace<double>&, const FlowGradient<double>&);

template FlowResult<float> to_base_step(const Flow&, std::span<const float>, Panel<const float>, Panel<const float>,
                                        std::size_t, FlowWorkspace<float>&, const FlowStep<float>&);
template FlowResult<double> to_base_step(const Flow&, std::span<const double>, Panel<const double>, Panel<const double>,
                                         std::size_t, FlowWorkspace<double>&, const FlowStep<double>&);

}  // namespace dissent
