// Rows to fit in tests, from fixed streams.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent::test {

struct SampleRows {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  std::vector<double> x;
  std::vector<double> y;

  TrainingRows rows() const { return {inputs, targets, x, y}; }
  EnsembleColumns columns(ScalingKind kind = ScalingKind::kMinMax) const {
    return {inputs, targets, fit_scaling(kind, x, inputs.size()), fit_scaling(kind, y, targets.size())};
  }
};

inline double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// y = 7 sin x + z (3 |cos(x / 2)| + 0.1), x evenly spread over [-4, 4]; z normal.
inline double hetero_stddev(double x) { return 3 * std::abs(std::cos(x / 2)) + 0.1; }

inline SampleRows hetero(std::size_t num_rows, std::uint64_t part) {
  SampleRows data{{"x"}, {"y"}, {}, {}};
  Stream stream(1, Purpose::kTest, part);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double x = 8 * stream.uniform() - 4;
    data.x.push_back(x);
    data.y.push_back(7 * std::sin(x) + hetero_stddev(x) * stream.normal());
  }
  return data;
}

inline double hetero_log_likelihood(const SampleRows& data) {
  std::vector<double> terms;
  for (std::size_t n = 0; n < data.x.size(); ++n) {
    const double stddev = hetero_stddev(data.x[n]);
    const double residual = (data.y[n] - 7 * std::sin(data.x[n])) / stddev;
    terms.push_back(-0.5 * (kLogTwoPi + residual * residual) - std::log(stddev));
  }
  return mean_of(terms);
}

// Two inputs; two outputs that depend on each other.
inline SampleRows pairs(std::size_t num_rows) {
  SampleRows data{{"a", "b"}, {"u", "v"}, {}, {}};
  Stream stream(2, Purpose::kTest);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double a = stream.normal();
    const double b = 100 + 10 * stream.normal();
    const double u = a + 0.3 * stream.normal();
    data.x.insert(data.x.end(), {a, b});
    data.y.insert(data.y.end(), {u, 1000 * u * u + b + 50 * stream.normal()});
  }
  return data;
}

// As many inputs as outputs, each output near its input.
inline SampleRows wide(std::size_t num_rows, std::size_t num_columns) {
  SampleRows data;
  for (std::size_t d = 0; d < num_columns; ++d) {
    data.inputs.push_back(fmt::format("x{}", d));
    data.targets.push_back(fmt::format("y{}", d));
  }
  Stream stream(3, Purpose::kTest);
  for (std::size_t k = 0; k < num_rows * num_columns; ++k) {
    data.x.push_back(stream.normal());
    data.y.push_back(data.x.back() + 0.1 * stream.normal());
  }
  return data;
}

}  // namespace dissent::test
