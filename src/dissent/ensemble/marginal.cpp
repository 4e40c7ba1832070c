#include "dissent/ensemble/marginal.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "dissent/ensemble/root_of_squares.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
double normal_pdf(double z) { return std::exp(-0.5 * (z * z + kLogTwoPi)); }

constexpr double kLargestExponent = 700;  // exp() of more is infinite, or nearly so

double interpolate(const std::vector<double>& from, const std::vector<double>& to, double at) {
  const auto upper = std::ranges::upper_bound(from, at);
  if (upper == from.begin() || upper == from.end()) {
    return upper == from.begin() ? to.front() : to.back();
  }
  const auto k = static_cast<std::size_t>(upper - from.begin());
  return to[k - 1] + (to[k] - to[k - 1]) * (at - from[k - 1]) / (from[k] - from[k - 1]);
}

// Newton steps, or half the bracket if a step leads out of it.
double near_quantile(const GaussianMarginal& marginal, double probability, double low, double high) {
  constexpr int kSteps = 20;
  const double near = 1e-8 * (high - low);  // the next step would be its square
  double y = std::clamp(
      marginal.average() + -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability) * marginal.deviation(), low,
      high);
  for (int step = 0; step < kSteps; ++step) {
    const double excess = marginal.cdf(y) - probability;
    (excess < 0 ? low : high) = y;
    double next = y - excess / marginal.pdf(y);
    if (!(next > low && next < high)) {
      next = low + (high - low) / 2;
    }
    const bool close = std::abs(next - y) < near;
    y = next;
    if (close) {
      break;
    }
  }
  return y;
}

}  // namespace

double log_normal_mean(double mean, double stddev) {
  return std::exp(std::min(mean + 0.5 * stddev * stddev, kLargestExponent));
}

double GaussianMarginal::stddev_about(double centre) const {
  const auto sum = [&](double scale) {
    double variance = 0;
    for (std::size_t m = 0; m < mean.size(); ++m) {
      const double own = stddev[m] / scale;
      const double shift = (mean[m] - centre) / scale;
      variance += weights.value[m] * (own * own + shift * shift);
    }
    return variance;
  };
  return root_of_squares(sum, [&] {
    double largest = largest_magnitude(stddev);
    for (const double value : mean) {
      largest = std::max(largest, std::abs(value - centre));
    }
    return largest;
  });
}

double GaussianMarginal::average() const {
  return std::inner_product(mean.begin(), mean.end(), weights.value.begin(), 0.0);
}

double GaussianMarginal::deviation() const { return stddev_about(average()); }

double GaussianMarginal::pdf(double y) const {
  double sum = 0;
  for (std::size_t m = 0; m < mean.size(); ++m) {
    sum += weights.value[m] * normal_pdf((y - mean[m]) / stddev[m]) / stddev[m];
  }
  return sum;
}

double GaussianMarginal::cdf(double y) const {
  double sum = 0;
  for (std::size_t m = 0; m < mean.size(); ++m) {
    sum += weights.value[m] * normal_cdf((y - mean[m]) / stddev[m]);
  }
  return std::clamp(sum, 0.0, 1.0);
}

// By bisection, between bounds that enclose the mass of every component. Two points close around the quantile answer
// most of its comparisons: they cost a few Newton steps, and leave the result the same to the last bit.
double GaussianMarginal::quantile(double probability) const {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t m = 0; m < mean.size(); ++m) {
    low = std::min(low, mean[m] - 9 * stddev[m]);
    high = std::max(high, mean[m] + 9 * stddev[m]);
  }
  const double near = near_quantile(*this, probability, low, high);
  // Farther apart than rounding of the distribution function may hide.
  const double apart = std::max(1e-13 * (high - low), 1e-15 / pdf(near));
  const double below = cdf(near - apart) < probability ? near - apart : low;
  const double above = cdf(near + apart) >= probability ? near + apart : high;
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) {
      break;
    }
    const bool is_below = middle <= below || (middle < above && cdf(middle) < probability);
    (is_below ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

// Grimit et al. 2006: sum_i w_i A(y - mean_i, stddev_i) - 1/2 sum_ij w_i w_j A(mean_i - mean_j, joint stddev), where
// A(m, s) = 2 s pdf(m / s) + m (2 cdf(m / s) - 1) is the expected absolute value of a Gaussian.
double GaussianMarginal::crps(double y) const {
  const auto absolute = [](double m, double s) {
    return 2 * s * normal_pdf(m / s) + m * std::erf(m / (s * std::numbers::sqrt2));
  };
  double sum = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    sum += weights.value[i] * absolute(y - mean[i], stddev[i]);
    for (std::size_t j = 0; j < mean.size(); ++j) {
      sum -= 0.5 * weights.value[i] * weights.value[j] * absolute(mean[i] - mean[j], std::hypot(stddev[i], stddev[j]));
    }
  }
  return sum;
}

