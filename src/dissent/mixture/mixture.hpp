// Mixture: the hinge of the program. Everything before it makes one, everything after it reads one.
//
// Memory convention, here and everywhere: N inputs, M components, D outputs; row-major and contiguous, mean[n][m][d],
// stddev[n][m][d] or covariance[n][m][d][d]. The M weights are shared by all inputs. float32 or float64.
//
// A mixture says which space its outputs are in. The epistemic uncertainty is the same in all spaces, since an
// invertible map loses nothing of what outputs say about the component; entropies (aleatoric, total) are not.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/base/error.hpp"

namespace dissent {

// The component weights, checked, and what the estimators need from them. A zero weight removes its component.
struct Weights {
  std::vector<double> value;  // sums to 1
  std::vector<double> log;    // -infinity where the weight is 0
  double entropy = 0;         // H(w) = -sum w ln w, in nats: the largest epistemic uncertainty there can be

  std::size_t size() const { return value.size(); }

  static Weights uniform(std::size_t num_components);
  // Weights must be finite, >= 0 and sum to 1 within 1e-6; that rounding is divided out. A weight below
  // 1e-100 is beyond what sums in double precision can see and counts as 0. Empty means uniform.
  static Weights from(std::span<const double> given, std::size_t num_components);
};

// kOutput: the user's units. kBase: where a model keeps its Gaussians, before a map (a flow, a scaling) to the user's
// units.
enum class Space { kOutput, kBase };

// A mixture in someone else's memory. Exactly one of stddev and covariance is set (either may be set when N = 0).
template <class T>
struct MixtureView {
  std::size_t num_inputs = 0;
  std::size_t num_components = 0;
  std::size_t num_outputs = 0;
  const T* mean = nullptr;
  const T* stddev = nullptr;
  const T* covariance = nullptr;
  Space space = Space::kOutput;
  const Weights* weights = nullptr;  // null: uniform

  bool diagonal() const { return covariance == nullptr; }

  // The inputs [begin, end).
  MixtureView rows(std::size_t begin, std::size_t end) const {
    MixtureView part = *this;
    const std::size_t row = num_components * num_outputs;
    part.num_inputs = end - begin;
    part.mean = mean + begin * row;
    part.stddev = stddev == nullptr ? nullptr : stddev + begin * row;
    part.covariance = covariance == nullptr ? nullptr : covariance + begin * row * num_outputs;
    return part;
  }

  // The same with these weights, which must outlive it.
  MixtureView weighted(const Weights& given) const {
    MixtureView view = *this;
    view.weights = &given;
    return view;
  }
};

// A mixture that owns its memory.
template <class T>
struct Mixture {
  std::size_t num_inputs = 0;
  std::size_t num_components = 0;
  std::size_t num_outputs = 0;
  std::vector<T> mean = {};
  std::vector<T> stddev = {};
  std::vector<T> covariance = {};
  Space space = Space::kOutput;
  Weights weights = {};  // empty: uniform

  static Mixture diagonal(std::size_t num_inputs, std::size_t num_components, std::size_t num_outputs);
  static Mixture full(std::size_t num_inputs, std::size_t num_components, std::size_t num_outputs);
  // Throws when the arrays' sizes and the shape disagree. Valid while this object stays as it is.
  MixtureView<T> view() const;
};

// Throws an InputError that names input, component and output of the first value that breaks a rule: means and standard
// deviations finite, standard deviations > 0, covariances finite, symmetric and positive definite. Inputs are counted
// from first_input in the message, so that a part of a stream is named by its place in the whole.
template <class T>
void validate(const MixtureView<T>& mixture, std::size_t first_input = 0);

// Throws unless M >= 1, D >= 1, there are M weights and the pointers are set as a MixtureView promises.
template <class T>
void validate_shape(const MixtureView<T>& mixture);

}  // namespace dissent
