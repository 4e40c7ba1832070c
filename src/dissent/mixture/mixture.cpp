#include "dissent/mixture/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dissent {

namespace {

template <class... Args>
void check_weights(bool holds, fmt::format_string<Args...> rule, Args&&... args) {
  if (!holds) [[unlikely]] {
    throw InputError(Fault{.argument = "weights", .rule = fmt::format(rule, std::forward<Args>(args)...)});
  }
}

// A weight next to 1 is 1 to the last bit, so its logarithm is all rounding; as 1 minus the other weights it keeps its
// digits. With weights of 1e-20 and 1 that is a share of the entropy that bounds must not lose.
void set_largest_log(Weights& weights) {
  constexpr double kNextToOne = 0x1p-10;
  const auto largest = std::ranges::max_element(weights.value);
  double others = 0;
  for (auto w = weights.value.begin(); w != weights.value.end(); ++w) {
    others += w == largest ? 0 : *w;
  }
  if (others < kNextToOne) {
    weights.log[static_cast<std::size_t>(largest - weights.value.begin())] = std::log1p(-others);
  }
}

}  // namespace

Weights Weights::uniform(std::size_t num_components) {
  check_weights(num_components > 0, "a mixture needs at least one component");
  const double m = static_cast<double>(num_components);
  return {std::vector<double>(num_components, 1 / m), std::vector<double>(num_components, -std::log(m)), std::log(m)};
}

Weights Weights::from(std::span<const double> given, std::size_t num_components) {
  if (given.empty()) {
    return uniform(num_components);
  }
  check_weights(given.size() == num_components, "{} weights for {} components; give one weight per component",
                given.size(), num_components);
  double sum = 0;
  for (std::size_t m = 0; m < given.size(); ++m) {
    check_weights(std::isfinite(given[m]), "weight {} = {} is not a finite number", m + 1, given[m]);
    check_weights(given[m] >= 0, "weight {} = {} is negative; weights must be >= 0", m + 1, given[m]);
    sum += given[m];
  }
  check_weights(std::abs(sum - 1) <= 1e-6, "the weights sum to {}; they must sum to 1", sum);
  // Weights made here come back unchanged when they are given again, so that a saved model is the same to the bit.
  if (std::ranges::all_of(given, [&](double w) { return w == given.front(); })) {
    return uniform(num_components);
  }
  const double rounding = static_cast<double>(num_components) * std::numeric_limits<double>::epsilon();
  const double divisor = std::abs(sum - 1) <= rounding ? 1 : sum;
  Weights weights;
  for (const double w : given) {
    const double value = w < 1e-100 ? 0 : w / divisor;
    weights.value.push_back(value);
    weights.log.push_back(value > 0 ? std::log(value) : -std::numeric_limits<double>::infinity());
  }
  set_largest_log(weights);
  for (std::size_t m = 0; m < weights.size(); ++m) {
    weights.entropy -= weights.value[m] > 0 ? weights.value[m] * weights.log[m] : 0;
  }
  return weights;
}

template <class T>
Mixture<T> Mixture<T>::diagonal(std::size_t num_inputs, std::size_t num_components, std::size_t num_outputs) {
  const std::size_t size = num_inputs * num_components * num_outputs;
  Mixture mixture{num_inputs, num_components, num_outputs};
  mixture.mean.resize(size);
  mixture.stddev.resize(size);
  return mixture;
}

template <class T>
Mixture<T> Mixture<T>::full(std::size_t num_inputs, std::size_t num_components, std::size_t num_outputs) {
  const std::size_t size = num_inputs * num_components * num_outputs;
  Mixture mixture{num_inputs, num_components, num_outputs};
  mixture.mean.resize(size);
  mixture.covariance.resize(size * num_outputs);
  return mixture;
}

template <class T>
MixtureView<T> Mixture<T>::view() const {
  const std::size_t size = num_inputs * num_components * num_outputs;
  check(mean.size() == size, "mean has {} values, the shape [{}, {}, {}] needs {}", mean.size(), num_inputs,
        num_components, num_outputs, size);
  check(stddev.empty() || covariance.empty(), "both stddev and covariance are set; give one of them");
  if (covariance.empty()) {
    check(stddev.size() == size, "stddev has {} values, the shape [{}, {}, {}] needs {}", stddev.size(), num_inputs,
          num_components, num_outputs, size);
  } else {
    check(covariance.size() == size * num_outputs, "covariance has {} values, the shape [{}, {}, {}, {}] needs {}",
          covariance.size(), num_inputs, num_components, num_outputs, num_outputs, size * num_outputs);
  }
  MixtureView<T> view{num_inputs, num_components, num_outputs};
  view.mean = mean.data();
  (covariance.empty() ? view.stddev : view.covariance) = covariance.empty() ? stddev.data() : covariance.data();
  view.space = space;
  view.weights = weights.size() == 0 ? nullptr : &weights;
  return view;
}

template <class T>
void validate_shape(const MixtureView<T>& mixture) {
  check(mixture.num_components > 0, "M = 0; a mixture needs at least one component");
  check(mixture.num_outputs > 0, "D = 0; a mixture needs at least one output");
  check(mixture.weights == nullptr || mixture.weights->size() == mixture.num_components,
        "{} weights for {} components; give one weight per component",
        mixture.weights == nullptr ? 0 : mixture.weights->size(), mixture.num_components);
  if (mixture.num_inputs > 0) {
    check(mixture.mean != nullptr, "mean is missing");
    check((mixture.stddev == nullptr) != (mixture.covariance == nullptr), "give exactly one of stddev and covariance");
  }
}

template struct Mixture<float>;
template struct Mixture<double>;
template void validate_shape(const MixtureView<float>&);
template void validate_shape(const MixtureView<double>&);

}  // namespace dissent
