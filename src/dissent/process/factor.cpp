// Cholesky factors with a stated jitter; inverses at a third of the cost of solving for every unit vector.
#include "dissent/process/factor.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kFirstJitter = 1e-10;
constexpr double kLargestJitter = 1.5e-4;
constexpr Index kBlock = 64;

void invert_lower_in_place(Eigen::Ref<MatrixXd> lower) {
  const Index size = lower.rows();
  if (size <= kBlock) {
    MatrixXd inverse = MatrixXd::Identity(size, size);
    lower.triangularView<Eigen::Lower>().solveInPlace(inverse);
    lower = inverse;
    return;
  }
  const Index head = size / 2;
  const Index tail = size - head;
  invert_lower_in_place(lower.topLeftCorner(head, head));
  invert_lower_in_place(lower.bottomRightCorner(tail, tail));
  const MatrixXd corner =
      lower.bottomLeftCorner(tail, head) * lower.topLeftCorner(head, head).triangularView<Eigen::Lower>();
  lower.bottomLeftCorner(tail, head).noalias() =
      lower.bottomRightCorner(tail, tail).triangularView<Eigen::Lower>() * (-corner);
  lower.topRightCorner(head, tail).setZero();
}

}  // namespace

MatrixXd CholeskyFactor::solve(const Eigen::Ref<const MatrixXd>& b) const {
  MatrixXd out = b;
  lower.triangularView<Eigen::Lower>().solveInPlace(out);
  lower.triangularView<Eigen::Lower>().transpose().solveInPlace(out);
  return out;
}

CholeskyFactor factorise(const MatrixXd& matrix) {
  CholeskyFactor out;
  const double mean = matrix.size() == 0 ? 1 : matrix.diagonal().mean();
  for (double share = 0; share <= kLargestJitter; share = std::max(kFirstJitter, 10 * share)) {
    out.lower = matrix;
    out.jitter = share * mean;
    out.lower.diagonal().array() += out.jitter;
    const Eigen::LLT<Eigen::Ref<MatrixXd>> llt(out.lower);
    if (llt.info() == Eigen::Success && out.lower.diagonal().allFinite() && (out.lower.diagonal().array() > 0).all()) {
      out.sound = true;
      return out;
    }
  }
  return out;
}

MatrixXd inverse_of_lower(const MatrixXd& lower) {
  MatrixXd out = lower;
  invert_lower_in_place(out);
  return out;
}

MatrixXd inverse_from(const MatrixXd& inverse_lower) {
  const Index size = inverse_lower.rows();
  MatrixXd out(size, size);
  for (Index begin = 0; begin < size; begin += kBlock) {  // row block i takes only rows >= i of L^-1
    const Index rows = std::min(kBlock, size - begin);
    const Index below = size - begin;
    out.block(begin, 0, rows, begin + rows).noalias() =
        inverse_lower.block(begin, begin, below, rows).transpose() * inverse_lower.block(begin, 0, below, begin + rows);
  }
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  return out;
}

}  // namespace dissent
