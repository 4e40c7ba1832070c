#include "dissent/flow/coupling.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

MlpShape conditioner_shape(const CouplingShape& shape) {
  shape.transform.check();
  check(shape.num_outputs > 0, "num_outputs = {} must be at least 1", shape.num_outputs);
  check(shape.num_inputs > 0, "num_inputs = {} must be at least 1", shape.num_inputs);
  const std::size_t transformed = (shape.num_outputs + 1) / 2;
  const std::size_t kept = shape.num_outputs - transformed;
  return {.num_inputs = kept + shape.num_inputs,
          .hidden = shape.hidden,
          .heads = {{"transform", transformed * static_cast<std::size_t>(shape.transform.num_params())}},
          .activation = shape.activation};
}

template <class T>
void copy_row(Panel<const T> from, std::size_t from_row, Panel<T> to, std::size_t to_row, std::size_t batch) {
  std::copy_n(from.row(from_row), padded_batch(batch), to.row(to_row));
}

template <class T>
void copy_inputs(const Coupling& layer, const CouplingCall<T>& call, Panel<T> conditions) {
  for (std::size_t c = 0; c < layer.num_inputs(); ++c) {
    copy_row(call.x, c, conditions, layer.num_kept() + c, call.batch);
  }
}

}  // namespace

Permutation identity_permutation(std::size_t size) {
  Permutation permutation(size);
  std::iota(permutation.begin(), permutation.end(), 0u);
  return permutation;
}

Permutation random_permutation(std::size_t size, std::uint64_t seed, std::uint64_t index) {
  Permutation permutation = identity_permutation(size);
  Stream(seed, Purpose::kPermute, index).shuffle(std::span(permutation));
  return permutation;
}

Permutation inverse_permutation(std::span<const std::uint32_t> permutation) {
  const std::size_t size = permutation.size();
  Permutation inverse(size, static_cast<std::uint32_t>(size));
  for (std::size_t k = 0; k < size; ++k) {
    check(permutation[k] < size, "permutation[{}] = {} is not below its size {}", k, permutation[k], size);
    check(inverse[permutation[k]] == size, "permutation[{}] = {} occurs twice", k, permutation[k]);
    inverse[permutation[k]] = static_cast<std::uint32_t>(k);
  }
  return inverse;
}

Coupling::Coupling(const CouplingShape& shape, Permutation permutation, Layout& layout, const std::string& prefix)
    : num_inputs_(shape.num_inputs),
      transform_(shape.transform),
      permutation_(std::move(permutation)),
      conditioner_(conditioner_shape(shape), layout, prefix) {
  check(permutation_.size() == shape.num_outputs, "permutation of size {} where num_outputs = {}", permutation_.size(),
        shape.num_outputs);
  inverse_permutation(permutation_);  // for its check
}

template <class T>
CouplingWorkspace<T>::CouplingWorkspace(const Coupling& layer, std::size_t capacity)
    : conditions(layer.num_kept() + layer.num_inputs(), capacity),
      transformed(layer.num_transformed(), capacity),
      result(layer.num_outputs(), capacity),
      network(layer.conditioner(), capacity) {}

namespace {

// Copies v_t into workspace.transformed, v_rest and x into workspace.conditions, and v_rest into the result as well.
template <class T>
void split_values(const Coupling& layer, const CouplingCall<T>& call, CouplingWorkspace<T>& workspace) {
  const std::size_t num_transformed = layer.num_transformed();
  const Panel<T> conditions = workspace.conditions.panel();
  for (std::size_t k = 0; k < layer.num_outputs(); ++k) {
    const std::size_t source = layer.permutation()[k];
    if (k < num_transformed) {
      copy_row(call.values, source, workspace.transformed.panel(), k, call.batch);
    } else {
      copy_row(call.values, source, conditions, k - num_transformed, call.batch);
      copy_row(call.values, source, workspace.result.panel(), k, call.batch);
    }
  }
  copy_inputs(layer, call, conditions);
}

}  // namespace

template <class T>
void coupling_forward(const Coupling& layer, const CouplingCall<T>& call, CouplingWorkspace<T>& workspace) {
  split_values(layer, call, workspace);
  const Panel<T> raw =
      forward<T>(layer.conditioner(), call.block, workspace.conditions.panel(), call.batch, workspace.network);
  transform_forward(layer.transform(),
                    TransformCall<T>{call.batch, workspace.transformed.panel(), raw,
                                     workspace.result.panel().slice(0, layer.num_transformed()), call.log_det});
}

template <class T>
void coupling_inverse(const Coupling& layer, const CouplingCall<T>& call, CouplingWorkspace<T>& workspace) {
  const std::size_t num_transformed = layer.num_transformed();
  const Panel<T> conditions = workspace.conditions.panel();
  const Panel<T> transformed = workspace.transformed.panel();
  const Panel<T> result = workspace.result.panel();
  for (std::size_t k = num_transformed; k < layer.num_outputs(); ++k) {
    copy_row(call.values, k, conditions, k - num_transformed, call.batch);
    copy_row(call.values, k, result, layer.permutation()[k], call.batch);
  }
  copy_inputs(layer, call, conditions);
  const Panel<T> raw = forward<T>(layer.conditioner(), call.block, conditions, call.batch, workspace.network);
  transform_inverse(layer.transform(), TransformCall<T>{call.batch, call.values.slice(0, num_transformed), raw,
                                                        transformed, call.log_det});
  for (std::size_t k = 0; k < num_transformed; ++k) {
    copy_row<T>(transformed, k, result, layer.permutation()[k], call.batch);
  }
}

