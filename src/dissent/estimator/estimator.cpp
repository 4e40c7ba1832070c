#include "dissent/estimator/estimator.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {

Uncertainty Uncertainty::of(std::size_t num_inputs, std::span<const std::string_view> extra_names) {
  Uncertainty result;
  for (std::vector<double>* column : {&result.epistemic, &result.aleatoric, &result.total, &result.log_deficit}) {
    column->resize(num_inputs);
  }
  for (const std::string_view name : extra_names) {
    result.extras.push_back({std::string(name), std::vector<double>(num_inputs)});
  }
  return result;
}

std::vector<double>& Uncertainty::extra(std::string_view name) {
  const auto found = std::ranges::find(extras, name, &Extra::name);
  check(found != extras.end(), "the estimator gives no '{}'", name);
  return found->values;
}

const std::vector<double>& Uncertainty::extra(std::string_view name) const {
  return const_cast<Uncertainty*>(this)->extra(name);
}

void Uncertainty::set_aleatoric(std::vector<double> values) {
  aleatoric = std::move(values);
  total.resize(size());
  std::ranges::transform(aleatoric, epistemic, total.begin(), std::plus<>());
}

}  // namespace dissent
