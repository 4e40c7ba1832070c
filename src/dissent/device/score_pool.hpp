// PoolOnDevice of arrays that are on a card: they are scored and compared there, and copies of a few rows leave it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "dissent/base/error.hpp"
#include "dissent/device/score_information.hpp"
#include "dissent/estimator/joint_sums.hpp"
#include "dissent/estimator/score_device.hpp"

namespace dissent {

// The same components for kernels.
inline score::PairedComponents paired_components(const JointPairs& pairs) {
  check(pairs.component.size() <= score::kMostComponents,
        "rows of {} components cannot be compared on a card, which takes {}; bring the arrays to the host",
        pairs.component.size(), score::kMostComponents);
  score::PairedComponents of{.count = static_cast<int>(pairs.component.size()),
                             .entropy = pairs.entropy,
                             .saturated = static_cast<float>(pairs.saturated)};
  std::ranges::copy(pairs.weight, of.weight);
  std::ranges::transform(pairs.weight, of.log_weight, [](float weight) { return std::log(weight); });
  std::ranges::transform(pairs.component, of.component, [](std::size_t m) { return static_cast<int>(m); });
  return of;
}

// mixture: weighted, diagonal, its arrays on the current card and written. device: the card's, which scores them. Both
// must outlive the pool.
template <class T>
std::unique_ptr<PoolOnDevice> make_pool(const MixtureView<T>& mixture, ScoreDevice& device);

}  // namespace dissent
