// What the forms of score_forms.hpp share. A form has, for computations in type C:
//   Unit        what an output is measured in; made from the first component's standard deviation
//   Part        what a component and output contribute
//   Pair        a running pair, both directions: add() an output, fold() every kFold<C> of them, merge() lanes
//   factor()    what a component's LogProduct multiplies; its logarithm is the sum of ln stddev, except for Chernoff,
//               where stddev is measured in the unit
//   values()    the two divergences in double
//   least()     the smallest divergence for which sums in C are trusted
//   kFold<C>    how many outputs a pair takes between two folds, a multiple of LogProduct::kFold
//   kSingleFrom the fewest outputs of float32 mixtures for which floats are tried before doubles
#pragma once

#include "dissent/device/score_math.hpp"

namespace dissent::score {

inline constexpr int kSingleMostOutputs = 4096;  // beyond this, float sums gather too much rounding error

template <class Form, class T>
DISSENT_BOTH bool tries_single(int num_outputs) {
  return sizeof(T) == 4 && num_outputs >= Form::kSingleFrom && num_outputs <= kSingleMostOutputs;
}

struct Both {
  double there;  // D(i || j)
  double back;   // D(j || i)
};

// The smallest divergence for which float and double sums are trusted if terms cancel: see divergence/pairwise.cpp.
template <class C, class T>
DISSENT_BOTH double least_of_cancelling(double num_outputs) {
  return sizeof(C) == 4 ? 0.08 * sqrt(num_outputs) : sizeof(T) == 4 ? 1e-7 : 1e-4 * sqrt(num_outputs);
}

// The scales that LogProduct and the forms can handle: stddevs, and for forms with units their ratios to the first.
template <class C>
struct ScaleLimits {
  static constexpr C kStddev = sizeof(C) == 8 ? C(1e18) : C(1e9);
  static constexpr C kRatio = sizeof(C) == 8 ? C(1e18) : C(1e4);
};

}  // namespace dissent::score
