// kl-joint, bhattacharyya-joint, chernoff-joint: the batch whose outputs together say most about the component.
//
// Given the component, the outputs of a batch are independent, so divergences add over its rows, and the pairwise
// estimate of the joint mutual information has the closed form of one row's with D_ij summed. Greedy: each pick is the
// row with the largest estimate together with the picks before it, one running M x M matrix, O(N M^2) a pick. The
// estimate soon reaches H(w) to the last bit; rows are ranked by its log deficit, which does not saturate. With a batch
// of one this is the pairwise estimate itself.
#pragma once

#include <span>

#include "dissent/acquisition/acquisition.hpp"

namespace dissent {

Choice choose_joint(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
