#include "dissent/estimator/quadrature.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "dissent/base/special.hpp"
#include "dissent/estimator/for_blocks.hpp"
#include "dissent/estimator/pairwise.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Component {
  double weight;
  double log_weight;
  double mean;
  double stddev;
  double log_peak;  // log density at the mean

  double log_density(double y) const {
    const double z = (y - mean) / stddev;
    return log_peak - 0.5 * z * z;
  }
};

// An integrand as exp(log_scale) * value, value of order one or less.
struct Scaled {
  double log_scale;
  double value;
};

// Log densities at y into `logs`; returns the largest of log w_j + log p_j.
double log_densities(const std::vector<Component>& components, double y, std::vector<double>& logs) {
  double high = -kInfinity;
  for (std::size_t j = 0; j < components.size(); ++j) {
    logs[j] = components[j].log_density(y);
    high = std::max(high, logs[j] + components[j].log_weight);
  }
  return high;
}

// sum_j w_j p_j f(p / p_j - 1)
Scaled information(const std::vector<Component>& components, double y, std::vector<double>& logs) {
  const double high = log_densities(components, y, logs);
  double sum = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    double x = 0;  // p / p_j - 1
    double high_ratio = -kInfinity;
    for (std::size_t i = 0; i < components.size(); ++i) {
      high_ratio = std::max(high_ratio, logs[i] - logs[j]);
    }
    const double scale = std::exp(components[j].log_weight + logs[j] - high);  // w_j p_j / exp(high)
    if (high_ratio < 500) {
      for (std::size_t i = 0; i < components.size(); ++i) {
        x += components[i].weight * std::expm1(logs[i] - logs[j]);
      }
      sum += scale * x_minus_log1p(std::max(x, -1 + 1e-300));
    } else {
      // p_j is nothing beside p: w_j p_j f(p / p_j) = w_j p, less what underflows.
      for (const Component& c : components) {
        sum += components[j].weight * std::exp(c.log_weight + c.log_density(y) - high);
      }
    }
  }
  return {high, sum};
}

// sum_j w_j p_j log1p(sum_{i != j} w_i p_i / (w_j p_j))
Scaled deficit(const std::vector<Component>& components, double y, std::vector<double>& logs) {
  log_densities(components, y, logs);
  for (std::size_t j = 0; j < components.size(); ++j) {
    logs[j] += components[j].log_weight;
  }
  // Terms are as large as the second largest of w_j p_j (times a logarithm): scale by that.
  double first = -kInfinity;
  double second = -kInfinity;
  for (const double log : logs) {
    second = log > first ? first : std::max(second, log);
    first = std::max(first, log);
  }
  double sum = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    double others = 0;
    double high = -kInfinity;
    for (std::size_t i = 0; i < components.size(); ++i) {
      high = i == j ? high : std::max(high, logs[i]);
    }
    for (std::size_t i = 0; i < components.size(); ++i) {
      others += i == j ? 0 : std::exp(logs[i] - high);
    }
    // w_j p_j log1p(r), r = exp(high - logs[j]) others, relative to exp(second).
    const double log_ratio = high - logs[j] + std::log(others);
    if (log_ratio < -30) {
      sum += std::exp(log_ratio + logs[j] - second);
    } else {
      const double log1p_ratio = log_ratio > 30 ? log_ratio : std::log1p(std::exp(log_ratio));
      sum += std::exp(logs[j] - second) * log1p_ratio;
    }
  }
  return {second, sum};
}

// Where the integrands bend: within each component, and around the points where two of them are equal.
std::vector<double> breakpoints(const std::vector<Component>& components) {
  std::vector<double> points;
  for (const Component& c : components) {
    points.push_back(c.mean);
    for (const double t : {0.5, 1., 1.5, 2., 3., 4., 5.5, 7., 9., 12., 16., 21., 28., 38.}) {
      points.push_back(c.mean - t * c.stddev);
      points.push_back(c.mean + t * c.stddev);
    }
  }
  for (std::size_t i = 0; i < components.size(); ++i) {
    for (std::size_t j = i + 1; j < components.size(); ++j) {
      const Component& p = components[i];
      const Component& q = components[j];
      // log w_i p_i = log w_j p_j in z = (y - m) / s, units of the narrower component: a z^2 + b z + c = 0.
      const Component& narrow = p.stddev <= q.stddev ? p : q;
      const Component& wide = p.stddev <= q.stddev ? q : p;
      const double ratio = narrow.stddev / wide.stddev;
      const double shift = (narrow.mean - wide.mean) / wide.stddev;
      const double a = -0.5 * (1 - ratio) * (1 + ratio);
      const double b = shift * ratio;
      const double c = 0.5 * shift * shift + narrow.log_weight + narrow.log_peak - wide.log_weight - wide.log_peak;
      const double discriminant = b * b - 4 * a * c;
      if (discriminant < 0) {
        continue;
      }
      const double half = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
      for (const double z : {half / a, c / half}) {
        if (!std::isfinite(z)) {
          continue;
        }
        const double y = narrow.mean + z * narrow.stddev;
        // Near the crossing the integrand falls off like exp(-slope |y - y*|) on the steeper side.
        const double scale = narrow.stddev / std::max(1.0, std::abs(z));
        points.push_back(y);
        for (const double t : {0.5, 1., 2., 4., 8., 16., 40., 100.}) {
          points.push_back(y - t * scale);
          points.push_back(y + t * scale);
        }
      }
    }
  }
  std::erase_if(points, [](double y) { return !std::isfinite(y); });
  std::ranges::sort(points);
  const auto repeated = std::ranges::unique(points);
  points.erase(repeated.begin(), repeated.end());
  return points;
}

