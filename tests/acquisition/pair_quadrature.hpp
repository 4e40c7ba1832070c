// The mutual information between the component and the outputs of two inputs together, one output each, by brute-force
// quadrature in two dimensions: the truth that joint estimates are held against.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "dissent/mixture/mixture.hpp"

namespace dissent::test {

// H(w) minus the deficit sum_j w_j E_j log1p(sum_{i != j} w_i p_i(y1) p_i(y2) / (w_j p_j(y1) p_j(y2))). Trapezoidal
// rule over +-8 standard deviations of component j: its error vanishes faster than any power of the step, which must
// resolve the narrowest component.
inline double pair_information(const Mixture<double>& mixture, const Weights& weights) {
  constexpr int kPoints = 240;
  constexpr double kEnd = 8;
  const std::size_t M = mixture.num_components;
  const double step = 2 * kEnd / kPoints;
  double deficit = 0;
  for (std::size_t j = 0; j < M; ++j) {
    // ratio[input][i][k] = p_i(y_k) / p_j(y_k)
    std::vector<std::vector<std::vector<double>>> ratio(2, std::vector(M, std::vector<double>(kPoints + 1)));
    for (std::size_t input = 0; input < 2; ++input) {
      const double* mean = mixture.mean.data() + input * M;
      const double* stddev = mixture.stddev.data() + input * M;
      for (std::size_t i = 0; i < M; ++i) {
        for (int k = 0; k <= kPoints; ++k) {
          const double e = -kEnd + step * k;
          const double z = (mean[j] - mean[i] + stddev[j] * e) / stddev[i];
          ratio[input][i][static_cast<std::size_t>(k)] = stddev[j] / stddev[i] * std::exp(0.5 * (e * e - z * z));
        }
      }
    }
    double sum = 0;
    for (std::size_t a = 0; a <= kPoints; ++a) {
      for (std::size_t b = 0; b <= kPoints; ++b) {
        double others = 0;
        for (std::size_t i = 0; i < M; ++i) {
          others += i == j ? 0 : weights.value[i] / weights.value[j] * ratio[0][i][a] * ratio[1][i][b];
        }
        const double e1 = -kEnd + step * static_cast<double>(a);
        const double e2 = -kEnd + step * static_cast<double>(b);
        sum += std::exp(-0.5 * (e1 * e1 + e2 * e2)) * std::log1p(others);
      }
    }
    deficit += weights.value[j] * sum * step * step / (2 * 3.14159265358979323846);
  }
  return weights.entropy - deficit;
}

}  // namespace dissent::test
