// What labels tell about predictions at an aim, for greedy choice: I(labels of the picks; label at an aim row),
// averaged over the aim. This is the expected predictive information gain (EPIG, Bickford Smith et al. 2023), here in
// closed form. There are two ways to compute it:
//
//   exact     a Gaussian process knows how its outputs vary together: 1/2 ln(variance before / variance after)
//   pairwise  any components: I(y; y*) = I(y) + I(y*) - I(y, y*), each a pairwise estimate, since divergences add
//
// N candidates, A aim rows, M components, D outputs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "dissent/base/executor.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

class AimInformation {
 public:
  virtual ~AimInformation() = default;

  // How much the label of each of these rows [N][C] would tell by itself, in constant memory. >= 0 up to rounding. In
  // nats, except for pairwise estimates if components differ much (aim_pairwise.cpp).
  virtual void alone(std::span<const double> rows, std::span<double> gain) const = 0;

  // The candidates of the greedy choice, [N][C].
  virtual void begin(std::span<const double> candidates) = 0;
  // How much the label of each would add to those already taken.
  virtual void gains(std::span<double> gain) const = 0;
  // Makes this candidate a pick.
  virtual void take(std::size_t candidate) = 0;
};

struct AimTask {
  const Ensemble& model;
  std::span<const double> aim;           // [A][C], finite
  std::span<const std::size_t> outputs;  // those that count, distinct
  Executor* executor = nullptr;
};

// For a model whose components are processes. O(n^2) per candidate and output, for n training rows.
std::unique_ptr<AimInformation> exact_information(const AimTask& task);
// For any model, by groups of outputs.
std::unique_ptr<AimInformation> pairwise_information(const Divergence& divergence, const AimTask& task);

}  // namespace dissent