using Rule = boost::math::quadrature::gauss_kronrod<double, 31>;

// ln of the integral over the line.
template <class Integrand>
double log_integral(const Integrand& integrand, const std::vector<double>& points) {
  double scale = -kInfinity;
  const auto log_at = [&](double y) {
    const Scaled s = integrand(y);
    return s.log_scale + std::log(s.value);
  };
  for (std::size_t k = 0; k < points.size(); ++k) {
    scale = std::max(scale, log_at(points[k]));
    if (k + 1 < points.size()) {
      scale = std::max(scale, log_at(0.5 * (points[k] + points[k + 1])));
    }
  }
  if (scale == -kInfinity) {
    return scale;
  }
  const auto scaled = [&](double y) {
    const Scaled s = integrand(y);
    return s.value == 0 ? 0 : s.value * std::exp(s.log_scale - scale);
  };
  double sum = 0;
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    sum += Rule::integrate(scaled, points[k], points[k + 1], 12, 1e-13);
  }
  return scale + std::log(sum);
}

struct Scratch {
  InputComponents input;
  std::vector<Component> components;
  std::vector<double> logs;
};

}  // namespace

template <class T>
Uncertainty quadrature(const MixtureView<T>& mixture, const Weights& weights, const EstimateOptions& options) {
  check(mixture.num_outputs == 1, "quadrature: D = {}; it integrates over one output only, use 'mc:K' or 'bounds'",
        mixture.num_outputs);
  Uncertainty result;
  result.resize(mixture.num_inputs);
  for_input_blocks(
      mixture.num_inputs, 1, options, [] { return Scratch(); },
      [&](Scratch& scratch, std::size_t n, std::size_t) {
        scratch.input.load(mixture, n, options.first_input + n);
        scratch.components.clear();
        bool all_equal = true;
        double aleatoric = 0;
        for (std::size_t m = 0; m < weights.size(); ++m) {
          if (weights.value[m] == 0) {
            continue;
          }
          const double mean = mixture.diagonal() ? scratch.input.diagonal_component(m).mean[0]
                                                 : scratch.input.full_component(m).mean[0];
          const double stddev = mixture.diagonal() ? scratch.input.diagonal_component(m).stddev[0]
                                                   : scratch.input.full_component(m).factor(0, 0);
          scratch.components.push_back(
              {weights.value[m], weights.log[m], mean, stddev, -0.5 * kLogTwoPi - std::log(stddev)});
          const Component& first = scratch.components.front();
          all_equal = all_equal && first.mean == mean && first.stddev == stddev;
          aleatoric += weights.value[m] * scratch.input.visit(m, [](const auto& g) { return entropy(g); });
        }
        scratch.logs.resize(scratch.components.size());
        result.aleatoric[n] = aleatoric;
        if (all_equal) {
          result.epistemic[n] = 0;
          result.log_deficit[n] = scratch.components.size() == 1 ? -kInfinity : std::log(weights.entropy);
        } else {
          const std::vector<double> points = breakpoints(scratch.components);
          result.log_deficit[n] =
              log_integral([&](double y) { return deficit(scratch.components, y, scratch.logs); }, points);
          const double gap = std::exp(result.log_deficit[n]);
          // Of the two positive integrals take the one whose value is small.
          result.epistemic[n] =
              gap < 0.5 * weights.entropy
                  ? weights.entropy - gap
                  : std::exp(
                        log_integral([&](double y) { return information(scratch.components, y, scratch.logs); }, points));
        }
        result.total[n] = result.aleatoric[n] + result.epistemic[n];
      });
  return result;
}

template Uncertainty quadrature(const MixtureView<float>&, const Weights&, const EstimateOptions&);
template Uncertainty quadrature(const MixtureView<double>&, const Weights&, const EstimateOptions&);

}  // namespace dissent
