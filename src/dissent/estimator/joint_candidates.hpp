// JointCandidates: the rows that greedy joint choice (acquisition/joint.cpp) compares, with the divergences between
// their components, on the host or on a device. Those stay where they are; the choice sees what they tell.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/estimator/joint_sums.hpp"

namespace dissent {

// One thread at a time. There are two components that JointPairs counts, at least.
class JointCandidates {
 public:
  virtual ~JointCandidates() = default;

  std::size_t num_rows() const { return epistemic().size(); }
  // Of each row by itself, [N].
  virtual std::span<const double> epistemic() const = 0;
  virtual std::span<const double> log_deficit() const = 0;

  // A row's divergences, finite: one for each of JointPairs, in their order. Valid until the next call of this
  // function.
  virtual std::span<const float> divergences(std::size_t row) = 0;
  // [N]: the information of each row's divergences added to `sums`, accurate to about 1e-6 of itself. Valid until the
  // next call of this function.
  virtual std::span<const float> information(const RunningSums& sums) = 0;
};

}  // namespace dissent
