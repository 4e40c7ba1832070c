#include "dissent/estimator/quadrature_integrand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/base/special.hpp"

namespace dissent::quadrature_parts {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Scaled kNothing{{-kInfinity, 0}, 0};

// Number of standard deviations from the mean at `from` + step.
double z_score(const Component& c, const Point& from, double step) { return (from.minus(c.mean) + step) / c.stddev; }

// ln p_j - ln p_0, with relative accuracy where it is small:
// (z_0^2 - z_j^2) / 2 + ln(s_0 / s_j), z_0 - z_j = (z_j (s_j - s_0) + (m_j - m_0)) / s_0.
double log_ratio_to_first(const Component& first, const Component& c, double z_first, double z) {
  const double gap = -(z * c.scale_gap + c.mean_gap) / first.stddev;
  return 0.5 * gap * (z_first + z) + c.log_scale_gap;
}

}  // namespace

DoubleDouble log_weighted_density(const Component& c, const Point& from, double step) {
  const DoubleDouble square = from.plus(-c.mean).plus(step).over(c.stddev).squared();
  if (!std::isfinite(square.high) || !std::isfinite(square.low)) {
    return DoubleDouble::minus_infinity();
  }
  return DoubleDouble{-0.5 * square.high, -0.5 * square.low}.plus(c.log_weight + c.log_peak);
}

// In plain doubles: it is needed where components overlap.
Scaled information(const std::vector<Component>& components, const Point& from, double step,
                   std::vector<DoubleDouble>& logs) {
  const Component& first = components.front();
  const double z_first = z_score(first, from, step);
  bool near = true;
  for (std::size_t j = 0; j < components.size(); ++j) {
    logs[j].high = log_ratio_to_first(first, components[j], z_first, z_score(components[j], from, step));
    near = near && std::abs(logs[j].high) < 0.5;
  }
  if (near) {
    // With p_j = p_0 (1 + e_j): w_j p_j f(x_j), x_j = p / p_j - 1 = (e - e_j) / (1 + e_j), e the mean of the e_j.
    double mean = 0;
    for (std::size_t j = 0; j < components.size(); ++j) {
      logs[j].high = std::expm1(logs[j].high);
      mean += components[j].weight * logs[j].high;
    }
    double sum = 0;
    for (std::size_t j = 0; j < components.size(); ++j) {
      sum += components[j].weight * (1 + logs[j].high) * x_minus_log1p((mean - logs[j].high) / (1 + logs[j].high));
    }
    return {{first.log_peak - 0.5 * z_first * z_first, 0}, sum};
  }
  double high = -kInfinity;
  for (std::size_t j = 0; j < components.size(); ++j) {
    const double z = z_score(components[j], from, step);
    logs[j].high = components[j].log_peak - 0.5 * z * z;
    high = std::max(high, logs[j].high + components[j].log_weight);
  }
  if (high == -kInfinity) {
    return kNothing;
  }
  double density = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    density += std::exp(logs[j].high + components[j].log_weight - high);
  }
  const double log_density = high + std::log(density);
  double sum = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    const double log_ratio = logs[j].high - log_density;  // ln(q_j / w_j)
    const double posterior = std::exp(components[j].log_weight + log_ratio);
    if (std::abs(log_ratio) < 0.3) {
      sum += posterior * x_minus_log1p(std::expm1(-log_ratio));  // the same, without cancellation
    } else {
      sum += components[j].weight - (posterior > 0 ? posterior * (1 - log_ratio) : 0);
    }
  }
  return {{log_density, 0}, sum};
}

// sum_j w_j p_j ln(p / (w_j p_j)). All terms except the largest component's are of the size of the second largest; its
// own is log1p of their sum, so it has that size too. Scale by that.
Scaled deficit(const std::vector<Component>& components, const Point& from, double step,
               std::vector<DoubleDouble>& logs) {
  DoubleDouble first = DoubleDouble::minus_infinity();
  DoubleDouble second = DoubleDouble::minus_infinity();
  std::size_t largest = 0;
  for (std::size_t j = 0; j < components.size(); ++j) {
    logs[j] = log_weighted_density(components[j], from, step);
    second = logs[j] > first ? first : std::max(second, logs[j]);
    largest = logs[j] > first ? j : largest;
    first = std::max(first, logs[j]);
  }
  if (second.high == -kInfinity) {
    return kNothing;
  }
  double others = 0;    // sum of the others' w_j p_j, in units of the second largest
  double distance = 0;  // sum of w_j p_j ln(largest / w_j p_j) over the others
  for (std::size_t j = 0; j < components.size(); ++j) {
    const double part = j == largest ? 0 : std::exp(logs[j].minus(second));
    others += part;
    distance += part > 0 ? part * first.minus(logs[j]) : 0;
  }
  const double ratio = others * std::exp(second.minus(first));  // others / largest
  const double log_total = std::log1p(ratio);                   // ln(p / largest)
  return {second, distance + others * log_total + others * (ratio > 0 ? log_total / ratio : 1)};
}

namespace {

void add_around(std::vector<Point>& points, const Point& centre, double scale) {
  for (const double t : {0.5, 1., 2., 4., 8., 16., 40., 100.}) {
    points.push_back(centre.plus(-t * scale));
    points.push_back(centre.plus(t * scale));
  }
}

// The length over which a component's logarithm falls by one, at a point far from its mean.
double fall_length(const Component& c, const Point& y) { return c.stddev / std::max(1.0, std::abs(z_score(c, y, 0))); }

// A root in doubles may be many fall lengths off where densities are far below 1e-16; Newton steps correct the rest.
Point refined_crossing(const Component& p, const Component& q, Point y) {
  constexpr double kGoodEnough = 1e-3;  // of a logarithm
  constexpr int kMostSteps = 4;
  for (int step = 0; step < kMostSteps; ++step) {
    const double gap = log_weighted_density(p, y, 0).minus(log_weighted_density(q, y, 0));
    const double slope = z_score(q, y, 0) / q.stddev - z_score(p, y, 0) / p.stddev;
    const double shift = -gap / slope;
    if (!(std::abs(gap) > kGoodEnough) || !std::isfinite(shift)) {
      break;
    }
    y = y.plus(shift);
  }
  return y;
}

void add_crossings(std::vector<Point>& points, const Component& p, const Component& q) {
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
    return;
  }
  const double half = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  for (const double z : {half / a, c / half}) {
    if (!std::isfinite(z)) {
      continue;
    }
    // On either side the integrand falls off as the smaller of the two does, each by its own slope.
    const Point crossing = refined_crossing(narrow, wide, Point::sum(narrow.mean, z * narrow.stddev));
    const double steep = fall_length(narrow, crossing);
    const double gentle = fall_length(wide, crossing);
    points.push_back(crossing);
    add_around(points, crossing, steep);
    if (gentle > 2 * steep || steep > 2 * gentle) {
      add_around(points, crossing, gentle);
    }
  }
}

}  // namespace

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
      add_crossings(points, components[i], components[j]);
    }
  }
  std::erase_if(points, [](const Point& y) { return !std::isfinite(y.high) || !std::isfinite(y.low); });
  std::ranges::sort(points, [](const Point& a, const Point& b) { return a < b; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace dissent::quadrature_parts