// A component has mean a = exp(mu + s^2 / 2) and variance a^2 (exp(s^2) - 1).
double LogMarginal::average() const {
  double sum = 0;
  for (std::size_t m = 0; m < logarithm.mean.size(); ++m) {
    sum += logarithm.weights.value[m] * log_normal_mean(logarithm.mean[m], logarithm.stddev[m]);
  }
  return sum;
}

double LogMarginal::deviation() const {
  const double centre = average();
  double root = 0;  // of the variance, with hypot(), which copes with any size
  for (std::size_t m = 0; m < logarithm.mean.size(); ++m) {
    const double own = log_normal_mean(logarithm.mean[m], logarithm.stddev[m]);
    const double spread =
        own * std::sqrt(std::expm1(std::min(logarithm.stddev[m] * logarithm.stddev[m], kLargestExponent)));
    root = std::hypot(root, std::sqrt(logarithm.weights.value[m]) * std::hypot(own - centre, spread));
  }
  return std::min(root, std::numeric_limits<double>::max());
}

double LogMarginal::cdf(double y) const { return y > 0 ? logarithm.cdf(std::log(y)) : 0; }

double LogMarginal::quantile(double probability) const {
  return std::exp(std::min(logarithm.quantile(probability), kLargestExponent));
}

// E|Y - y| - E|Y - Y'| / 2. For a component of mean a, E|Y - y| = y (2 F(y) - 1) + a (1 - 2 F(y; mu + s^2)); for two of
// them E|Y - Y'| = sum of a (2 cdf((mu - mu' + s^2) / joint stddev) - 1) over both.
double LogMarginal::crps(double y) const {
  const auto& [weights, mean, stddev] = logarithm;
  const double log_y = std::log(std::max(y, std::numeric_limits<double>::min()));
  double sum = std::max(0.0, -y);  // a value below 0 is farther from everything by that much
  y = std::max(y, 0.0);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double variance = stddev[i] * stddev[i];
    const double own = log_normal_mean(mean[i], stddev[i]);
    const double below = normal_cdf((log_y - mean[i]) / stddev[i]);
    const double mass_below = normal_cdf((log_y - mean[i] - variance) / stddev[i]);
    sum += weights.value[i] * (y * (2 * below - 1) + own * (1 - 2 * mass_below));
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const double joint = std::hypot(stddev[i], stddev[j]);
      sum -= weights.value[i] * weights.value[j] * own * (2 * normal_cdf((mean[i] - mean[j] + variance) / joint) - 1);
    }
  }
  return sum;
}

void PointMarginal::assign(std::span<const double> values, std::span<const double> weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return values[k]; });
  value_.clear();
  weight_.clear();
  centre_.clear();
  double below = 0;
  for (const std::size_t k : order) {
    value_.push_back(values[k]);
    weight_.push_back(weights[k]);
    centre_.push_back(below + weights[k] / 2);
    below += weights[k];
  }
}

double PointMarginal::mean() const { return std::inner_product(value_.begin(), value_.end(), weight_.begin(), 0.0); }

double PointMarginal::stddev() const {
  const double centre = mean();
  const auto sum = [&](double scale) {
    double variance = 0;
    for (std::size_t k = 0; k < value_.size(); ++k) {
      const double shift = (value_[k] - centre) / scale;
      variance += weight_[k] * shift * shift;
    }
    return variance;
  };
  return root_of_squares(sum, [&] { return std::max(value_.back() - centre, centre - value_.front()); });
}

double PointMarginal::quantile(double probability) const { return interpolate(centre_, value_, probability); }

double PointMarginal::cdf(double y) const {
  if (y < value_.front() || y > value_.back()) {
    return y < value_.front() ? 0 : 1;
  }
  return interpolate(value_, centre_, y);
}

// E|Y - y| - E|Y - Y'| / 2, the second term from the sorted order: sum_k w_k v_k (2 centre_k - 1).
double PointMarginal::crps(double y) const {
  double sum = 0;
  for (std::size_t k = 0; k < value_.size(); ++k) {
    sum += weight_[k] * (std::abs(value_[k] - y) - value_[k] * (2 * centre_[k] - 1));
  }
  return sum;
}

}  // namespace dissent
