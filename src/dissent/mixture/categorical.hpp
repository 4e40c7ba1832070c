// Components that are probabilities of K classes, as a classifier gives them: probability[n][m][k] of N inputs and M
// components, row-major and contiguous, in double precision.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dissent/mixture/mixture.hpp"

namespace dissent {

// One component at one input: >= 0, sums to 1.
struct Categorical {
  std::span<const double> probability;
};

bool equal(const Categorical& p, const Categorical& q);  // to the bit

double entropy(const Categorical& p);  // in nats

// In someone else's memory.
struct CategoricalView {
  std::size_t num_inputs = 0;
  std::size_t num_components = 0;
  std::size_t num_classes = 0;
  const double* probability = nullptr;
  const Weights* weights = nullptr;  // never null

  Categorical component(std::size_t input, std::size_t m) const {
    return {{probability + (input * num_components + m) * num_classes, num_classes}};
  }
};

// Divides the rounding out of probabilities [N][M][K]. InputError names input, component and class of the first value
// that is not a finite number >= 0, or input and component of the first probabilities that do not sum to 1 within 1e-4.
// Inputs are counted from first_input.
void normalise_probabilities(std::span<double> probability, std::size_t num_components, std::size_t num_classes,
                             std::size_t first_input = 0);

}  // namespace dissent
