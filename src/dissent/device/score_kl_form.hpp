// Kullback-Leibler: see divergence/kl_kernel.cpp.
#pragma once

#include "dissent/device/score_form.hpp"
#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct KlForm {
  static constexpr int kSingleFrom = 32;
  static constexpr bool kSplitsMeans = true;  // see MixedKlForm
  static constexpr bool kUnits = false;
  template <class C>
  static constexpr int kFold = LogProduct<C>::kFold;

  template <class C>
  struct Unit {};
  template <class C>
  struct Part {
    C mean, variance, precision;
  };
  template <class C>
  struct Pair {
    C there = 0;
    C back = 0;

    DISSENT_BOTH void add(const Part<C>& i, const Part<C>& j, const Unit<C>&) {
      const C delta = i.mean - j.mean;
      const C gap = i.variance - j.variance;
      there = fma(fma(delta, delta, gap), j.precision, there);
      back = fma(fma(delta, delta, -gap), i.precision, back);
    }
    DISSENT_BOTH void fold() {}
    DISSENT_BOTH void merge(const Pair& other) {
      there += other.there;
      back += other.back;
    }
  };

  template <class C>
  DISSENT_BOTH Unit<C> unit(C) const {
    return {};
  }
  template <class C>
  DISSENT_BOTH Part<C> part(C mean, C stddev, const Unit<C>&) const {
    const C variance = stddev * stddev;
    return {mean, variance, reciprocal(variance)};
  }
  template <class C>
  DISSENT_BOTH C factor(C stddev, const Unit<C>&) const {
    return stddev;
  }
  template <class C>
  DISSENT_BOTH Both values(const Pair<C>& pair, const LogParts& i, const LogParts& j) const {
    const double log = fma(j.exponent - i.exponent, kLn2, j.mantissa - i.mantissa);
    return {fma(0.5, static_cast<double>(pair.there), log), fma(0.5, static_cast<double>(pair.back), -log)};
  }
  template <class C, class T>
  DISSENT_BOTH double least(double num_outputs) const {
    return least_of_cancelling<C, T>(num_outputs);
  }
};

// KL of float32 mixtures if floats are not trusted. The part of the means does not cancel and stays in float; the part
// of the scales is summed in double, to which fold() adds the means' part of a few outputs at a time.
struct MixedKlForm : KlForm {
  template <class C>
  struct Part {
    float mean, inverse;  // 1 / stddev
    C variance, precision;
  };
  template <class C>
  struct Pair {
    C there = 0;
    C back = 0;
    float mean_there = 0;
    float mean_back = 0;

    DISSENT_BOTH void add(const Part<C>& i, const Part<C>& j, const Unit<C>&) {
      const float delta = i.mean - j.mean;
      const float z_there = delta * j.inverse;
      const float z_back = delta * i.inverse;
      const C gap = i.variance - j.variance;
      mean_there = fma(z_there, z_there, mean_there);
      mean_back = fma(z_back, z_back, mean_back);
      there = fma(gap, j.precision, there);
      back = fma(-gap, i.precision, back);
    }
    DISSENT_BOTH void fold() {
      there += static_cast<C>(mean_there);
      back += static_cast<C>(mean_back);
      mean_there = mean_back = 0;
    }
    DISSENT_BOTH void merge(const Pair& other) {  // when folded
      there += other.there;
      back += other.back;
    }
  };

  template <class C>
  DISSENT_BOTH Part<C> part(C mean, C stddev, const Unit<C>&) const {
    const C variance = stddev * stddev;
    return {static_cast<float>(mean), reciprocal(static_cast<float>(stddev)), variance, reciprocal(variance)};
  }
  template <class C>
  DISSENT_BOTH Both values(const Pair<C>& pair, const LogParts& i, const LogParts& j) const {
    return KlForm::values(KlForm::Pair<C>{pair.there, pair.back}, i, j);
  }
};

}  // namespace dissent::score
