// A coupling layer: permute, then transform the first half of the values, each with parameters that a network computes
// from the other half and the inputs.
//
//   v = y[permutation];   z_t = f(v_t; network(v_rest, x)),   z_rest = v_rest
// with v_t the first ceil(D / 2) values and v_rest the others. The Jacobian is triangular, so its log-determinant is
// the sum of the log-slopes of f. For D = 1 there is no rest: f is conditioned only on x.
//
// A layer is only structure, like an Mlp; its parameters are slices of a flat block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dissent/flow/transform.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/network/layout.hpp"
#include "dissent/network/mlp.hpp"

namespace dissent {

// Of the outputs between layers: out[k] = in[permutation[k]].
using Permutation = std::vector<std::uint32_t>;

Permutation identity_permutation(std::size_t size);

// Uniformly random; depends only on (seed, index).
Permutation random_permutation(std::size_t size, std::uint64_t seed, std::uint64_t index = 0);

// inverse[permutation[k]] = k. InputError unless every value below its size occurs exactly once.
Permutation inverse_permutation(std::span<const std::uint32_t> permutation);

struct CouplingShape {
  std::size_t num_inputs = 0;   // C, size of x
  std::size_t num_outputs = 0;  // D, size of y and z
  Transform transform = {};
  std::vector<std::size_t> hidden = {20, 20};  // of the conditioner; the paper's text has one layer of 20
  Activation activation = Activation::kRelu;
};

class Coupling {
 public:
  // Appends the conditioner's slices to the layout under the prefix.
  Coupling(const CouplingShape& shape, Permutation permutation, Layout& layout, const std::string& prefix);

  std::size_t num_inputs() const { return num_inputs_; }
  std::size_t num_outputs() const { return permutation_.size(); }
  std::size_t num_transformed() const { return (permutation_.size() + 1) / 2; }
  std::size_t num_kept() const { return permutation_.size() / 2; }
  const Transform& transform() const { return transform_; }
  const Permutation& permutation() const { return permutation_; }
  const Mlp& conditioner() const { return conditioner_; }

 private:
  std::size_t num_inputs_;
  Transform transform_;
  Permutation permutation_;
  Mlp conditioner_;
};

// What one batch keeps in a layer between forward and backward.
template <class T>
struct CouplingWorkspace {
  CouplingWorkspace(const Coupling& layer, std::size_t capacity);

  PanelBuffer<T> conditions;   // the conditioner's inputs: v_rest, x
  PanelBuffer<T> transformed;  // v_t
  PanelBuffer<T> result;       // z, or y for the inverse
  MlpWorkspace<T> network;
};

// A batch on its way through a layer.
template <class T>
struct CouplingCall {
  std::span<const T> block;  // parameters
  std::size_t batch = 0;
  Panel<const T> x;
  Panel<const T> values;  // y forward, z inverse
  T* log_det = nullptr;   // [padded batch], added to
};

// z = g(y; x), into workspace.result.
template <class T>
void coupling_forward(const Coupling& layer, const CouplingCall<T>& call, CouplingWorkspace<T>& workspace);

// y = g^-1(z; x), into workspace.result. No backward() after it.
template <class T>
void coupling_inverse(const Coupling& layer, const CouplingCall<T>& call, CouplingWorkspace<T>& workspace);

template <class T>
struct CouplingGradient {
  std::span<const T> block;
  std::size_t batch = 0;
  const T* grad_log_det = nullptr;  // [padded batch]
  Panel<T> grad_result;             // with respect to z; used as scratch
  std::span<T> grad_block;          // added to
  Panel<T> grad_values;             // with respect to y, overwritten; no data: not wanted
};

// After coupling_forward on the same workspace.
template <class T>
void coupling_backward(const Coupling& layer, const CouplingGradient<T>& gradient, CouplingWorkspace<T>& workspace);

// coupling_forward and coupling_backward at once, for a loss that is quadratic in z (see TransformStep).
template <class T>
struct CouplingStep {
  CouplingCall<T> call;
  Panel<const T> center;  // rows for all of z with grad_values, else for the transformed ones
  Panel<const T> curvature;
  const T* grad_log_det = nullptr;  // [padded batch]
  std::span<T> grad_block;          // added to
  Panel<T> grad_values;             // with respect to y, overwritten; no data: not wanted
};

// z into workspace.result, and the gradient.
template <class T>
void coupling_step(const Coupling& layer, const CouplingStep<T>& step, CouplingWorkspace<T>& workspace);

}  // namespace dissent
