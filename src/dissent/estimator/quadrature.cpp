// quadrature: the mutual information of a mixture with one output by numerical integration, to 1e-10 or better. The
// truth that everything else is tested against.
//
// With the posterior q_j = w_j p_j / p over components at an output y, both integrands are >= 0 term by term, so
// nothing cancels near either end:
//   I        = integral p KL(q || w) dy = integral p sum_j (w_j - q_j + q_j ln(q_j / w_j)) dy
//   H(w) - I = integral p H(q) dy
// The line is cut where components begin, end and cross. Outputs are held as a sum of two doubles, so that components
// far from the origin (or from each other) keep their digits. Pieces are integrated by Gauss-Kronrod on the integrand
// scaled by its maximum and halved until their error is nothing beside the whole; so the deficit has its relative
// accuracy at any separation, up to rounding of the log densities (1e-16 times their size).

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <compare>
#include <limits>
#include <utility>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/special.hpp"
#include "dissent/estimator/methods.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A place on the line, high + low: their sum is exact, so that a small step from a large mean is not lost.
struct Point {
  double high;
  double low;

  static Point sum(double a, double b) {
    const double high = a + b;
    const double b_part = high - a;
    return {high, (a - (high - b_part)) + (b - b_part)};
  }
  double minus(double y) const { return (high - y) + low; }
  double minus(const Point& other) const { return (high - other.high) + (low - other.low); }
  auto operator<=>(const Point&) const = default;
};

struct Component {
  double log_weight;
  double mean;
  double stddev;
  double log_peak;  // log density at the mean
  double weight;
  // Against the first component: ln(s_0 / s), s_0 - s and m_0 - m, which are small where the components nearly agree.
  double log_scale_gap;
  double scale_gap;
  double mean_gap;
};

// Number of standard deviations from the mean at `from` + step.
double z_score(const Component& c, const Point& from, double step) { return (from.minus(c.mean) + step) / c.stddev; }

// An integrand as exp(log_scale) * value, value of order one or less.
struct Scaled {
  double log_scale;
  double value;
};

constexpr Scaled kNothing{-kInfinity, 0};

// ln p_j - ln p_0, with its relative accuracy where it is small:
// (z_0^2 - z_j^2) / 2 + ln(s_0 / s_j), z_0 - z_j = (z_j (s_j - s_0) + (m_j - m_0)) / s_0.
double log_ratio_to_first(const Component& first, const Component& c, double z_first, double z) {
  const double gap = -(z * c.scale_gap + c.mean_gap) / first.stddev;
  return 0.5 * gap * (z_first + z) + c.log_scale_gap;
}

// p KL(q || w). `logs` is memory for as many numbers as there are components.
Scaled information(const std::vector<Component>& components, const Point& from, double step,
                   std::vector<double>& logs) {
  const Component& first = components.front();
  const double z_first = z_score(first, from, step);
  bool near = true;
  for (std::size_t j = 0; j < components.size(); ++j) {
    logs[j] = log_ratio_to_first(first, components[j], z_first, z_score(components[j], from, step));
    near = near && std::abs(logs[j]) < 0.5;
  }
  if (near) {
    // With p_j = p_0 (1 + e_j): w_j p_j f(x_j), x_j = p / p_j - 1 = (e - e_j) / (1 + e_j), e the mean of the e_j.
    double mean = 0;
    for (std::size_t j = 0; j < components.size(); ++j) {
      logs[j] = std::expm1(logs[j]);
      mean += components[j].weight * logs[j];
    }
    double sum = 0;
    for (std::size_t j = 0; j < components.size(); ++j) {
      sum += components[j].weight * (1 + logs[j]) * x_minus_log1p((mean - logs[j]) / (1 + logs[j]));
    }
    return {first.log_peak - 0.5 * z_first * z_first, sum};
  }
  double high = -kInfinity;
  for (std::size_t j = 0; j < components.size(); ++j) {
    const double z = z_score(components[j], from, step);
    logs[j] = components[j].log_peak - 0.5 * z * z;
    high = std::max(high, logs[j] + components[j].log_weight);
  }
  if (high == -kInfinity) {
    return kNothing;
  }
  double density = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    density += std::exp(logs[j] + components[j].log_weight - high);
  }
  const double log_density = high + std::log(density);
  double sum = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    const double log_ratio = logs[j] - log_density;  // ln(q_j / w_j)
    const double posterior = std::exp(components[j].log_weight + log_ratio);
    if (std::abs(log_ratio) < 0.3) {
      sum += posterior * x_minus_log1p(std::expm1(-log_ratio));  // the same, without cancellation
    } else {
      sum += components[j].weight - (posterior > 0 ? posterior * (1 - log_ratio) : 0);
    }
  }
  return {log_density, sum};
}

