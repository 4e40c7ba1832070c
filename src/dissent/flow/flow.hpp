// A conditional normalising flow: an invertible map between outputs y and base values z, given inputs x, as a chain of
// coupling layers (coupling.hpp). Densities follow from ln p(y | x) = ln p_base(z | x) + ln |det dz/dy|.
//
//   to_base:    z = g^-1(y; x) and ln |det dz/dy|: the direction of training, with gradients by backward()
//   from_base:  y = g(z; x) and ln |det dy/dz|: the direction of sampling
// The transforms run forward in to_base and are inverted, if need be by a root finder, in from_base.
//
// All values are panels (one row per dimension). A Flow is only structure; its parameters are slices of a flat block
// named prefix + "layer0." + the conditioner's names; what a batch keeps is in a workspace, sized once. No function of
// a step allocates, and one Flow serves any number of threads, each with its own workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/flow/coupling.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/network/layout.hpp"

namespace dissent {

class Flow {
 public:
  // One layer for each permutation; at least one.
  Flow(const CouplingShape& shape, std::vector<Permutation> permutations, Layout& layout,
       const std::string& prefix = "flow.");

  const CouplingShape& shape() const { return shape_; }
  std::span<const Coupling> layers() const { return layers_; }
  std::size_t num_inputs() const { return shape_.num_inputs; }
  std::size_t num_outputs() const { return shape_.num_outputs; }

 private:
  CouplingShape shape_;
  std::vector<Coupling> layers_;
};

// Random permutations for `num_layers` layers.
std::vector<Permutation> random_permutations(std::size_t num_layers, std::size_t num_outputs, std::uint64_t seed);

// The same, but each layer transforms what the one before kept, so that two layers reach every output. Random ones that
// already do so are left as they are.
std::vector<Permutation> alternating_permutations(std::size_t num_layers, std::size_t num_outputs, std::uint64_t seed);

// Draws the conditioners' weights; layer l takes substream l.
template <class T>
void initialise(const Flow& flow, const Stream& stream, std::span<T> block);

template <class T>
class FlowWorkspace {
 public:
  // For batches of up to `capacity` items.
  FlowWorkspace(const Flow& flow, std::size_t capacity);

  std::size_t capacity() const { return capacity_; }

  struct Access;  // for the functions below

 private:
  friend struct Access;
  std::size_t capacity_;
  std::vector<CouplingWorkspace<T>> layers_;
  PanelBuffer<T> gradient_[2];  // on its way from layer to layer
  AlignedVector<T> log_det_;
  std::size_t batch_ = 0;
};

// Views into the workspace, valid until its next use.
template <class T>
struct FlowResult {
  Panel<T> values;             // num_outputs rows
  const T* log_det = nullptr;  // [batch], padded
};

// Padding columns of x and y (or z) must be finite.
template <class T>
FlowResult<T> to_base(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> y, std::size_t batch,
                      FlowWorkspace<T>& workspace);

template <class T>
FlowResult<T> from_base(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> z,
                        std::size_t batch, FlowWorkspace<T>& workspace);

// Gradient of a loss L, for the batch last given to to_base with this workspace. grad_base[d][b] = dL/dz and
// grad_log_det[b] = dL/d ln|det| come in; dL/dparameters is added to grad_block. Padding columns do not matter.
template <class T>
struct FlowGradient {
  Panel<const T> grad_base;
  const T* grad_log_det = nullptr;  // [padded batch]
  std::span<T> grad_block;
};
template <class T>
void backward(const Flow& flow, std::span<const T> block, FlowWorkspace<T>& workspace, const FlowGradient<T>& gradient);

// to_base and backward at once, at little more than the price of to_base, for a loss that is quadratic in z:
//   L = sum_db curvature[d][b] / 2 (z[d][b] - center[d][b])^2 + sum_b grad_log_det[b] ln|det|[b].
// That is a Gaussian base with means `center`. In a flow of one layer, the rows of the values it keeps are not read.
template <class T>
struct FlowStep {
  Panel<const T> center;
  Panel<const T> curvature;
  const T* grad_log_det = nullptr;  // [padded batch]
  std::span<T> grad_block;          // dL/dparameters is added to it
};
template <class T>
FlowResult<T> to_base_step(const Flow& flow, std::span<const T> block, Panel<const T> x, Panel<const T> y,
                           std::size_t batch, FlowWorkspace<T>& workspace, const FlowStep<T>& step);

}  // namespace dissent
