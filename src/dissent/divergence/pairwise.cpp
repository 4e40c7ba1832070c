#include "dissent/divergence/pairwise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "dissent/base/aligned.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

using kernels::Trust;

// Components per group: the divergences of two groups, 2 MB for a block of inputs, stay in the cache.
constexpr std::size_t kGroup = 32;

// Single precision pays once a vector of 16 is filled twice.
constexpr std::size_t kSingleFromOutputs = 32;

// The smallest divergence that a kernel is trusted with. In double its terms leave an error of about 1e-15 D^(1/2), in
// single about 6e-8 D^(1/2); the goal is a relative error of 1e-11 (float64 input), 1e-6 or better (float32).
template <class T>
double least_divergence(const kernels::Kernel& kernel, bool single_precision, std::size_t num_outputs) {
  if (!kernel.cancels) {
    return 0;
  }
  if (single_precision) {
    return 0.065 * std::sqrt(static_cast<double>(num_outputs));
  }
  return std::is_same_v<T, float> ? 1e-7 : 1e-4 * std::sqrt(static_cast<double>(num_outputs));
}

// Null if the divergence has none for its alpha.
const kernels::Kernel* kernel_of(const Divergence& divergence) {
  const kernels::Kernel* kernel = divergence.info->kernel;
  return kernel == nullptr || (kernel->takes_alpha && divergence.alpha >= 1) ? nullptr : kernel;
}

}  // namespace

std::size_t PairwiseDivergences::block_size(std::size_t num_components) {
  if (num_components <= kMostDirect) {
    return kBlock;
  }
  return std::clamp<std::size_t>(kMostBytes / sizeof(double) / num_components / num_components, 1, kBlock);
}

PairwiseDivergences::PairwiseDivergences(const Divergence& divergence, std::size_t num_components,
                                         std::size_t num_outputs, std::size_t num_inputs)
    : divergence_kind_(divergence),
      kernel_(kernel_of(divergence)),
      num_components_(num_components),
      num_outputs_(num_outputs),
      stride_(num_components <= kMostDirect ? kBlock
                                            : std::clamp<std::size_t>(num_inputs, 1, block_size(num_components))),
      divergence_(num_components * num_components * stride_ + kSlack),
      sum_log_stddev_(num_components * stride_),
      alpha_(kBlock, divergence.alpha) {
  if (kernel_ == nullptr) {
    return;
  }
  if (num_components > kMostDirect) {
    two_groups_ = std::make_unique<PairwiseDivergences>(divergence, 2 * kGroup, num_outputs);
    return;
  }
  trust_.resize(kBlock);
  scratch_.resize(kernels::scratch_size(num_components, num_outputs) + kAlignmentSlack);
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
  std::ranges::fill(alpha_, divergence_kind_.alpha);
  compute_block(mixture, begin, count, first_input);
}

template <class T>
void PairwiseDivergences::compute_block(const MixtureView<T>& mixture, std::size_t begin, std::size_t count,
                                        std::size_t first_input) {
  check(count <= stride_, "{} inputs in a block of {}", count, stride_);
  if (kernel_ != nullptr && mixture.diagonal()) {
    two_groups_ ? compute_groups(mixture, begin, count, first_input) : compute_fast(mixture, begin, count, first_input);
    return;
  }
  const PlainDivergence& plain = divergence_kind_.info->plain;
  for (std::size_t n = 0; n < count; ++n) {
    components_.load(mixture, begin + n, first_input + begin + n);
    for (std::size_t i = 0; i < num_components_; ++i) {
      sum_log_stddev_[i * stride_ + n] = components_.visit(i, [](const auto& c) { return dissent::sum_log_stddev(c); });
    }
    for (std::size_t i = 0; i < num_components_; ++i) {
      for (std::size_t j = 0; j < num_components_; ++j) {
        divergence_[(i * num_components_ + j) * stride_ + n] =
            i == j ? 0
            : mixture.diagonal()
                ? plain.diagonal(alpha_[n], components_.diagonal_component(i), components_.diagonal_component(j))
                : plain.full(alpha_[n], components_.full_component(i), components_.full_component(j));
      }
    }
  }
}

