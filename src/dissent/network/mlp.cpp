#include "dissent/network/mlp.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/matrix/linear.hpp"

namespace dissent {

MlpShape gaussian_shape(std::size_t num_inputs, std::vector<std::size_t> hidden, std::size_t num_outputs) {
  return {num_inputs, std::move(hidden), {{"mean", num_outputs}, {"log_stddev", num_outputs}}, Activation::kRelu};
}

Mlp::Mlp(MlpShape shape, Layout& layout, const std::string& prefix) : shape_(std::move(shape)) {
  check(!shape_.heads.empty(), "Mlp '{}': no heads; a network needs at least one output", prefix);
  begin_ = layout.align();
  std::size_t width = shape_.num_inputs;
  for (std::size_t l = 0; l < shape_.hidden.size(); ++l) {
    const std::string name = fmt::format("{}hidden{}", prefix, l);
    Layer layer{width, shape_.hidden[l], 0, 0};
    layer.weight = layout.add(name + ".weight", layer.num_outputs, layer.num_inputs);
    layer.bias = layout.add(name + ".bias", layer.num_outputs, 1);
    layers_.push_back(layer);
    width = layer.num_outputs;
  }
  // The heads' weights follow each other, and so do their biases: to the kernels they are one matrix.
  Layer heads{width, 0, layout.size(), 0};
  for (const Head& head : shape_.heads) {
    layout.add(prefix + head.name + ".weight", head.size, width);
    heads.num_outputs += head.size;
  }
  heads.bias = layout.size();
  for (const Head& head : shape_.heads) {
    layout.add(prefix + head.name + ".bias", head.size, 1);
  }
  layers_.push_back(heads);
  end_ = layout.align();
}

template <class T>
void initialise(const Mlp& mlp, Stream stream, std::span<T> block) {
  for (const Mlp::Layer& layer : mlp.layers()) {
    const double bound = 1 / std::sqrt(static_cast<double>(layer.num_inputs));
    for (T& value : block.subspan(layer.weight, layer.num_inputs * layer.num_outputs)) {
      value = static_cast<T>(bound * (2 * stream.uniform() - 1));
    }
    for (T& value : block.subspan(layer.bias, layer.num_outputs)) {
      value = static_cast<T>(bound * (2 * stream.uniform() - 1));
    }
  }
}

template <class T>
MlpWorkspace<T>::MlpWorkspace(std::span<const Mlp> networks, std::size_t capacity) : capacity_(capacity) {
  check(!networks.empty() && capacity > 0, "MlpWorkspace: {} networks, capacity {}; both must be positive",
        networks.size(), capacity);
  const MlpShape& first = networks.front().shape();
  std::vector<std::size_t> widths(first.hidden.size());
  std::size_t num_outputs = 0;
  for (const Mlp& network : networks) {
    const MlpShape& shape = network.shape();
    check(shape.hidden.size() == widths.size() && shape.activation == first.activation,
          "MlpWorkspace: networks of {} and {} hidden layers, or different activations; they must agree", widths.size(),
          shape.hidden.size());
    for (std::size_t l = 0; l < widths.size(); ++l) {
      widths[l] = std::max(widths[l], shape.hidden[l]);
    }
    num_outputs = std::max(num_outputs, network.num_outputs());
  }
  for (const std::size_t width : widths) {
    hidden_.emplace_back(width, capacity);
    if (first.activation == Activation::kSilu) {
      derivative_.emplace_back(width, capacity);
    }
  }
  const std::size_t widest = widths.empty() ? 0 : *std::ranges::max_element(widths);
  hidden_gradient_[1] = PanelBuffer<T>(widest, capacity);  // of the layers that feed odd ones: the first, third, ...
  hidden_gradient_[0] = PanelBuffer<T>(widths.size() > 1 ? widest : 0, capacity);
  outputs_ = PanelBuffer<T>(num_outputs, capacity);
}

template <class T>
struct MlpWorkspace<T>::Access {
  static Panel<T> forward(const Mlp& mlp, const T* block, MlpWorkspace& w) {
    forward_hidden(mlp, block, w);
    forward_heads(mlp, block, w, 0, w.outputs());
    return w.outputs();
  }

  static void forward_hidden(const Mlp& mlp, const T* block, MlpWorkspace& w) {
    const Activation activation = mlp.shape().activation;
    for (std::size_t l = 0; l < mlp.shape().hidden.size(); ++l) {
      const Mlp::Layer& layer = mlp.layers()[l];
      Affine<T> product = product_of(layer, block, 0, input_of(mlp, w, l), w.hidden_[l].panel(layer.num_outputs), w);
      product.finish = activation == Activation::kRelu ? Finish::kRelu : Finish::kNone;
      affine(product);
      if (activation == Activation::kTanh) {
        apply_tanh(product.out, w.batch_);
      } else if (activation == Activation::kSilu) {
        apply_silu(product.out, w.derivative_[l].panel(layer.num_outputs), w.batch_);
      }
    }
  }

