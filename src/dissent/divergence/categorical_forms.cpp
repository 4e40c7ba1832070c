#include "dissent/divergence/categorical_forms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"
#include "dissent/base/special.hpp"

namespace dissent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// (1 + a t) - (1 + t)^a, for t > -1 and a in (0, 1); near 0 as a series, since the leading terms cancel.
double power_gap(double alpha, double t) {
  if (std::abs(t) > 0.01) {
    return alpha * t - std::expm1(alpha * std::log1p(t));
  }
  // -sum_{k >= 2} binomial(a, k) t^k
  double term = alpha * t;
  double sum = 0;
  for (int k = 2; k <= 9; ++k) {
    term *= (alpha - k + 1) * t / k;
    sum -= term;
  }
  return sum;
}

// ln sum_k p_k^a q_k^(1-a), for a > 1.
double log_integral(double alpha, const Categorical& p, const Categorical& q) {
  double sum = -kInfinity;
  for (std::size_t k = 0; k < p.probability.size(); ++k) {
    if (p.probability[k] > 0) {
      sum = log_add_exp(sum, alpha * std::log(p.probability[k]) + (1 - alpha) * std::log(q.probability[k]));
    }
  }
  return sum;
}

}  // namespace

double kl(const Categorical& p, const Categorical& q) {
  double sum = 0;
  for (std::size_t k = 0; k < p.probability.size(); ++k) {
    const double own = p.probability[k];
    const double other = q.probability[k];
    if (own == 0) {
      sum += other;
    } else if (other == 0) {
      return kInfinity;
    } else {
      const double ratio = (other - own) / own;
      sum += std::isfinite(ratio) ? own * x_minus_log1p(ratio) : other;
    }
  }
  return sum;
}

double chernoff(double alpha, const Categorical& p, const Categorical& q) {
  if (alpha > 1) {
    return -log_integral(alpha, p, q);
  }
  // 1 - integral = sum_k a p + (1 - a) q - p^a q^(1-a), in which no term is negative. If the components hardly overlap,
  // the integral itself is the accurate one.
  double gap = 0;
  double integral = 0;
  for (std::size_t k = 0; k < p.probability.size(); ++k) {
    const double own = p.probability[k];
    const double other = q.probability[k];
    const double ratio = other > 0 ? (own - other) / other : kInfinity;
    const double product = own > 0 && other > 0 ? std::pow(own, alpha) * std::pow(other, 1 - alpha) : 0;
    integral += product;
    gap += std::abs(ratio) < 1 ? other * power_gap(alpha, ratio) : alpha * own + (1 - alpha) * other - product;
  }
  return std::max(0.0, gap < 0.5 ? -std::log1p(-gap) : -std::log(integral));
}

double wasserstein(const Categorical&, const Categorical&) {
  fail("wasserstein needs a distance between outputs, and classes have none; choose another divergence");
}

}  // namespace dissent