template <class T>
void PairwiseDivergences::compute_fast(const MixtureView<T>& mixture, std::size_t begin, std::size_t count,
                                       std::size_t first_input) {
  const std::size_t row = num_components_ * num_outputs_;
  const bool single = std::is_same_v<T, float> && num_outputs_ >= kSingleFromOutputs &&
                      num_outputs_ <= kernels::kSingleMostOutputs && kernel_->cancels;
  const kernels::BlockInput<T> block{.mean = mixture.mean + begin * row,
                                     .stddev = mixture.stddev + begin * row,
                                     .count = count,
                                     .num_components = num_components_,
                                     .num_outputs = num_outputs_,
                                     .least = least_divergence<T>(*kernel_, single, num_outputs_),
                                     .single_precision = single};
  kernel_->run(block, alpha_.data(), align_up(scratch_), {divergence_.data(), sum_log_stddev_.data(), trust_.data()});
  for (std::size_t n = 0; n < count; ++n) {
    if (trust_[n] == Trust::kAll) {
      continue;
    }
    if (single) {
      retry_in_double(block, n);
    }
    if (trust_[n] != Trust::kAll) {
      components_.load(mixture, begin + n, first_input + begin + n);
      compute_plain(n, trust_[n] == Trust::kLargeOnly, least_divergence<T>(*kernel_, false, num_outputs_));
    }
  }
  if (divergence_kind_.info->finish != nullptr) {
    divergence_kind_.info->finish(divergence_kind_.alpha, {divergence_.data(), num_components_, count});
  }
}

template <class T>
void PairwiseDivergences::retry_in_double(kernels::BlockInput<T> block, std::size_t input) {
  const std::size_t row = num_components_ * num_outputs_;
  block.mean += input * row;
  block.stddev += input * row;
  block.count = 1;
  block.single_precision = false;
  block.least = least_divergence<T>(*kernel_, false, num_outputs_);
  Trust trust = Trust::kNone;
  retry_alpha_.assign(kBlock, alpha_[input]);
  retry_divergence_.resize(divergence_.size());
  retry_sum_log_stddev_.resize(sum_log_stddev_.size());
  kernel_->run(block, retry_alpha_.data(), align_up(scratch_),
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
        value = kernel_->plain(alpha_[input], p, components_.diagonal_component(j));
      }
    }
  }
}

struct PairwiseDivergences::Groups {
  Groups(std::size_t a, std::size_t b, std::size_t num_components)
      : first{a * kGroup, b * kGroup},
        size{kGroup, std::min(kGroup, num_components - b * kGroup)},
        has_within{b == a + 1, num_components <= (b + 1) * kGroup && b == a + 1} {}

  static std::size_t count(std::size_t num_components) { return (num_components + kGroup - 1) / kGroup; }
  std::size_t num_components() const { return size[0] + size[1]; }

  std::array<std::size_t, 2> first;
  std::array<std::size_t, 2> size;
  std::array<bool, 2> has_within;  // whether the pairs within a group are taken from this comparison
};

template <class T>
void PairwiseDivergences::compute_groups(const MixtureView<T>& mixture, std::size_t begin, std::size_t count,
                                         std::size_t first_input) {
  try {
    const std::size_t num_groups = Groups::count(num_components_);
    for (std::size_t b = 1; b < num_groups; ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        const Groups groups(a, b, num_components_);
        compare_groups(mixture, groups, begin, count);
        copy_groups(groups, count);
      }
    }
  } catch (const InputError&) {  // it names a component by its place within two groups
    for (std::size_t n = begin; n < begin + count; ++n) {
      components_.load(mixture, n, first_input + n);
    }
    throw;
  }
}

template <class T>
void PairwiseDivergences::compare_groups(const MixtureView<T>& mixture, const Groups& groups, std::size_t begin,
                                         std::size_t count) {
  const std::size_t D = num_outputs_;
  Mixture<T> both = Mixture<T>::diagonal(count, groups.num_components(), D);
  std::size_t to = 0;
  for (std::size_t n = begin; n < begin + count; ++n) {
    for (const std::size_t g : {0, 1}) {
      const std::size_t from = (n * num_components_ + groups.first[g]) * D;
      std::copy_n(mixture.mean + from, groups.size[g] * D, both.mean.begin() + static_cast<std::ptrdiff_t>(to));
      std::copy_n(mixture.stddev + from, groups.size[g] * D, both.stddev.begin() + static_cast<std::ptrdiff_t>(to));
      to += groups.size[g] * D;
    }
  }
  two_groups_->num_components_ = groups.num_components();
  two_groups_->compute(both.view(), 0, count, 0, std::span(alpha_).first(count));
}

void PairwiseDivergences::copy_groups(const Groups& groups, std::size_t count) {
  const std::size_t width = groups.num_components();
  for (const std::size_t g : {0, 1}) {
    const std::size_t place = g * groups.size[0];
    for (std::size_t i = 0; i < groups.size[g]; ++i) {
      const std::size_t from_row = (place + i) * width;
      const std::size_t to_row = (groups.first[g] + i) * num_components_;
      std::copy_n(two_groups_->sum_log_stddev_.data() + (place + i) * kBlock, count,
                  sum_log_stddev_.data() + (groups.first[g] + i) * stride_);
      for (const std::size_t h : {0, 1}) {
        for (std::size_t j = 0; j < groups.size[h] && (g != h || groups.has_within[g]); ++j) {
          std::copy_n(two_groups_->divergence_.data() + (from_row + h * groups.size[0] + j) * kBlock, count,
                      divergence_.data() + (to_row + groups.first[h] + j) * stride_);
        }
      }
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
