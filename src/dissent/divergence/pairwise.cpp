#include "dissent/divergence/pairwise.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "dissent/base/aligned.hpp"

namespace dissent {
namespace {

using kernels::Trust;

// Single precision pays once a vector of 16 is filled twice.
constexpr std::size_t kSingleFromOutputs = 32;

// The smallest divergence that a kernel is trusted with. In double its terms leave an error of about 1e-15 D^(1/2), in
// single about 6e-8 D^(1/2); what is asked is a relative error of 1e-11 (float64 input), 1e-6 or better (float32).
template <class T>
double least_divergence(const Divergence& kind, bool single_precision, std::size_t num_outputs) {
  if (kind.kind == DivergenceKind::kBhattacharyya) {
    return 0;  // its kernel does not cancel
  }
  if (single_precision) {
    return 0.065 * std::sqrt(static_cast<double>(num_outputs));
  }
  return std::is_same_v<T, float> ? 1e-7 : 1e-4 * std::sqrt(static_cast<double>(num_outputs));
}

template <class T>
void run_kernel(const Divergence& kind, const double* alpha, const kernels::BlockInput<T>& block, double* scratch,
                const kernels::BlockResult& result) {
  if (kind.kind == DivergenceKind::kKl) {
    kernels::kl_block(block, scratch, result);
  } else if (kind.kind == DivergenceKind::kBhattacharyya) {
    kernels::bhattacharyya_block(block, scratch, result);
  } else {
    kernels::chernoff_block(block, alpha, scratch, result);
  }
}

}  // namespace

PairwiseDivergences::PairwiseDivergences(const Divergence& divergence, std::size_t num_components,
                                         std::size_t num_outputs)
    : divergence_kind_(divergence),
      kernel_kind_(divergence),
      num_components_(num_components),
      num_outputs_(num_outputs),
      divergence_(num_components * num_components * kBlock),
      sum_log_stddev_(num_components * kBlock) {
  switch (divergence.kind) {
    case DivergenceKind::kKl:
    case DivergenceKind::kBhattacharyya:
    case DivergenceKind::kChernoff:
      has_kernel_ = true;
      break;
    case DivergenceKind::kHellinger:
      has_kernel_ = true;
      kernel_kind_ = {DivergenceKind::kBhattacharyya, 0.5};
      break;
    case DivergenceKind::kRenyi:
      has_kernel_ = divergence.alpha < 1;
      kernel_kind_ = {DivergenceKind::kChernoff, divergence.alpha};
      break;
    default:
      break;
  }
  alpha_.assign(kBlock, kernel_kind_.alpha);
  if (has_kernel_) {
    trust_.resize(kBlock);
    scratch_.resize(kernels::scratch_size(num_components, num_outputs) + kAlignmentSlack);
    retry_alpha_.resize(kBlock);
    retry_divergence_.resize(divergence_.size());
    retry_sum_log_stddev_.resize(sum_log_stddev_.size());
  }
}

Divergence PairwiseDivergences::with_alpha(const Divergence& d, std::size_t input) const {
  return {d.kind, alpha_[input]};
}

template <class T>
void PairwiseDivergences::compute(const MixtureView<T>& mixture, std::size_t begin, std::size_t count,
                                  std::size_t first_input, std::span<const double> alpha) {
  std::ranges::copy(alpha, alpha_.begin());
  compute_block(mixture, begin, count, first_input);
}

template <class T>
void PairwiseDivergences::compute(const MixtureView<T>& mixture, std::size_t begin, std::size_t count,
                                  std::size_t first_input) {
  std::ranges::fill(alpha_, kernel_kind_.alpha);
  compute_block(mixture, begin, count, first_input);
}

template <class T>
void PairwiseDivergences::compute_block(const MixtureView<T>& mixture, std::size_t begin, std::size_t count,
                                        std::size_t first_input) {
  if (has_kernel_ && mixture.diagonal()) {
    compute_fast(mixture, begin, count, first_input);
    return;
  }
  for (std::size_t n = 0; n < count; ++n) {
    components_.load(mixture, begin + n, first_input + begin + n);
    for (std::size_t i = 0; i < num_components_; ++i) {
      sum_log_stddev_[i * kBlock + n] = components_.visit(i, [](const auto& c) { return dissent::sum_log_stddev(c); });
    }
    for (std::size_t i = 0; i < num_components_; ++i) {
      for (std::size_t j = 0; j < num_components_; ++j) {
        divergence_[(i * num_components_ + j) * kBlock + n] =
            i == j ? 0
            : mixture.diagonal()
                ? dissent::divergence(with_alpha(divergence_kind_, n), components_.diagonal_component(i),
                                      components_.diagonal_component(j))
                : dissent::divergence(with_alpha(divergence_kind_, n), components_.full_component(i),
                                      components_.full_component(j));
      }
    }
  }
}

template <class T>
void PairwiseDivergences::compute_fast(const MixtureView<T>& mixture, std::size_t begin, std::size_t count,
                                       std::size_t first_input) {
  const std::size_t row = num_components_ * num_outputs_;
  const bool single = std::is_same_v<T, float> && num_outputs_ >= kSingleFromOutputs &&
                      num_outputs_ <= kernels::kSingleMostOutputs &&
                      kernel_kind_.kind != DivergenceKind::kBhattacharyya;
  const kernels::BlockInput<T> block{.mean = mixture.mean + begin * row,
                                     .stddev = mixture.stddev + begin * row,
                                     .count = count,
                                     .num_components = num_components_,
                                     .num_outputs = num_outputs_,
                                     .least = least_divergence<T>(kernel_kind_, single, num_outputs_),
                                     .single_precision = single};
  run_kernel(kernel_kind_, alpha_.data(), block, align_up(scratch_),
             {divergence_.data(), sum_log_stddev_.data(), trust_.data()});
  for (std::size_t n = 0; n < count; ++n) {
    if (trust_[n] == Trust::kAll) {
      continue;
    }
    if (single) {
      retry_in_double(block, n);
    }
    if (trust_[n] != Trust::kAll) {
      components_.load(mixture, begin + n, first_input + begin + n);
      compute_plain(n, trust_[n] == Trust::kLargeOnly, least_divergence<T>(kernel_kind_, false, num_outputs_));
    }
  }
  apply_to_block(count);
}

template <class T>
void PairwiseDivergences::retry_in_double(kernels::BlockInput<T> block, std::size_t input) {
  const std::size_t row = num_components_ * num_outputs_;
  block.mean += input * row;
  block.stddev += input * row;
  block.count = 1;
  block.single_precision = false;
  block.least = least_divergence<T>(kernel_kind_, false, num_outputs_);
  Trust trust = Trust::kNone;
  std::ranges::fill(retry_alpha_, alpha_[input]);
  run_kernel(kernel_kind_, retry_alpha_.data(), block, align_up(scratch_),
             {retry_divergence_.data(), retry_sum_log_stddev_.data(), &trust});
  for (std::size_t k = 0; k < num_components_ * num_components_; ++k) {
    divergence_[k * kBlock + input] = retry_divergence_[k * kBlock];
  }
  for (std::size_t m = 0; m < num_components_; ++m) {
    sum_log_stddev_[m * kBlock + input] = retry_sum_log_stddev_[m * kBlock];
  }
  trust_[input] = trust;
}

void PairwiseDivergences::compute_plain(std::size_t input, bool small_only, double least) {
  for (std::size_t i = 0; i < num_components_; ++i) {
    const DiagonalGaussian p = components_.diagonal_component(i);
    if (!small_only) {
      sum_log_stddev_[i * kBlock + input] = dissent::sum_log_stddev(p);
    }
    for (std::size_t j = 0; j < num_components_; ++j) {
      double& value = divergence_[(i * num_components_ + j) * kBlock + input];
      const bool holds = small_only && value >= least && value <= 1e300;
      if (i != j && !holds) {
        value = dissent::divergence(with_alpha(kernel_kind_, input), p, components_.diagonal_component(j));
      }
    }
  }
}

// Divergences that are a function of what the kernel gave.
void PairwiseDivergences::apply_to_block(std::size_t count) {
  const bool hellinger = divergence_kind_.kind == DivergenceKind::kHellinger;
  if (!hellinger && divergence_kind_.kind != DivergenceKind::kRenyi) {
    return;
  }
  for (std::size_t k = 0; k < num_components_ * num_components_; ++k) {
    for (std::size_t n = 0; n < count; ++n) {
      double& value = divergence_[k * kBlock + n];
      value = hellinger ? -std::expm1(-value) : value / (1 - divergence_kind_.alpha);
    }
  }
}

template void PairwiseDivergences::compute(const MixtureView<float>&, std::size_t, std::size_t, std::size_t);
template void PairwiseDivergences::compute(const MixtureView<double>&, std::size_t, std::size_t, std::size_t);
template void PairwiseDivergences::compute(const MixtureView<float>&, std::size_t, std::size_t, std::size_t,
                                           std::span<const double>);
template void PairwiseDivergences::compute(const MixtureView<double>&, std::size_t, std::size_t, std::size_t,
                                           std::span<const double>);

}  // namespace dissent
