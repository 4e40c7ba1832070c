// Adam (Kingma and Ba 2015) on a flat block, as torch.optim.Adam computes it, in one pass:
//   m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2,
//   p -= learning_rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon).
//
// Before that the gradient is clipped by its global norm (as torch.nn.utils.clip_grad_norm_: scaled by
// clip_norm / (norm + 1e-6) if that is below 1), and weights decay, decoupled: p is scaled by 1 - learning_rate *
// weight_decay (AdamW; Loshchilov and Hutter 2019).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dissent/network/layout.hpp"

namespace dissent {

struct AdamOptions {
  double learning_rate = 5e-4;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double clip_norm = 0;  // 0: no clipping
};

// Equal ranges of four blocks of one layout: of a whole block, or of one network in it (Mlp::range).
template <class T>
struct AdamRange {
  std::span<T> parameters;
  std::span<const T> gradient;
  std::span<T> first_moment;
  std::span<T> second_moment;
};

// Factors of a step that depend only on the options and its number.
struct AdamScales {
  double shrink = 1;        // decoupled decay: 1 - learning_rate * weight_decay
  double step_size = 0;     // learning_rate / (1 - beta1^t)
  double inverse_root = 1;  // 1 / sqrt(1 - beta2^t)
};
AdamScales adam_scales(const AdamOptions& options, std::uint64_t step);

// Step number `step` (the first is 1). Sizes must be equal and multiples of kLanes, as in aligned layouts. Returns the
// gradient's norm before clipping. If that is not finite, nothing is changed: it tells the caller that the step
// diverged, with parameters and moments still sound.
double adam_step(const AdamOptions& options, std::uint64_t step, const AdamRange<float>& range);
double adam_step(const AdamOptions& options, std::uint64_t step, const AdamRange<double>& range);

}  // namespace dissent
