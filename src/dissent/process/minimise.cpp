// L-BFGS: the two-loop recursion over the last steps, and a line search by bisection and doubling.
#include "dissent/process/minimise.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

namespace dissent {
namespace {

using Eigen::VectorXd;

struct Point {
  VectorXd at;
  VectorXd gradient;
  double value = 0;
};

struct Step {
  VectorXd change;  // of the point
  VectorXd gradient_change;
  double inner = 0;  // change . gradient_change > 0
};

VectorXd quasi_newton_direction(const std::deque<Step>& steps, const VectorXd& gradient) {
  VectorXd direction = -gradient;
  std::vector<double> weight(steps.size());
  for (std::size_t k = steps.size(); k-- > 0;) {
    weight[k] = steps[k].change.dot(direction) / steps[k].inner;
    direction -= weight[k] * steps[k].gradient_change;
  }
  if (!steps.empty()) {
    direction *= steps.back().inner / steps.back().gradient_change.squaredNorm();
  }
  for (std::size_t k = 0; k < steps.size(); ++k) {
    direction += (weight[k] - steps[k].gradient_change.dot(direction) / steps[k].inner) * steps[k].change;
  }
  return direction;
}

constexpr double kArmijo = 1e-4;
constexpr double kCurvature = 0.9;
constexpr int kTrials = 25;

// A point along `direction` that satisfies both conditions, or the best one seen; `from` when nothing is lower.
Point search_line(const Objective& objective, const Point& from, const VectorXd& direction, double length,
                  int& evaluations) {
  const double slope = from.gradient.dot(direction);
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  Point best = from;
  Point next;
  next.gradient.resize(from.at.size());
  for (int trial = 0; trial < kTrials; ++trial) {
    next.at = from.at + length * direction;
    next.value = objective(next.at, next.gradient);
    ++evaluations;
    if (next.value < best.value) {
      best = next;
    }
    if (!(next.value <= from.value + kArmijo * length * slope)) {
      high = length;
    } else if (next.gradient.dot(direction) < kCurvature * slope) {
      low = length;
    } else {
      return next;
    }
    length = std::isinf(high) ? 2 * low : 0.5 * (low + high);
  }
  return best;
}

}  // namespace

Minimum minimise(const Objective& objective, const VectorXd& start, const MinimiseOptions& options) {
  Point here{start, VectorXd(start.size()), 0};
  here.value = objective(here.at, here.gradient);
  int evaluations = 1;
  std::deque<Step> steps;
  int idle = 0;
  for (int k = 0; k < options.iterations && evaluations < options.evaluations && std::isfinite(here.value); ++k) {
    VectorXd direction = quasi_newton_direction(steps, here.gradient);
    if (!(direction.dot(here.gradient) < 0)) {
      steps.clear();
      direction = -here.gradient;
    }
    const double reach = direction.cwiseAbs().maxCoeff();
    if (!(reach > 0)) {
      break;
    }
    const double first = steps.empty() ? std::min(1.0, 0.5 / reach) : std::min(1.0, options.largest_step / reach);
    Point next = search_line(objective, here, direction, first, evaluations);
    const double gain = here.value - next.value;
    Step step{next.at - here.at, next.gradient - here.gradient, 0};
    step.inner = step.change.dot(step.gradient_change);
    if (step.inner > 1e-12 * step.gradient_change.squaredNorm()) {
      steps.push_back(std::move(step));
      if (static_cast<int>(steps.size()) > options.memory) {
        steps.pop_front();
      }
    }
    here = std::move(next);
    idle = gain < options.tolerance ? idle + 1 : 0;
    if (idle == 2 || !(gain > 0)) {
      break;
    }
  }
  return {here.at, here.value, evaluations};
}

}  // namespace dissent