// p H(q) = sum_j w_j p_j ln(p / (w_j p_j)). All terms but the largest component's are of the size of the second
// largest; its own is log1p of their sum, hence of that size too: scale by that.
Scaled deficit(const std::vector<Component>& components, const Point& from, double step, std::vector<double>& logs) {
  double first = -kInfinity;
  double second = -kInfinity;
  std::size_t largest = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    const double z = z_score(components[j], from, step);
    logs[j] = components[j].log_weight + components[j].log_peak - 0.5 * z * z;
    second = logs[j] > first ? first : std::max(second, logs[j]);
    largest = logs[j] > first ? j : largest;
    first = std::max(first, logs[j]);
  }
  if (second == -kInfinity) {
    return kNothing;
  }
  double others = 0;    // of the others' w_j p_j, in units of the second largest
  double distance = 0;  // sum of w_j p_j ln(largest / w_j p_j) over the others
  for (std::size_t j = 0; j < components.size(); ++j) {
    const double part = j == largest ? 0 : std::exp(logs[j] - second);
    others += part;
    distance += part > 0 ? part * (first - logs[j]) : 0;
  }
  const double ratio = others * std::exp(second - first);  // others / largest
  const double log_total = std::log1p(ratio);              // ln(p / largest)
  return {second, distance + others * log_total + others * (ratio > 0 ? log_total / ratio : 1)};
}

// Where the integrands bend: within each component, and around the points where two of them are equal.
std::vector<Point> breakpoints(const std::vector<Component>& components) {
  std::vector<Point> points;
  for (const Component& c : components) {
    points.push_back({c.mean, 0});
    for (const double t : {0.5, 1., 1.5, 2., 3., 4., 5.5, 7., 9., 12., 16., 21., 28., 38.}) {
      points.push_back(Point::sum(c.mean, -t * c.stddev));
      points.push_back(Point::sum(c.mean, t * c.stddev));
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
        // Near the crossing the integrand falls off like exp(-slope |y - y*|) on the steeper side.
        const double scale = narrow.stddev / std::max(1.0, std::abs(z));
        points.push_back(Point::sum(narrow.mean, z * narrow.stddev));
        for (const double t : {0.5, 1., 2., 4., 8., 16., 40., 100.}) {
          points.push_back(Point::sum(narrow.mean, z * narrow.stddev - t * scale));
          points.push_back(Point::sum(narrow.mean, z * narrow.stddev + t * scale));
        }
      }
    }
  }
  std::erase_if(points, [](const Point& y) { return !std::isfinite(y.high) || !std::isfinite(y.low); });
  std::ranges::sort(points, [](const Point& a, const Point& b) { return a < b; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

using Rule = boost::math::quadrature::gauss_kronrod<double, 15>;
constexpr int kMaxHalvings = 12;

// The steps [begin, end] from a point, over which `scaled` is integrated until the error is below `tolerance`.
template <class Integrand>
double integrate_piece(const Integrand& scaled, double begin, double end, double tolerance, int halvings) {
  const double middle = 0.5 * (begin + end);
  const double half = 0.5 * (end - begin);
  // Over [-1, 1], since the error that Boost gives is not one of the integral for other lengths.
  double error = 0;
  const double value =
      half * Rule::integrate([&](double x) { return scaled(middle + half * x); }, -1.0, 1.0, 0, 0, &error);
  if (half * error <= tolerance || halvings == 0 || middle <= begin || middle >= end) {
    return value;
  }
  return integrate_piece(scaled, begin, middle, tolerance, halvings - 1) +
         integrate_piece(scaled, middle, end, tolerance, halvings - 1);
}

// ln of the integral over the line; integrand(from, step) -> Scaled.
template <class Integrand>
double log_integral(const Integrand& integrand, const std::vector<Point>& points) {
  struct Piece {
    Point from;
    double length;
    double log_size;  // of the integral: length times the largest value seen
  };
  const auto log_at = [&](const Point& from, double step) {
    const Scaled s = integrand(from, step);
    return s.log_scale + std::log(s.value);
  };
  std::vector<Piece> pieces;
  double scale = -kInfinity;
  double log_whole = -kInfinity;
  double log_end = log_at(points.front(), 0);
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const double length = points[k + 1].minus(points[k]);
    const double log_begin = std::exchange(log_end, log_at(points[k + 1], 0));
    const double high = std::max({log_begin, log_end, log_at(points[k], 0.5 * length)});
    scale = std::max(scale, high);
    pieces.push_back({points[k], length, high + std::log(length)});
    log_whole = std::max(log_whole, pieces.back().log_size);
  }
  if (scale == -kInfinity) {
    return scale;
  }
  // Rounding of the log densities is noise that no halving removes. Pieces that together cannot reach it are left out.
  const double relative = std::max(1e-14, 1e-15 * std::abs(scale));
  std::erase_if(pieces, [&](const Piece& piece) { return piece.log_size < log_whole - 46; });  // 1e-20
  const auto over = [&](const Piece& piece, double tolerance, int halvings) {
    const auto scaled = [&](double step) {
      const Scaled s = integrand(piece.from, step);
      return s.value == 0 ? 0 : s.value * std::exp(s.log_scale - scale);
    };
    return integrate_piece(scaled, 0, piece.length, tolerance, halvings);
  };
  double rough = 0;
  for (const Piece& piece : pieces) {
    rough += over(piece, 0, 0);
  }
  double sum = 0;
  for (const Piece& piece : pieces) {
    sum += over(piece, relative * rough, kMaxHalvings);
  }
  return scale + std::log(sum);
}

struct Scratch {
  InputComponents input;
  std::vector<Component> components;
  std::vector<double> logs;
};

// Components of positive weight with what the integrands need, relative to the first of them. Whether all are equal.
bool fill_components(const InputComponents& input, const Weights& weights, std::vector<Component>& components) {
  components.clear();
  bool all_equal = true;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    if (weights.value[m] == 0) {
      continue;
    }
    const double mean = input.diagonal() ? input.diagonal_component(m).mean[0] : input.full_component(m).mean[0];
    const double stddev =
        input.diagonal() ? input.diagonal_component(m).stddev[0] : input.full_component(m).factor(0, 0);
    Component c{weights.log[m], mean, stddev, -0.5 * kLogTwoPi - std::log(stddev), weights.value[m], 0, 0, 0};
    const Component& first = components.empty() ? c : components.front();
    c.scale_gap = first.stddev - stddev;
    c.mean_gap = first.mean - mean;
    const double relative_gap = c.scale_gap / stddev;
    c.log_scale_gap = std::abs(relative_gap) < 0.5 ? std::log1p(relative_gap) : c.log_peak - first.log_peak;
    all_equal = all_equal && c.mean_gap == 0 && c.scale_gap == 0;
    components.push_back(c);
  }
  return all_equal;
}

