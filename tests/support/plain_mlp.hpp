// The plain perceptron, kept as the oracle of the fast one: full-width matrices, masks by multiplication of the
// pre-activation, loops in the order of the formula, double precision. Row-major: x[n * num_inputs + c].
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "dissent/network/mlp.hpp"

namespace dissent::test {

inline double plain_activation(Activation activation, double z) {
  switch (activation) {
    case Activation::kRelu:
      return z > 0 ? z : 0;
    case Activation::kTanh:
      return std::tanh(z);
    case Activation::kSilu:
      return z / (1 + std::exp(-z));
  }
  return z;
}

// Outputs [n][num_outputs] of the full network `mlp`; masks[l][unit] multiplies layer l's pre-activation (no masks: 1).
inline std::vector<double> plain_forward(const Mlp& mlp, std::span<const double> block, const std::vector<double>& x,
                                         const std::vector<std::vector<double>>& masks = {}) {
  const std::size_t num_items = x.size() / mlp.shape().num_inputs;
  std::vector<double> in = x;
  const std::size_t num_hidden = mlp.shape().hidden.size();
  for (std::size_t l = 0; l <= num_hidden; ++l) {
    const Mlp::Layer& layer = mlp.layers()[l];
    std::vector<double> out(num_items * layer.num_outputs);
    for (std::size_t n = 0; n < num_items; ++n) {
      for (std::size_t r = 0; r < layer.num_outputs; ++r) {
        double sum = block[layer.bias + r];
        for (std::size_t c = 0; c < layer.num_inputs; ++c) {
          sum += block[layer.weight + r * layer.num_inputs + c] * in[n * layer.num_inputs + c];
        }
        if (l < num_hidden) {
          sum = plain_activation(mlp.shape().activation, masks.empty() ? sum : sum * masks[l][r]);
        }
        out[n * layer.num_outputs + r] = sum;
      }
    }
    in = out;
  }
  return in;
}

// Mean over items and outputs of (log v + (y - mean)^2 / v) / 2, v = max(stddev^2, floor); outputs are [mean,
// log_stddev].
inline double plain_nll(const std::vector<double>& outputs, const std::vector<double>& y, std::size_t num_outputs,
                        double variance_floor = 0) {
  double sum = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::size_t n = k / num_outputs;
    const std::size_t d = k % num_outputs;
    const double mean = outputs[n * 2 * num_outputs + d];
    const double log_stddev = std::fmin(2, std::fmax(-20, outputs[(n * 2 + 1) * num_outputs + d]));
    const double variance = std::fmax(std::exp(2 * log_stddev), variance_floor);
    sum += 0.5 * (std::log(variance) + (y[k] - mean) * (y[k] - mean) / variance);
  }
  return sum / static_cast<double>(y.size());
}

}  // namespace dissent::test
