// WideComponent: what a density falls back on where the components of an ensemble are sure and wrong.
//
//   p(y | x) = (1 - w) p_ensemble(y | x) + w prod_d Cauchy(y_d; centre_d, scale_d),   w = 1 / (rows + 1)
// centre and scale are mean and stddev of the training targets. By the rule of succession w is the chance that the next
// row is like none so far. It bounds what one such row can cost, ln(rows + 1) and the logarithm of its distance, and
// costs other rows ln(1 + 1 / rows). It is part of log densities alone: components, their disagreement, means,
// quantiles and samples do not have it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dissent {

struct WideComponent {
  double weight = 0;  // in [0, 1); 0: there is none
  std::vector<double> centre;
  std::vector<double> scale;  // > 0

  bool empty() const { return weight == 0; }
  // ln p of a row of targets, from that of the ensemble.
  double mixed(double log_density, std::span<const double> targets) const;
  // InputError unless it is empty, or of this size, finite and positive where it must be.
  void check_values(std::size_t num_outputs) const;
};

// Of training targets [rows][num_outputs].
WideComponent wide_component(std::span<const double> targets, std::size_t num_outputs);

}  // namespace dissent
