#include "dissent/mixture/categorical.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr double kSumTolerance = 1e-4;  // single precision over many classes

}  // namespace

bool equal(const Categorical& p, const Categorical& q) { return std::ranges::equal(p.probability, q.probability); }

double entropy(const Categorical& p) {
  double sum = 0;
  for (const double value : p.probability) {
    sum -= value > 0 ? value * std::log(value) : 0;
  }
  return std::max(0.0, sum);
}

void normalise_probabilities(std::span<double> probability, std::size_t num_components, std::size_t num_classes,
                             std::size_t first_input) {
  check(num_components > 0 && num_classes > 1,
        "probabilities of {} components and {} classes; at least 1 component and 2 classes are required",
        num_components, num_classes);
  for (std::size_t row = 0; row * num_classes < probability.size(); ++row) {
    const std::span<double> own = probability.subspan(row * num_classes, num_classes);
    const std::size_t input = first_input + row / num_components;
    for (std::size_t k = 0; k < num_classes; ++k) {
      check(std::isfinite(own[k]) && own[k] >= 0,
            "input {} component {} class {}: probability {} is not a finite number >= 0", input, row % num_components,
            k, own[k]);
    }
    const double sum = std::accumulate(own.begin(), own.end(), 0.0);
    check(std::abs(sum - 1) <= kSumTolerance, "input {} component {}: its probabilities sum to {}, not to 1", input,
          row % num_components, sum);
    std::ranges::transform(own, own.begin(), [sum](double value) { return value / sum; });
  }
}

}  // namespace dissent
