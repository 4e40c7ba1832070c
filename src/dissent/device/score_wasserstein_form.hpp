// The squared 2-Wasserstein distance.
#pragma once

#include "dissent/device/score_form.hpp"
#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct WassersteinForm {
  static constexpr int kSingleFrom = kSingleMostOutputs + 1;
  static constexpr bool kSplitsMeans = false;
  static constexpr bool kUnits = false;
  template <class C>
  static constexpr int kFold = LogProduct<C>::kFold;

  template <class C>
  struct Unit {};
  template <class C>
  struct Part {
    C mean, stddev, unused;
  };
  template <class C>
  struct Pair {
    C sum = 0;

    DISSENT_BOTH void add(const Part<C>& i, const Part<C>& j, const Unit<C>&) {
      const C delta = i.mean - j.mean;
      const C gap = i.stddev - j.stddev;
      sum = fma(delta, delta, fma(gap, gap, sum));
    }
    DISSENT_BOTH void fold() {}
    DISSENT_BOTH void merge(const Pair& other) { sum += other.sum; }
  };

  template <class C>
  DISSENT_BOTH Unit<C> unit(C) const {
    return {};
  }
  template <class C>
  DISSENT_BOTH Part<C> part(C mean, C stddev, const Unit<C>&) const {
    return {mean, stddev, C{0}};
  }
  template <class C>
  DISSENT_BOTH C factor(C stddev, const Unit<C>&) const {
    return stddev;
  }
  template <class C>
  DISSENT_BOTH Both values(const Pair<C>& pair, const LogParts&, const LogParts&) const {
    return {static_cast<double>(pair.sum), static_cast<double>(pair.sum)};
  }
  template <class C, class T>
  DISSENT_BOTH double least(double) const {
    return 0;
  }
};

}  // namespace dissent::score