  // Outputs from `first` on, as many as `out` has rows.
  static void forward_heads(const Mlp& mlp, const T* block, MlpWorkspace& w, std::size_t first, Panel<T> out) {
    const std::size_t heads = mlp.shape().hidden.size();
    affine(product_of(mlp.layers()[heads], block, first, input_of(mlp, w, heads), out, w));
  }

  static Panel<const T> last_hidden(const Mlp& mlp, const MlpWorkspace& w) {
    return w.hidden_.empty() ? w.inputs_ : w.hidden_.back().panel().slice(0, mlp.layers().back().num_inputs);
  }

  static Panel<const T> input_of(const Mlp& mlp, MlpWorkspace& w, std::size_t l) {
    return l == 0 ? w.inputs_ : w.hidden_[l - 1].panel(mlp.layers()[l].num_inputs);
  }

  static Affine<T> product_of(const Mlp::Layer& layer, const T* block, std::size_t first, Panel<const T> in,
                              Panel<T> out, MlpWorkspace& w) {
    return {.weight = block + layer.weight + first * layer.num_inputs,
            .weight_row_stride = layer.num_inputs,
            .weight_column_stride = 1,
            .bias = block + layer.bias + first,
            .in = in,
            .out = out,
            .batch = w.batch_,
            .finish = Finish::kNone,
            .factor = {}};
  }

  static void backward(const Mlp& mlp, const T* block, MlpWorkspace& w, const MlpGradient<T>& gradient) {
    backward_heads(mlp, block, w, 0, w.outputs(), gradient);
    backward_hidden(mlp, block, w, gradient);
  }

  static void forward_backward(const Mlp& mlp, const T* block, MlpWorkspace& w, std::size_t at_a_time,
                               OutputLoss<T>& loss, const MlpGradient<T>& gradient) {
    forward_hidden(mlp, block, w);
    for (std::size_t first = 0; first < w.num_outputs_; first += at_a_time) {
      const Panel<T> part = w.outputs_.panel(std::min(at_a_time, w.num_outputs_ - first));
      forward_heads(mlp, block, w, first, part);
      loss.differentiate(part, first);
      backward_heads(mlp, block, w, first, part, gradient);
    }
    backward_hidden(mlp, block, w, gradient);
  }

  // Starts from the gradient with respect to outputs [first, first + result.rows); parts come in order.
  static void backward_heads(const Mlp& mlp, const T* block, MlpWorkspace& w, std::size_t first, Panel<T> result,
                             const MlpGradient<T>& gradient) {
    for (std::size_t r = 0; r < result.rows; ++r) {
      std::fill(result.row(r) + w.batch_, result.row(r) + padded_batch(w.batch_), T(0));
    }
    backward_layer(mlp, block, w, mlp.shape().hidden.size(), first, result, gradient);
  }

  static void backward_hidden(const Mlp& mlp, const T* block, MlpWorkspace& w, const MlpGradient<T>& gradient) {
    for (std::size_t l = mlp.shape().hidden.size(); l-- > 0;) {
      const std::size_t width = mlp.layers()[l].num_outputs;
      backward_layer(mlp, block, w, l, 0, w.hidden_gradient_[(l + 1) % 2].panel(width), gradient);
    }
  }

  // Layer l: turns the gradient with respect to its results from `first` on into those of its parameters and its input.
  // A layer in parts adds them up in the input's gradient; the last part takes it through the activation below.
  static void backward_layer(const Mlp& mlp, const T* block, MlpWorkspace& w, std::size_t l, std::size_t first,
                             Panel<T> result, const MlpGradient<T>& gradient) {
    const Mlp::Layer& layer = mlp.layers()[l];
    T* weight_block = gradient.block.data() + layer.weight + first * layer.num_inputs;
    weight_gradient(WeightGradient<T>{.left = result,
                                      .right = input_of(mlp, w, l),
                                      .batch = w.batch_,
                                      .gradient = weight_block,
                                      .bias_gradient = gradient.block.data() + layer.bias + first});
    if (l == 0 && gradient.inputs.data == nullptr) {
      return;
    }
    Affine<T> product{.weight = block + layer.weight + first * layer.num_inputs,
                      .weight_row_stride = 1,
                      .weight_column_stride = layer.num_inputs,
                      .bias = nullptr,
                      .in = result,
                      .out = {},
                      .batch = w.batch_,
                      .finish = Finish::kNone,
                      .factor = {},
                      .add = first > 0};
    if (l == 0) {
      product.weight += gradient.first_input;
      product.out = gradient.inputs;
    } else {
      product.out = w.hidden_gradient_[l % 2].panel(layer.num_inputs);
      if (first + result.rows == layer.num_outputs) {
        set_derivative(mlp.shape().activation, w, l - 1, product);
      }
    }
    affine(product);
  }

