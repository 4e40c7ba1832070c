// Which element-wise map a flow is built from (transform.hpp describes the kinds and computes them).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

enum class TransformKind { kCubic, kQuadratic, kRationalQuadratic, kAffine };

std::string_view transform_name(TransformKind kind);       // "cubic", "quadratic", "rational_quadratic", "affine"
TransformKind transform_from_name(std::string_view name);  // throws InputError for any other name
std::vector<std::string> transform_names();

struct Transform {
  static constexpr int kMinBins = 2;   // one bin with both end slopes free can have slope zero inside
  static constexpr int kMaxBins = 64;  // kernels keep the bins of a lane on the stack
  static constexpr double kMinTailBound = 1e-3;
  static constexpr double kMaxTailBound = 1e6;

  TransformKind kind = TransformKind::kCubic;
  int num_bins = 10;
  double tail_bound = 1.2;

  int num_params() const;  // raw parameters for each transformed value
  void check() const;      // throws InputError when num_bins or tail_bound is out of range
};

}  // namespace dissent
