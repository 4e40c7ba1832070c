// Activations that need more than a comparison: tanh(z) and SiLU, z / (1 + exp(-z)). ReLU is fused into the product
// (linear.hpp). All of them map 0 to 0, which is what lets a masked unit be left out.
#pragma once

#include <cstddef>

#include "dissent/matrix/panel.hpp"

namespace dissent {

enum class Activation { kRelu, kTanh, kSilu };

// Replaces z by tanh(z). Its derivative is 1 - tanh(z)^2, so nothing else needs to be kept.
void apply_tanh(Panel<float> values, std::size_t batch);
void apply_tanh(Panel<double> values, std::size_t batch);

// Replaces z by SiLU(z) and stores the derivative, s (1 + z (1 - s)) with s = 1 / (1 + exp(-z)).
void apply_silu(Panel<float> values, Panel<float> derivative, std::size_t batch);
void apply_silu(Panel<double> values, Panel<double> derivative, std::size_t batch);

}  // namespace dissent
