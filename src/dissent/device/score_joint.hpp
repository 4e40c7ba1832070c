// Rows weighed by Monte Carlo together with rows chosen before, on a card: batchbald's sampling. In double precision
// and by the processor's formula (acquisition/sampled.hpp), so that results differ by the order of sums alone.
#pragma once

#include <cstddef>
#include <memory>

#include "dissent/estimator/score_device.hpp"

namespace dissent {

inline constexpr std::size_t kMostJointComponents = 8;

// On the current card. Null where there are more components than that, or more outputs than shared memory holds.
std::unique_ptr<RowsOnDevice> make_joint_rows(const MixtureView<double>& mixture);

}  // namespace dissent
