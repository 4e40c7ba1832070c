// JointCandidates of a model's rows, in the host's memory.
#pragma once

#include <memory>
#include <span>

#include "dissent/base/executor.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/estimator/joint_candidates.hpp"

namespace dissent {

// Predicts and scores the rows [N][C]. The executor must outlive the result.
std::unique_ptr<JointCandidates> host_candidates(const Divergence& divergence, const Ensemble& model,
                                                 std::span<const double> rows, Executor* executor);

}  // namespace dissent
