// The uncertainty of a classifier's probabilities (mixture/categorical.hpp): how much the components disagree about the
// class, in nats.
//
//   exact       H(mean) - mean H = sum_i w_i KL(p_i || mean), BALD: K classes can be summed over
//   NAME        the pairwise estimate over a divergence, as for Gaussians (combine.hpp)
// aleatoric is the mean entropy of the components, total its sum with the epistemic part (for exact: the entropy of the
// mean). log_deficit of the exact form is ln H(component | class), in which nothing cancels.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/categorical.hpp"

namespace dissent {

struct ClassEstimator {
  std::optional<Divergence> divergence = {};  // none: exact

  // "exact", "kl", "bhattacharyya", ...; an InputError lists all.
  static ClassEstimator parse(std::string_view text);
  std::string name() const { return divergence ? divergence->name() : "exact"; }
  Bound bound() const { return divergence ? divergence->info->bound : Bound::kExact; }
};

// The probabilities must be normalised.
Uncertainty estimate(const ClassEstimator& estimator, const CategoricalView& classes,
                     const EstimateOptions& options = {});

// The exact information of one input and its log deficit.
Combined class_information(const CategoricalView& classes, std::size_t input);

// All divergences D_ij of one input, [M][M].
void class_divergences(const Divergence& divergence, const CategoricalView& classes, std::size_t input,
                       std::span<double> result);

}  // namespace dissent
