// How much of the components' disagreement at each candidate is left once labels of other candidates are known. Joint
// choice goes on by this once those labels tell the components apart entirely.
//
// Then a mixture of M components has nothing left to tell, and a copy of the first pick would do as well as any other
// row. But the components are samples of all that could have been trained. So each output's value is taken as Gaussian,
// with the components' variance v and their covariance c between rows, in units of the noise. A pick p leaves
//   v(x) - c(x, p)^2 / (v(p) + 1),
// and c changes likewise. M equal samples show a squared correlation of 1 / (M - 1) by chance. So c is multiplied by
// the root of how far the squared correlation, averaged over outputs, exceeds that: near 1 for rows that are alike, 0
// for rows with nothing in common. What a row has left is sum_d 1/2 ln(1 + v_d).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

// When only this share of H(w) is left, picks have told all that components can.
inline constexpr double kLeftWhenTold = 0.01;

class ResidualDisagreement {
 public:
  // Of the candidates [N][C] and the outputs that count.
  ResidualDisagreement(const Ensemble& model, std::span<const double> candidates, std::span<const std::size_t> outputs,
                       Executor* executor);

  void take(std::size_t candidate);
  // Nats left at each candidate.
  void left(std::span<double> nats) const;

 private:
  // Covariances of a row with the candidate before any pick, one per output.
  void covariances(std::size_t row, std::size_t candidate, std::span<double> out) const;

  std::size_t at(std::size_t row, std::size_t output) const { return row * num_outputs_ + output; }

  std::size_t num_rows_;
  std::size_t num_outputs_;
  std::size_t num_components_;
  double by_chance_;  // squared correlation of rows that have nothing in common
  Executor* executor_;
  std::vector<float> apart_;      // [N][D][M]: means about their centre over the noise's stddev, times sqrt(weight)
  std::vector<double> variance_;  // [N][D], what the picks leave
  std::vector<double> before_;    // [N][D], before any pick
  std::vector<std::vector<double>> picks_;  // of each: [N][D], c / sqrt(v + 1)
};

}  // namespace dissent
