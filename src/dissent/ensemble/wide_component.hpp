// WideComponent: what a density falls back on where the components of an ensemble are sure and wrong.
//
//   p(y | x) = (1 - w) p_ensemble(y | x) + w prod_d Cauchy(y_d; centre_d, scale_d),   w = 1 / (rows + 1)
// centre and scale are mean and stddev of the training targets. By the rule of succession w is the chance that the next
// row is like none so far. It bounds what one such row can cost, ln(rows + 1) and the logarithm of its distance, and
// costs other rows ln(1 + 1 / rows). It is only part of log densities: components, their disagreement, means, quantiles
// and samples do not have it.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/ensemble/model_parts.hpp"

namespace dissent {

// The wide component for training targets [rows][num_outputs].
WideComponent wide_component(std::span<const double> targets, std::size_t num_outputs);

}  // namespace dissent
