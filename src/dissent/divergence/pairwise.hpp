// All divergences D(p_i || p_j) between the components of each input, block by block: what the estimators work from.
//
// The fast kernels do what they can; an input they cannot vouch for (see kernels.hpp) goes through the plain functions,
// which also find what is wrong with it, if anything. float32 input with many outputs is tried in single precision
// first. Results for float32 input are good to 1e-6 relative, for float64 to 1e-11.
//
// A block's M x M matrices stay below kMostBytes (or a single matrix, if that is more): beyond kMostDirect components
// the kernels compare two groups of components at a time, and fewer inputs make a block.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "dissent/divergence/divergence.hpp"
#include "dissent/divergence/kernels.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// Works on blocks of inputs; holds its own memory, so one per thread. Nothing is kept between blocks.
class PairwiseDivergences {
 public:
  static constexpr std::size_t kBlock = kernels::kBlock;  // inputs in a block, at most
  static constexpr std::size_t kMostDirect = 256;         // components that the kernels take at once
  static constexpr std::size_t kMostBytes = std::size_t{128} << 20;

  // How many inputs make a block: kBlock, or fewer with many components.
  static std::size_t block_size(std::size_t num_components);

  // num_inputs: how many there are in all, in case memory for a whole block would be too much.
  PairwiseDivergences(const Divergence& divergence, std::size_t num_components, std::size_t num_outputs,
                      std::size_t num_inputs = kBlock);

  // Computes the inputs [begin, begin + count), count <= block_size(). Throws like validate() for values that break a
  // rule, counting inputs from first_input.
  template <class T>
  void compute(const MixtureView<T>& mixture, std::size_t begin, std::size_t count, std::size_t first_input);

  // For chernoff: the same with its own alpha, in (0, 1), for each input.
  template <class T>
  void compute(const MixtureView<T>& mixture, std::size_t begin, std::size_t count, std::size_t first_input,
               std::span<const double> alpha);

  std::size_t num_components() const { return num_components_; }
  // Arrays over the inputs of the block, [M][M][stride] and [M][stride]. The first has kSlack extra values, so that a
  // vector can be loaded anywhere.
  static constexpr std::size_t kSlack = 16;
  std::size_t stride() const { return stride_; }
  const double* divergence() const { return divergence_.data(); }
  const double* sum_log_stddev() const { return sum_log_stddev_.data(); }

 private:
  template <class T>
  void compute_block(const MixtureView<T>& mixture, std::size_t begin, std::size_t count, std::size_t first_input);
  template <class T>
  void compute_fast(const MixtureView<T>& mixture, std::size_t begin, std::size_t count, std::size_t first_input);
  // Beyond kMostDirect components.
  template <class T>
  void compute_groups(const MixtureView<T>& mixture, std::size_t begin, std::size_t count, std::size_t first_input);
  struct Groups;  // two ranges of components
  template <class T>
  void compare_groups(const MixtureView<T>& mixture, const Groups& groups, std::size_t begin, std::size_t count);
  void copy_groups(const Groups& groups, std::size_t count);
  template <class T>
  void retry_in_double(kernels::BlockInput<T> block, std::size_t input);
  // Recomputes input number `input` of the block; with small_only, only the pairs that the kernel could not vouch for.
  void compute_plain(std::size_t input, bool small_only, double least);

  Divergence divergence_kind_;
  const kernels::Kernel* kernel_;  // null: none for this divergence
  std::size_t num_components_;
  std::size_t num_outputs_;
  std::size_t stride_;
  std::vector<double> divergence_;
  std::vector<double> sum_log_stddev_;
  std::vector<double> alpha_;  // [kBlock], of each input
  std::vector<kernels::Trust> trust_;
  std::vector<double> scratch_;
  std::vector<double> retry_alpha_;
  std::vector<double> retry_divergence_;
  std::vector<double> retry_sum_log_stddev_;
  std::unique_ptr<PairwiseDivergences> two_groups_;  // null up to kMostDirect components, and without a kernel
  InputComponents components_;
};

}  // namespace dissent
