// quadrature: the mutual information of a mixture with one output by numerical integration, to 1e-10 or better. The
// truth that everything else is tested against.
//
// With the posterior q_j = w_j p_j / p over components at an output y, both integrands are >= 0 term by term, so
// nothing cancels near either end:
//   I        = integral p KL(q || w) dy = integral p sum_j (w_j - q_j + q_j ln(q_j / w_j)) dy
//   H(w) - I = integral p H(q) dy
// The line is cut where components begin, end and cross. Outputs and their log densities are held as sums of two
// doubles, so that components far from the origin (or from each other) keep their digits. Pieces are integrated by
// Gauss-Kronrod on the integrand scaled by its maximum, and halved until their error is negligible beside the whole. So
// the deficit keeps its relative accuracy at any separation, and its logarithm is right to the last digits.

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/special.hpp"
#include "dissent/estimator/methods.hpp"
#include "dissent/estimator/quadrature_integrand.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

using quadrature_parts::breakpoints;
using quadrature_parts::Component;
using quadrature_parts::deficit;
using quadrature_parts::information;
using quadrature_parts::Point;
using quadrature_parts::Scaled;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Rule = boost::math::quadrature::gauss_kronrod<double, 15>;
constexpr int kMaxHalvings = 12;

// Integrates `scaled` over the steps [begin, end] from a point until the error is below `tolerance`.
template <class Integrand>
double integrate_piece(const Integrand& scaled, double begin, double end, double tolerance, int halvings) {
  const double middle = 0.5 * (begin + end);
  const double half = 0.5 * (end - begin);
  // Over [-1, 1], since for other lengths the error that Boost gives is not that of the integral.
  double error = 0;
  const double value =
      half * Rule::integrate([&](double x) { return scaled(middle + half * x); }, -1.0, 1.0, 0, 0, &error);
  if (half * error <= tolerance || halvings == 0 || middle <= begin || middle >= end) {
    return value;
  }
  return integrate_piece(scaled, begin, middle, tolerance, halvings - 1) +
         integrate_piece(scaled, middle, end, tolerance, halvings - 1);
}

// Beyond this, the rounding of log densities is noise even in two doubles, and a double can only give their size.
constexpr double kLargestLog = 1e24;

// ln of the integral over the line; integrand(from, step) -> Scaled.
template <class Integrand>
double log_integral(const Integrand& integrand, const std::vector<Point>& points) {
  struct Piece {
    Point from;
    double length;
    DoubleDouble log_high;  // the largest value seen
    double log_size = 0;    // of the integral: length times that, relative to the scale
  };
  const auto log_at = [&](const Point& from, double step) {
    const Scaled s = integrand(from, step);
    return s.value > 0 ? s.log_scale.plus(std::log(s.value)) : DoubleDouble::minus_infinity();
  };
  std::vector<Piece> pieces;
  DoubleDouble scale = DoubleDouble::minus_infinity();
  DoubleDouble log_end = log_at(points.front(), 0);
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const double length = points[k + 1].minus(points[k]);
    const DoubleDouble log_begin = std::exchange(log_end, log_at(points[k + 1], 0));
    const DoubleDouble high = std::max({log_begin, log_end, log_at(points[k], 0.5 * length)});
    scale = std::max(scale, high);
    pieces.push_back({points[k], length, high});
  }
  if (!(std::abs(scale.high) < kLargestLog)) {
    return scale.high;
  }
  double log_whole = -kInfinity;
  for (Piece& piece : pieces) {
    piece.log_size = piece.log_high.minus(scale) + std::log(piece.length);
    log_whole = std::max(log_whole, piece.log_size);
  }
  // Rounding of the log densities is noise that no halving removes. Pieces that together cannot reach it are left out.
  const double relative = std::max(1e-14, 1e-30 * std::abs(scale.high));
  std::erase_if(pieces, [&](const Piece& piece) { return !(piece.log_size >= log_whole - 46); });  // 1e-20
  const auto over = [&](const Piece& piece, double tolerance, int halvings) {
    const auto scaled = [&](double step) {
      const Scaled s = integrand(piece.from, step);
      return s.value == 0 ? 0 : s.value * std::exp(s.log_scale.minus(scale));
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
  // With lengths next to the smallest double, products vanish; then the largest piece stands for all.
  return scale.plus(sum > 0 ? std::log(sum) : log_whole).high;
}

struct Scratch {
  InputComponents input;
  std::vector<Component> components;
  std::vector<DoubleDouble> logs;
};

// Components of positive weight with what the integrands need, relative to the first. Returns whether all are equal.
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

Integral integrate(const Weights& weights, const std::vector<Component>& components, std::vector<DoubleDouble>& logs) {
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
