// One dimension of a transform over a batch, in either precision, with storage and padding taken care of.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "dissent/flow/transform.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent::test {

template <class T>
struct TransformBatch {
  Transform transform;
  std::size_t batch;
  PanelBuffer<T> in, out, raw, grad_out, grad_in, grad_raw;
  AlignedVector<T> log_slope, grad_log_slope;

  TransformBatch(const Transform& t, std::size_t num_dims, std::size_t rows)
      : transform(t),
        batch(rows),
        in(num_dims, rows),
        out(num_dims, rows),
        raw(num_dims * t.num_params(), rows),
        grad_out(num_dims, rows),
        grad_in(num_dims, rows),
        grad_raw(num_dims * t.num_params(), rows),
        log_slope(panel_stride(rows)),
        grad_log_slope(panel_stride(rows)) {}

  void forward() { transform_forward(transform, call()); }
  void inverse() { transform_inverse(transform, call()); }
  void backward() {
    transform_backward(transform, {batch, in.panel(), raw.panel(), grad_out.panel(), grad_log_slope.data(),
                                   grad_raw.panel(), grad_in.panel()});
  }
  // Forward and backward at once: here `grad_out` is the curvature, around the given center.
  void step(const PanelBuffer<T>& center) {
    transform_step(transform, {call(), center.panel(), std::as_const(grad_out).panel(), grad_log_slope.data(),
                               grad_raw.panel(), grad_in.panel()});
  }
  // The inverse takes what the last forward (or inverse) gave.
  void feed_back() {
    std::swap(in, out);
    log_slope.assign(log_slope.size(), 0);
  }

 private:
  TransformCall<T> call() { return {batch, in.panel(), raw.panel(), out.panel(), log_slope.data()}; }
};

}  // namespace dissent::test
