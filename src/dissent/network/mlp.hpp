// Multilayer perceptrons on a flat parameter block: forward, and backward from a gradient that the caller supplies.
//
//   h_0 = x,   h_l = activation(W_l h_{l-1} + b_l),   outputs = W h_L + b, all heads stacked.
//
// An Mlp is only structure (sizes and offsets); parameters, gradients and moments are blocks of its layout, and the
// intermediate results of one batch are in a workspace, sized once. So one Mlp serves any number of threads, each with
// its own workspace, and a training step allocates nothing. T is float for work, double for checks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/network/activation.hpp"
#include "dissent/network/layout.hpp"

namespace dissent {

// A named group of outputs, e.g. {"mean", D} and {"log_stddev", D}.
struct Head {
  std::string name;
  std::size_t size = 0;
};

struct MlpShape {
  std::size_t num_inputs = 0;
  std::vector<std::size_t> hidden;  // widths; may be empty: a linear map
  std::vector<Head> heads;
  Activation activation = Activation::kRelu;
};

// The shape of a network with a mean and a log-stddev per output (gaussian.hpp).
MlpShape gaussian_shape(std::size_t num_inputs, std::vector<std::size_t> hidden, std::size_t num_outputs);

class Mlp {
 public:
  struct Layer {
    std::size_t num_inputs = 0;
    std::size_t num_outputs = 0;
    std::size_t weight = 0;  // offset of num_outputs x num_inputs values
    std::size_t bias = 0;    // offset of num_outputs values
  };

  // Appends its slices to the layout, aligned: prefix + "hidden0.weight", prefix + "hidden0.bias", ..., and for each
  // head prefix + name + ".weight" and ".bias".
  Mlp(MlpShape shape, Layout& layout, const std::string& prefix = "");

  const MlpShape& shape() const { return shape_; }
  std::size_t num_outputs() const { return layers_.back().num_outputs; }
  std::span<const Layer> layers() const { return layers_; }  // the last one holds the heads

  // This network's part of a block; its size is a multiple of kLanes.
  template <class T>
  std::span<T> range(std::span<T> block) const {
    return block.subspan(begin_, end_ - begin_);
  }

 private:
  MlpShape shape_;
  std::vector<Layer> layers_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Draws weights and biases as torch.nn.Linear does: uniform in +-1 / sqrt(number of inputs of the layer).
template <class T>
void initialise(const Mlp& mlp, Stream stream, std::span<T> block);

// What one batch keeps between forward and backward.
template <class T>
class MlpWorkspace {
 public:
  // For any of these networks (which must agree in depth and activation), up to `capacity` items per batch.
  MlpWorkspace(std::span<const Mlp> networks, std::size_t capacity);
  MlpWorkspace(const Mlp& network, std::size_t capacity) : MlpWorkspace(std::span(&network, 1), capacity) {}

  std::size_t capacity() const { return capacity_; }

  // The outputs of the last forward(). For backward(), the caller replaces them by the gradient of the loss with
  // respect to them (in place, which saves a pass through the cache).
  Panel<T> outputs() { return outputs_.panel(num_outputs_); }

  struct Access;  // for forward and backward

 private:
  friend struct Access;
  std::size_t capacity_;
  std::vector<PanelBuffer<T>> hidden_;      // activations
  std::vector<PanelBuffer<T>> derivative_;  // SiLU only
  PanelBuffer<T> hidden_gradient_[2];       // of two neighbouring layers
  PanelBuffer<T> outputs_;
  std::size_t num_outputs_ = 0;
  Panel<const T> inputs_;
  std::size_t batch_ = 0;
};

// Evaluates a batch of `batch` items given as a panel of inputs and returns workspace.outputs(). For backward() the
// inputs must stay as they are until then. Padding columns of the inputs must be finite.
template <class T>
Panel<T> forward(const Mlp& mlp, std::span<const T> block, Panel<const T> inputs, std::size_t batch,
                 MlpWorkspace<T>& workspace);

// The same without the last layer: the activations that it would see, in the workspace until its next use. For a
// network without hidden layers these are the inputs. backward() cannot follow.
template <class T>
Panel<const T> forward_hidden(const Mlp& mlp, std::span<const T> block, Panel<const T> inputs, std::size_t batch,
                              MlpWorkspace<T>& workspace);

// What the last layer saw in the last forward() of this network.
template <class T>
Panel<const T> last_hidden(const Mlp& mlp, const MlpWorkspace<T>& workspace);

// Where backward() puts gradients.
template <class T>
struct MlpGradient {
  std::span<T> block;           // added to: a block of the network's layout
  Panel<T> inputs = {};         // overwritten if it has data: gradient with respect to inputs.rows inputs ...
  std::size_t first_input = 0;  // ... from this one on
};

// Gradients of the batch last evaluated in `workspace`, whose outputs() now hold the gradient with respect to them.
template <class T>
void backward(const Mlp& mlp, std::span<const T> block, MlpWorkspace<T>& workspace, const MlpGradient<T>& gradient);

// A loss that can be taken a few outputs at a time: replaces outputs [first, first + outputs.rows) of the batch by the
// gradient with respect to them.
template <class T>
class OutputLoss {
 public:
  virtual void differentiate(Panel<T> outputs, std::size_t first) = 0;

 protected:
  ~OutputLoss() = default;
};

// forward() and backward() in one go, `at_a_time` outputs at a time: however many there are, they are computed,
// differentiated and used while they are in the cache.
template <class T>
void forward_backward(const Mlp& mlp, std::span<const T> block, Panel<const T> inputs, std::size_t batch,
                      MlpWorkspace<T>& workspace, std::size_t at_a_time, OutputLoss<T>& loss,
                      const MlpGradient<T>& gradient);

}  // namespace dissent
