// One output's share of a divergence in double, right everywhere: divergence/closed_forms.cpp output by output. A form
// whose sums cannot be trusted falls back on it.
#pragma once

#include "dissent/device/score_forms.hpp"
#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct Normal {
  double mean, stddev;
};

DISSENT_BOTH double plain_term(const KlForm&, const Normal& p, const Normal& q) {
  const double e = (p.stddev - q.stddev) / q.stddev;
  const double z = (p.mean - q.mean) / q.stddev;
  const double f = fabs(e) < 0.25 ? x_minus_log1p(e) : e - (log(p.stddev) - log(q.stddev));
  return 0.5 * (z * z + e * e) + f;
}

// The part of chernoff:a that does not depend on the mean, for a <= 1/2: see closed_forms.cpp.
DISSENT_BOTH double scale_term(double a, double stddev_i, double stddev_j) {
  const double e = (stddev_j - stddev_i) / stddev_i;
  const double t = e * (2 + e);
  if (fabs(t) < 0.4) {
    return 0.5 * (a * x_minus_log1p(t) - x_minus_log1p(a * t));
  }
  const double ratio = stddev_j / stddev_i;
  const double log_ratio = ratio > 1e-300 && ratio < 1e300 ? log(ratio) : log(stddev_j) - log(stddev_i);
  const double log_mixed = log_ratio > 20 ? log_add_exp(0, log(a) + 2 * log_ratio) : log1p(a * t);
  return 0.5 * (log_mixed - a * 2 * log_ratio);
}

DISSENT_BOTH double plain_chernoff(double alpha, const Normal& p, const Normal& q) {
  // Of the mirror images C_a(i, j) = C_1-a(j, i), the one with the smaller a keeps its digits.
  const double scale = alpha <= 0.5 ? scale_term(alpha, p.stddev, q.stddev) : scale_term(1 - alpha, q.stddev, p.stddev);
  const double z = (p.mean - q.mean) / hypot(sqrt(alpha) * q.stddev, sqrt(1 - alpha) * p.stddev);
  return 0.5 * alpha * (1 - alpha) * z * z + scale;
}

DISSENT_BOTH double plain_term(const ChernoffForm& form, const Normal& p, const Normal& q) {
  return plain_chernoff(form.alpha, p, q);
}

DISSENT_BOTH double plain_term(const BhattacharyyaForm&, const Normal& p, const Normal& q) {
  return plain_chernoff(0.5, p, q);
}

DISSENT_BOTH double plain_term(const WassersteinForm&, const Normal& p, const Normal& q) {
  const double delta = p.mean - q.mean;
  const double gap = p.stddev - q.stddev;
  return delta * delta + gap * gap;
}

// Whether validate() would accept the values.
DISSENT_BOTH bool valid(const Normal& value) {
  return isfinite(value.mean) && isfinite(value.stddev) && value.stddev > 0;
}

}  // namespace dissent::score
