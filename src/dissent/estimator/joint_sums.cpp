#include "dissent/estimator/joint_sums.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr double kNegligible = 17;       // exp(-17) = 4e-8; even a hundred times that is little beside 1, so
constexpr double kLeastOrdinary = 0.01;  // lighter components are saturated later

}  // namespace

JointPairs::JointPairs(const Weights& weights) : entropy(static_cast<float>(weights.entropy)) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights.value[i] >= kLeastJointWeight) {
      component.push_back(i);
      weight.push_back(static_cast<float>(weights.value[i]));
    }
  }
  check(component.size() > 1, "all but one of the components weigh less than {}; their divergences need two that count",
        kLeastJointWeight);
  num_others = component.size() - 1;
  const double lightest = std::ranges::min(weight);
  saturated = kNegligible + std::max(0.0, std::log(kLeastOrdinary / lightest));
  for (const std::size_t i : component) {
    for (const std::size_t j : component) {
      if (j != i) {
        pairs.push_back({i, j, static_cast<float>(weights.value[j])});
      }
    }
  }
}

void RunningSums::update() {
  const double least = std::ranges::min(sums);
  taken_off = least > saturated ? least : 0;
  std::ranges::transform(sums, running.begin(),
                         [&](double sum) { return static_cast<float>(std::min(sum - taken_off, kLargestDivergence)); });
}

}  // namespace dissent
