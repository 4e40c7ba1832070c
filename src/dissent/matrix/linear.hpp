// The two products of a layer over a batch, for small matrices; panels are feature-major (panel.hpp).
//
//   affine:            out[r][b]      = finish( bias[r] + sum_k weight[r][k] * in[k][b] )
//   weight_gradient:   gradient[r][k] += sum_b left[r][b] * right[k][b],   bias_gradient[r] += sum_b left[r][b]
//
// The gradient with respect to a layer's input is `affine` with the transposed weight (swap the two strides). Vectors
// run along the batch; a weight is broadcast, so weights need neither alignment nor padding. Register-tiled, chosen at
// run time for the processor's instruction set. The order of summation depends only on the shapes: same input, same
// bits. No allocation, no exceptions; shapes are the caller's responsibility.
#pragma once

#include <cstddef>

#include "dissent/matrix/panel.hpp"

namespace dissent {

enum class Finish {
  kNone,
  kRelu,            // max(0, .)
  kReluDerivative,  // . if factor > 0, else 0: `factor` is the layer's activation
  kTanhDerivative,  // . * (1 - factor^2): `factor` is the layer's activation
  kScale,           // . * factor
};

template <class T>
struct Affine {
  const T* weight = nullptr;
  std::size_t weight_row_stride = 0;
  std::size_t weight_column_stride = 1;
  const T* bias = nullptr;  // null: zero
  Panel<const T> in;        // in.rows: number of terms
  Panel<T> out;             // out.rows: number of results
  std::size_t batch = 0;
  Finish finish = Finish::kNone;
  Panel<const T> factor;  // shaped like `out`, for the finishes that need it
  bool add = false;       // to what `out` holds, instead of to the bias
};

template <class T>
struct WeightGradient {
  Panel<const T> left;   // gradient with respect to the layer's result; padding columns zero
  Panel<const T> right;  // the layer's input
  std::size_t batch = 0;
  T* gradient = nullptr;  // left.rows x right.rows, dense
  T* bias_gradient = nullptr;
};

void affine(const Affine<float>& product);
void affine(const Affine<double>& product);
void weight_gradient(const WeightGradient<float>& product);
void weight_gradient(const WeightGradient<double>& product);

}  // namespace dissent
