// What `quadrature` integrates over the line, and where it must look closely.
#pragma once

#include <vector>

#include "dissent/estimator/double_double.hpp"

namespace dissent::quadrature_parts {

using Point = DoubleDouble;  // a place on the line, so that a small step from a large mean is not lost

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

// An integrand as exp(log_scale) * value, value of order one or less.
struct Scaled {
  DoubleDouble log_scale;
  double value;
};

// ln(w p) at `from` + step; -infinity if its square is beyond the largest double.
DoubleDouble log_weighted_density(const Component& c, const Point& from, double step);

// p KL(q || w) at `from` + step, with the posterior q. `logs` is memory for one number per component.
Scaled information(const std::vector<Component>& components, const Point& from, double step,
                   std::vector<DoubleDouble>& logs);
// p H(q), likewise.
Scaled deficit(const std::vector<Component>& components, const Point& from, double step,
               std::vector<DoubleDouble>& logs);

// Where the integrands bend, ascending: within each component, and around the points where two of them are equal.
std::vector<Point> breakpoints(const std::vector<Component>& components);

}  // namespace dissent::quadrature_parts
