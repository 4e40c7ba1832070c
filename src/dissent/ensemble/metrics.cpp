#include "dissent/ensemble/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/root_of_squares.hpp"

namespace dissent {
namespace {

void check_sizes(std::span<const double> predicted, std::span<const double> actual) {
  check(!actual.empty() && predicted.size() == actual.size(),
        "{} predicted and {} actual values; they must be as many, and at least one", predicted.size(), actual.size());
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The root mean square of the differences.
double root_mean_square(std::span<const double> predicted, std::span<const double> actual) {
  const auto mean_square = [&](double scale) {
    double squares = 0;
    for (std::size_t k = 0; k < actual.size(); ++k) {
      const double error = (predicted[k] - actual[k]) / scale;
      squares += error * error;
    }
    return squares / static_cast<double>(actual.size());
  };
  return root_of_squares(mean_square, [&] {
    double largest = 0;
    for (std::size_t k = 0; k < actual.size(); ++k) {
      largest = std::max(largest, std::abs(predicted[k] - actual[k]));
    }
    return largest;
  });
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return values[k]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    for (std::size_t k = begin; k < end; ++k) {
      result[order[k]] = 0.5 * static_cast<double>(begin + end - 1);
    }
    begin = end;
  }
  return result;
}

}  // namespace

double rmse(std::span<const double> predicted, std::span<const double> actual) {
  check_sizes(predicted, actual);
  return rmse_paper(predicted, actual, actual.size());
}

double rmse_paper(std::span<const double> predicted, std::span<const double> actual, std::size_t num_outputs) {
  check_sizes(predicted, actual);
  check(num_outputs > 0 && actual.size() % num_outputs == 0, "{} values do not make rows of {}", actual.size(),
        num_outputs);
  double sum = 0;
  for (std::size_t begin = 0; begin < actual.size(); begin += num_outputs) {
    sum += root_mean_square(predicted.subspan(begin, num_outputs), actual.subspan(begin, num_outputs));
  }
  return sum / static_cast<double>(actual.size() / num_outputs);
}

double mean_absolute_error(std::span<const double> predicted, std::span<const double> actual) {
  check_sizes(predicted, actual);
  double sum = 0;
  for (std::size_t k = 0; k < actual.size(); ++k) {
    sum += std::abs(predicted[k] - actual[k]);
  }
  return sum / static_cast<double>(actual.size());
}

double calibration_error(std::span<const double> cdf) {
  check(!cdf.empty(), "there are no values");
  constexpr int kLevels = 19;
  double sum = 0;
  for (int level = 1; level <= kLevels; ++level) {
    const double p = level / (kLevels + 1.0);
    const auto below = std::ranges::count_if(cdf, [p](double value) { return value <= p; });
    sum += std::abs(static_cast<double>(below) / static_cast<double>(cdf.size()) - p);
  }
  return sum / kLevels;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  check(a.size() == b.size() && a.size() >= 2, "{} and {} values; they must be as many, and at least two", a.size(),
        b.size());
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const double centre = 0.5 * static_cast<double>(a.size() - 1);
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    xy += (x[k] - centre) * (y[k] - centre);
    xx += (x[k] - centre) * (x[k] - centre);
    yy += (y[k] - centre) * (y[k] - centre);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

double coverage(std::span<const double> cdf, double level) {
  check(!cdf.empty(), "there are no values");
  const auto inside = std::ranges::count_if(
      cdf, [level](double value) { return value >= 0.5 - level / 2 && value <= 0.5 + level / 2; });
  return static_cast<double>(inside) / static_cast<double>(cdf.size());
}

Metrics metrics_of(const Summary& summary, std::span<const double> targets, std::size_t num_outputs) {
  return {.num_rows = targets.size() / num_outputs,
          .rmse = rmse(summary.mean, targets),
          .rmse_paper = rmse_paper(summary.mean, targets, num_outputs),
          .mae = mean_absolute_error(summary.mean, targets),
          .log_likelihood = std::numeric_limits<double>::quiet_NaN(),
          .crps = mean(summary.crps),
          .coverage_90 = coverage(summary.cdf, 0.9),
          .calibration_error = calibration_error(summary.cdf),
          .sharpness = mean(summary.stddev)};
}

namespace {

// One output of all rows.
std::vector<double> output_of(std::span<const double> values, std::size_t num_outputs, std::size_t output) {
  std::vector<double> own;
  for (std::size_t k = output; k < values.size(); k += num_outputs) {
    own.push_back(values[k]);
  }
  return own;
}

}  // namespace

Metrics evaluate(const Ensemble& model, std::span<const double> inputs, std::span<const double> targets,
                 Executor* executor, std::vector<Metrics>* by_target) {
  check(!inputs.empty(), "there are no rows");
  const std::vector<double> log_density = model.log_density(inputs, targets, executor);
  const Mixture<double> mixture = model.predict(inputs, executor);
  const Summary summary = summarise(model, inputs, mixture, {.targets = targets, .executor = executor});
  Metrics metrics = metrics_of(summary, targets, model.num_outputs());
  metrics.log_likelihood = mean(log_density);
  const std::size_t D = model.num_outputs();
  for (std::size_t d = 0; by_target != nullptr && d < D; ++d) {
    Summary own;
    own.mean = output_of(summary.mean, D, d);
    own.stddev = output_of(summary.stddev, D, d);
    own.cdf = output_of(summary.cdf, D, d);
    own.crps = output_of(summary.crps, D, d);
    by_target->push_back(metrics_of(own, output_of(targets, D, d), 1));
  }
  return metrics;
}

}  // namespace dissent