template <class T>
void coupling_backward(const Coupling& layer, const CouplingGradient<T>& gradient, CouplingWorkspace<T>& workspace) {
  const std::size_t num_transformed = layer.num_transformed();
  const bool wants_values = gradient.grad_values.data != nullptr;
  const Panel<T> grad_transformed = gradient.grad_result.slice(0, num_transformed);
  const Panel<T> raw = workspace.network.outputs();
  transform_backward(layer.transform(), TransformGradient<T>{.batch = gradient.batch,
                                                             .in = workspace.transformed.panel(),
                                                             .raw = raw,
                                                             .grad_out = grad_transformed,
                                                             .grad_log_slope = gradient.grad_log_det,
                                                             .grad_raw = raw,
                                                             .grad_in = wants_values ? grad_transformed : Panel<T>()});
  // The gradient with respect to v_rest goes into rows of z, which the caller no longer needs.
  MlpGradient<T> network_gradient{.block = gradient.grad_block};
  if (wants_values && layer.num_kept() > 0) {
    network_gradient.inputs = workspace.result.panel().slice(0, layer.num_kept());
  }
  backward<T>(layer.conditioner(), gradient.block, workspace.network, network_gradient);
  if (!wants_values) {
    return;
  }
  const std::size_t columns = padded_batch(gradient.batch);
  for (std::size_t k = 0; k < layer.num_outputs(); ++k) {
    const T* direct = gradient.grad_result.row(k);
    T* out = gradient.grad_values.row(layer.permutation()[k]);
    if (k < num_transformed) {
      std::copy_n(direct, columns, out);
    } else {
      const T* through_network = network_gradient.inputs.row(k - num_transformed);
      std::transform(direct, direct + columns, through_network, out, [](T a, T b) { return a + b; });
    }
  }
}

namespace {

// The transforms as the loss of the conditioner, a few dimensions at a time.
template <class T>
class TransformLoss final : public OutputLoss<T> {
 public:
  TransformLoss(const Coupling& layer, const CouplingStep<T>& step, CouplingWorkspace<T>& workspace)
      : layer_(layer), step_(step), workspace_(workspace) {}

  void differentiate(Panel<T> raw, std::size_t first) override {
    const auto num_params = static_cast<std::size_t>(layer_.transform().num_params());
    const std::size_t begin = first / num_params;
    const std::size_t count = raw.rows / num_params;
    const Panel<T> in = workspace_.transformed.panel().slice(begin, count);
    transform_step(layer_.transform(),
                   TransformStep<T>{.call = {step_.call.batch, in, raw, workspace_.result.panel().slice(begin, count),
                                             step_.call.log_det},
                                    .center = step_.center.slice(begin, count),
                                    .curvature = step_.curvature.slice(begin, count),
                                    .grad_log_slope = step_.grad_log_det,
                                    .grad_raw = raw,
                                    .grad_in = step_.grad_values.data != nullptr ? in : Panel<T>()});
  }

 private:
  const Coupling& layer_;
  const CouplingStep<T>& step_;
  CouplingWorkspace<T>& workspace_;
};

}  // namespace

template <class T>
void coupling_step(const Coupling& layer, const CouplingStep<T>& step, CouplingWorkspace<T>& workspace) {
  constexpr std::size_t kRawRows = 64;  // about as many raw parameters at a time as fit into the nearest caches
  const auto num_params = static_cast<std::size_t>(layer.transform().num_params());
  const std::size_t num_transformed = layer.num_transformed();
  const Panel<T> conditions = workspace.conditions.panel();
  const bool wants_values = step.grad_values.data != nullptr;
  split_values(layer, step.call, workspace);
  TransformLoss<T> loss(layer, step, workspace);
  // The gradient with respect to v_rest takes the place of v_rest itself, which is no longer needed by then.
  MlpGradient<T> network_gradient{.block = step.grad_block};
  if (wants_values && layer.num_kept() > 0) {
    network_gradient.inputs = conditions.slice(0, layer.num_kept());
  }
  forward_backward<T>(layer.conditioner(), step.call.block, conditions, step.call.batch, workspace.network,
                      std::max<std::size_t>(1, kRawRows / num_params) * num_params, loss, network_gradient);
  if (!wants_values) {
    return;
  }
  const std::size_t batch = step.call.batch;
  for (std::size_t k = 0; k < layer.num_outputs(); ++k) {
    T* out = step.grad_values.row(layer.permutation()[k]);
    if (k < num_transformed) {
      copy_row<T>(workspace.transformed.panel(), k, step.grad_values, layer.permutation()[k], batch);
      continue;
    }
    const T* z = workspace.result.panel().row(k);
    for (std::size_t b = 0; b < batch; ++b) {
      out[b] = step.curvature(k, b) * (z[b] - step.center(k, b)) + conditions(k - num_transformed, b);
    }
    std::fill(out + batch, out + padded_batch(batch), T(0));
  }
}

template struct CouplingWorkspace<float>;
template struct CouplingWorkspace<double>;
template void coupling_forward(const Coupling&, const CouplingCall<float>&, CouplingWorkspace<float>&);
template void coupling_forward(const Coupling&, const CouplingCall<double>&, CouplingWorkspace<double>&);
template void coupling_inverse(const Coupling&, const CouplingCall<float>&, CouplingWorkspace<float>&);
template void coupling_inverse(const Coupling&, const CouplingCall<double>&, CouplingWorkspace<double>&);
template void coupling_backward(const Coupling&, const CouplingGradient<float>&, CouplingWorkspace<float>&);
template void coupling_backward(const Coupling&, const CouplingGradient<double>&, CouplingWorkspace<double>&);
template void coupling_step(const Coupling&, const CouplingStep<float>&, CouplingWorkspace<float>&);
template void coupling_step(const Coupling&, const CouplingStep<double>&, CouplingWorkspace<double>&);

}  // namespace dissent
