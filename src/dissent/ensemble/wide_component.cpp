#include "dissent/ensemble/wide_component.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "dissent/base/error.hpp"
#include "dissent/base/special.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

double WideComponent::mixed(double log_density, std::span<const double> targets) const {
  if (empty()) {
    return log_density;
  }
  double wide = std::log(weight);
  for (std::size_t d = 0; d < targets.size(); ++d) {
    const double z = (targets[d] - centre[d]) / scale[d];
    // 2 ln |z| where z^2 would overflow
    const double log_tail = std::abs(z) > 1e100 ? 2 * std::log(std::abs(z)) : std::log1p(z * z);
    wide -= std::log(std::numbers::pi * scale[d]) + log_tail;
  }
  return log_sum_exp(std::array{std::log1p(-weight) + log_density, wide});
}

void WideComponent::check_values(std::size_t num_outputs) const {
  check(weight >= 0 && weight < 1, "a wide component of weight {}; it must be in [0, 1)", weight);
  const std::size_t size = empty() ? 0 : num_outputs;
  check(centre.size() == size && scale.size() == size, "a wide component of {} centres and {} scales for {} targets",
        centre.size(), scale.size(), num_outputs);
  for (std::size_t d = 0; d < size; ++d) {
    check(std::isfinite(centre[d]) && std::isfinite(scale[d]) && scale[d] > 0,
          "a wide component around {} with scale {}; both must be finite and the scale > 0", centre[d], scale[d]);
  }
}

WideComponent wide_component(std::span<const double> targets, std::size_t num_outputs) {
  const auto rows = static_cast<double>(targets.size() / num_outputs);
  const Scaling scaling = fit_scaling(ScalingKind::kStandard, targets, num_outputs);
  return {1 / (rows + 1), scaling.offset, scaling.scale};
}

}  // namespace dissent
