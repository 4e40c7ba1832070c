// How alike two rankings of the same things are.
#pragma once

#include <span>

namespace dissent {

// Spearman's rank correlation: that of the ranks, where ties share their mean rank. 1: the same order, -1: the opposite
// one. Infinite values have ranks as any other; NaN where all values of one side are equal. InputError for samples of
// different size, of fewer than two values, and for NaN.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace dissent