struct Integral {
  double epistemic;
  double log_deficit;
};

Integral integrate(const Weights& weights, const std::vector<Component>& components, std::vector<double>& logs) {
  const std::vector<Point> points = breakpoints(components);
  const double log_deficit =
      log_integral([&](const Point& from, double step) { return deficit(components, from, step, logs); }, points);
  const double gap = std::exp(log_deficit);
  // Of the two positive integrals take the one whose value is small.
  const double epistemic =
      gap < 0.5 * weights.entropy
          ? weights.entropy - gap
          : std::exp(log_integral(
                [&](const Point& from, double step) { return information(components, from, step, logs); }, points));
  return {epistemic, log_deficit};
}

}  // namespace

template <class T>
Uncertainty quadrature(const MixtureView<T>& mixture, const EstimateOptions& options) {
  const Weights& weights = *mixture.weights;
  Uncertainty result = Uncertainty::of(mixture.num_inputs);
  for_blocks(
      options.executor, mixture.num_inputs, 1, [] { return Scratch(); },
      [&](std::size_t n, std::size_t, Scratch& scratch) {
        scratch.input.load(mixture, n, options.first_input + n);
        const bool all_equal = fill_components(scratch.input, weights, scratch.components);
        for (std::size_t m = 0; m < weights.size(); ++m) {
          if (weights.value[m] > 0) {
            result.aleatoric[n] += weights.value[m] * scratch.input.visit(m, [](const auto& g) { return entropy(g); });
          }
        }
        if (all_equal) {
          result.log_deficit[n] = scratch.components.size() == 1 ? -kInfinity : std::log(weights.entropy);
        } else {
          scratch.logs.resize(scratch.components.size());
          const Integral integral = integrate(weights, scratch.components, scratch.logs);
          result.epistemic[n] = integral.epistemic;
          result.log_deficit[n] = integral.log_deficit;
        }
        result.total[n] = result.aleatoric[n] + result.epistemic[n];
      });
  return result;
}

template Uncertainty quadrature(const MixtureView<float>&, const EstimateOptions&);
template Uncertainty quadrature(const MixtureView<double>&, const EstimateOptions&);

}  // namespace dissent
