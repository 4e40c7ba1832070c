// The distribution of one output at one input, as summarise() needs it: in closed form, or as weighted points.
#pragma once

#include <span>
#include <vector>

#include "dissent/mixture/mixture.hpp"

namespace dissent {

// A mixture of Gaussians.
struct GaussianMarginal {
  const Weights& weights;
  std::vector<double> mean;
  std::vector<double> stddev;

  double stddev_about(double centre) const;  // that of the mixture, about `centre`
  double average() const;
  double deviation() const;
  double pdf(double y) const;
  double cdf(double y) const;
  double quantile(double probability) const;  // by bisection
  double crps(double y) const;
};

// The mean of exp(Z), Z normal; finite.
double log_normal_mean(double mean, double stddev);

// exp() of a mixture of Gaussians.
struct LogMarginal {
  const GaussianMarginal& logarithm;

  double average() const;
  double deviation() const;
  double cdf(double y) const;
  double quantile(double probability) const;
  double crps(double y) const;
};

class PointMarginal {
 public:
  // Weights sum to 1.
  void assign(std::span<const double> values, std::span<const double> weights);

  double mean() const;
  double stddev() const;
  // Linear between the middles of the points' shares of probability; the outermost points beyond them.
  double quantile(double probability) const;
  double cdf(double y) const;
  double crps(double y) const;

 private:
  std::vector<double> value_;  // ascending
  std::vector<double> weight_;
  std::vector<double> centre_;  // the middle of the point's share
};

}  // namespace dissent
