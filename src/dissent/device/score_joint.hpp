// Weighs rows together with rows chosen before, by Monte Carlo on a card: batchbald's sampling. In double precision and
// with the processor's formula (acquisition/sampled.hpp), so that results differ only by the order of sums.
#pragma once

#include <cstddef>
#include <memory>

#include "dissent/estimator/score_device.hpp"

namespace dissent {

inline constexpr std::size_t kMostJointComponents = 8;

// On the current card. Null if there are more components than that, or more outputs than shared memory holds.
std::unique_ptr<RowsOnDevice> make_joint_rows(const MixtureView<double>& mixture);

}  // namespace dissent
