// Scores of arrays that lie on a card already: nothing is copied but the error, if there is one.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// mixture: weighted, diagonal, its arrays on the current card. Returns columns [..][N] on the card: epistemic,
// aleatoric, total, log_deficit, then the estimator's extras. Work is queued on the stream and waited for. InputError
// as validate() has it, and for an estimator or a shape that has no kernel.
template <class T>
std::shared_ptr<double> score_pointers(const Estimator& estimator, const MixtureView<T>& mixture, cudaStream_t stream);

// Columns [N] on the current card.
struct ScoredPointers {
  const double* epistemic;
  const double* log_deficit;
  std::size_t num_inputs;
};

// The `count` most uncertain inputs, best first, of two alike the first; all if there are fewer. Waits for the stream.
std::vector<std::size_t> top_pointers(const ScoredPointers& scores, std::size_t count, cudaStream_t stream);

}  // namespace dissent
