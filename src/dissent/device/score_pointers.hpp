// Scores of arrays that are already on a card: only the first bad row and the top rows are copied to the host.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// mixture: weighted, diagonal, its arrays on the current card. Returns columns [..][N] on the card: epistemic,
// aleatoric, total, log_deficit, then the estimator's extras. Queues the work on the stream and waits for it. Throws
// InputError as validate() does, and for an estimator or a shape that has no kernel.
template <class T>
std::shared_ptr<double> score_pointers(const Estimator& estimator, const MixtureView<T>& mixture, cudaStream_t stream);

// Columns [N] on the current card.
struct ScoredPointers {
  const double* epistemic;
  const double* log_deficit;
  std::size_t num_inputs;
};

// The `count` most uncertain inputs, best first; of two equal ones, the first comes first. All if there are fewer.
// Waits for the stream.
std::vector<std::size_t> top_pointers(const ScoredPointers& scores, std::size_t count, cudaStream_t stream);

}  // namespace dissent
