// Batched kernels for diagonal Gaussians: all pairs of components of a block of inputs, vectorised, chosen at run time
// for the CPU. They take one logarithm per component (or pair) instead of one per output, and neither allocate nor
// throw.
//
// They hold for finite means, standard deviations in [1e-9, 1e9] (double precision: [1e-18, 1e18]) and divergences not
// so small that their terms cancel. Anything outside (or not valid) is only marked, in `trust`; pairwise.cpp then turns
// to the next more careful way: double instead of single precision, then the plain functions, which hold everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dissent/mixture/gaussian.hpp"

namespace dissent::kernels {

inline constexpr std::size_t kBlock = 64;  // inputs per call, at most
// Beyond this a sum in single precision would gather too much rounding.
inline constexpr std::size_t kSingleMostOutputs = 4096;

// Doubles of scratch memory that a call needs, 64-byte aligned.
std::size_t scratch_size(std::size_t num_components, std::size_t num_outputs);

// How far an input's results hold: all of them; all but divergences below `least` (or not finite); none.
enum class Trust : std::uint8_t { kNone, kLargeOnly, kAll };

// Arrays of a block are [..][kBlock], the input running fastest.
struct BlockResult {
  double* divergence;      // [M][M][kBlock]; the diagonal is set to 0
  double* sum_log_stddev;  // [M][kBlock]
  Trust* trust;            // [kBlock]
};

// Inputs of a block: mean and stddev point at the first one, rows of M * D values.
template <class T>
struct BlockInput {
  const T* mean;
  const T* stddev;
  std::size_t count;  // of inputs, 1 to kBlock
  std::size_t num_components;
  std::size_t num_outputs;
  double least;           // divergences below this are not trusted
  bool single_precision;  // compute in float; only for T = float
};

void kl_block(const BlockInput<float>& in, double* scratch, const BlockResult& out);
void kl_block(const BlockInput<double>& in, double* scratch, const BlockResult& out);

// `least` and single_precision are ignored: nothing cancels, so float32 input of up to kSingleMostOutputs outputs is
// computed in single precision.
void bhattacharyya_block(const BlockInput<float>& in, double* scratch, const BlockResult& out);
void bhattacharyya_block(const BlockInput<double>& in, double* scratch, const BlockResult& out);

// chernoff with an alpha for each input, alpha[kBlock]; entries past the count must be in (0, 1) too.
void chernoff_block(const BlockInput<float>& in, const double* alpha, double* scratch, const BlockResult& out);
void chernoff_block(const BlockInput<double>& in, const double* alpha, double* scratch, const BlockResult& out);

// Runs on float32 and float64 input; made from one function that takes either.
struct RunKernel {
  void (*single)(const BlockInput<float>& in, const double* alpha, double* scratch, const BlockResult& out);
  void (*full)(const BlockInput<double>& in, const double* alpha, double* scratch, const BlockResult& out);

  template <class F>
  constexpr RunKernel(F f) : single(f), full(f) {}

  void operator()(const BlockInput<float>& in, const double* alpha, double* scratch, const BlockResult& out) const {
    single(in, alpha, scratch, out);
  }
  void operator()(const BlockInput<double>& in, const double* alpha, double* scratch, const BlockResult& out) const {
    full(in, alpha, scratch, out);
  }
};

// One of the above as the registry of divergences names it.
struct Kernel {
  RunKernel run;
  double (*plain)(double alpha, const DiagonalGaussian& p, const DiagonalGaussian& q);  // what it computes
  bool takes_alpha = false;                                                             // in (0, 1)
  bool cancels = true;  // small results lose digits, so `least` and single_precision are used
};

// The divergences of a block, [M][M][kBlock], of which the first `count` inputs are set.
struct PairBlock {
  double* divergence;
  std::size_t num_components;
  std::size_t count;
};

}  // namespace dissent::kernels