  static void set_derivative(Activation activation, MlpWorkspace& w, std::size_t hidden, Affine<T>& product) {
    const bool silu = activation == Activation::kSilu;
    product.factor = (silu ? w.derivative_ : w.hidden_)[hidden].panel(product.out.rows);
    product.finish = silu                              ? Finish::kScale
                     : activation == Activation::kTanh ? Finish::kTanhDerivative
                                                       : Finish::kReluDerivative;
  }

  static void begin(const Mlp& mlp, Panel<const T> inputs, std::size_t batch, MlpWorkspace& w) {
    check(inputs.rows == mlp.shape().num_inputs, "forward: the panel has {} rows, the network {} inputs", inputs.rows,
          mlp.shape().num_inputs);
    check(batch <= w.capacity_ && padded_batch(batch) <= inputs.stride,
          "forward: batch of {} items; the workspace holds {} and the panel {}", batch, w.capacity_, inputs.stride);
    w.inputs_ = inputs;
    w.batch_ = batch;
    w.num_outputs_ = mlp.num_outputs();
  }
};

template <class T>
Panel<T> forward(const Mlp& mlp, std::span<const T> block, Panel<const T> inputs, std::size_t batch,
                 MlpWorkspace<T>& workspace) {
  MlpWorkspace<T>::Access::begin(mlp, inputs, batch, workspace);
  return MlpWorkspace<T>::Access::forward(mlp, block.data(), workspace);
}

template <class T>
Panel<const T> forward_hidden(const Mlp& mlp, std::span<const T> block, Panel<const T> inputs, std::size_t batch,
                              MlpWorkspace<T>& workspace) {
  MlpWorkspace<T>::Access::begin(mlp, inputs, batch, workspace);
  MlpWorkspace<T>::Access::forward_hidden(mlp, block.data(), workspace);
  return last_hidden(mlp, workspace);
}

template <class T>
Panel<const T> last_hidden(const Mlp& mlp, const MlpWorkspace<T>& workspace) {
  return MlpWorkspace<T>::Access::last_hidden(mlp, workspace);
}

namespace {

template <class T>
void check_wanted_inputs(const Mlp& mlp, const MlpGradient<T>& gradient) {
  check(gradient.inputs.data == nullptr || gradient.first_input + gradient.inputs.rows <= mlp.shape().num_inputs,
        "backward: gradient wanted for inputs {} to {}; the network has {}", gradient.first_input,
        gradient.first_input + gradient.inputs.rows, mlp.shape().num_inputs);
}

}  // namespace

template <class T>
void backward(const Mlp& mlp, std::span<const T> block, MlpWorkspace<T>& workspace, const MlpGradient<T>& gradient) {
  check_wanted_inputs(mlp, gradient);
  MlpWorkspace<T>::Access::backward(mlp, block.data(), workspace, gradient);
}

template <class T>
void forward_backward(const Mlp& mlp, std::span<const T> block, Panel<const T> inputs, std::size_t batch,
                      MlpWorkspace<T>& workspace, std::size_t at_a_time, OutputLoss<T>& loss,
                      const MlpGradient<T>& gradient) {
  check(at_a_time > 0, "forward_backward: {} outputs at a time; at least one is needed", at_a_time);
  check_wanted_inputs(mlp, gradient);
  MlpWorkspace<T>::Access::begin(mlp, inputs, batch, workspace);
  MlpWorkspace<T>::Access::forward_backward(mlp, block.data(), workspace, at_a_time, loss, gradient);
}

template void initialise(const Mlp&, Stream, std::span<float>);
template void initialise(const Mlp&, Stream, std::span<double>);
template class MlpWorkspace<float>;
template class MlpWorkspace<double>;
template Panel<float> forward(const Mlp&, std::span<const float>, Panel<const float>, std::size_t,
                              MlpWorkspace<float>&);
template Panel<double> forward(const Mlp&, std::span<const double>, Panel<const double>, std::size_t,
                               MlpWorkspace<double>&);
template Panel<const float> forward_hidden(const Mlp&, std::span<const float>, Panel<const float>, std::size_t,
                                           MlpWorkspace<float>&);
template Panel<const double> forward_hidden(const Mlp&, std::span<const double>, Panel<const double>, std::size_t,
                                            MlpWorkspace<double>&);
template Panel<const float> last_hidden(const Mlp&, const MlpWorkspace<float>&);
template Panel<const double> last_hidden(const Mlp&, const MlpWorkspace<double>&);
template void backward(const Mlp&, std::span<const float>, MlpWorkspace<float>&, const MlpGradient<float>&);
template void backward(const Mlp&, std::span<const double>, MlpWorkspace<double>&, const MlpGradient<double>&);

template void forward_backward(const Mlp&, std::span<const float>, Panel<const float>, std::size_t,
                               MlpWorkspace<float>&, std::size_t, OutputLoss<float>&, const MlpGradient<float>&);
template void forward_backward(const Mlp&, std::span<const double>, Panel<const double>, std::size_t,
                               MlpWorkspace<double>&, std::size_t, OutputLoss<double>&, const MlpGradient<double>&);

}  // namespace dissent
