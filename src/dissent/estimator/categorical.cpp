#include "dissent/estimator/categorical.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/divergence/categorical_forms.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlock = 64;  // inputs that a thread takes at a time

// The mean over components: the one of the largest weight plus the others' differences from it, so that it is exact if
// all are equal and nothing cancels.
std::vector<double> mean_of(const CategoricalView& classes, std::size_t input) {
  const std::vector<double>& weight = classes.weights->value;
  const auto heaviest = static_cast<std::size_t>(std::ranges::max_element(weight) - weight.begin());
  const std::span<const double> base = classes.component(input, heaviest).probability;
  std::vector<double> mean(base.begin(), base.end());
  for (std::size_t m = 0; m < classes.num_components; ++m) {
    const std::span<const double> own = classes.component(input, m).probability;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] += weight[m] * (own[k] - base[k]);
    }
  }
  return mean;
}

// H(component | class) = sum_k sum_i w_i p_ik log1p(others / (w_i p_ik)). The others are summed from both sides, since
// total minus own would cancel if one component has a class to itself.
double entropy_given_class(const CategoricalView& classes, std::size_t input) {
  const std::size_t M = classes.num_components;
  std::vector<double> own(M);
  std::vector<double> before(M);
  double sum = 0;
  for (std::size_t k = 0; k < classes.num_classes; ++k) {
    double running = 0;
    for (std::size_t m = 0; m < M; ++m) {
      own[m] = classes.weights->value[m] * classes.component(input, m).probability[k];
      before[m] = running;
      running += own[m];
    }
    running = 0;
    for (std::size_t m = M; m-- > 0;) {
      const double others = before[m] + running;
      const double ratio = own[m] > 0 ? others / own[m] : 0;
      sum += std::isfinite(ratio) ? own[m] * std::log1p(ratio) : 0;  // beyond, own is next to nothing
      running += own[m];
    }
  }
  return sum;
}

double mean_class_entropy(const CategoricalView& classes, std::size_t input) {
  double sum = 0;
  for (std::size_t m = 0; m < classes.num_components; ++m) {
    sum += classes.weights->value[m] * entropy(classes.component(input, m));
  }
  return sum;
}

}  // namespace

ClassEstimator ClassEstimator::parse(std::string_view text) {
  if (text == "exact") {
    return {};
  }
  try {
    return {parse_divergence(text)};
  } catch (const InputError& error) {
    fail("of classes there is 'exact', and the pairwise estimate over a divergence: {}", error.what());
  }
}

Combined class_information(const CategoricalView& classes, std::size_t input) {
  const std::vector<double> mean = mean_of(classes, input);
  double information = 0;
  for (std::size_t m = 0; m < classes.num_components; ++m) {
    if (classes.weights->value[m] > 0) {
      information += classes.weights->value[m] * kl(classes.component(input, m), {mean});
    }
  }
  const double deficit = entropy_given_class(classes, input);
  // The smaller of the two is the accurate one.
  const double whole = classes.weights->entropy;
  return information < deficit ? Combined{information, std::log(whole - information)}
                               : Combined{std::max(0.0, whole - deficit), std::log(deficit)};
}

void class_divergences(const Divergence& kind, const CategoricalView& classes, std::size_t input,
                       std::span<double> result) {
  const std::size_t M = classes.num_components;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      result[i * M + j] = i == j ? 0 : divergence(kind, classes.component(input, i), classes.component(input, j));
    }
  }
}

Uncertainty estimate(const ClassEstimator& estimator, const CategoricalView& classes, const EstimateOptions& options) {
  Uncertainty result = Uncertainty::of(classes.num_inputs);
  const std::size_t M = classes.num_components;
  for_blocks(
      options.executor, classes.num_inputs, kBlock,
      [&] { return std::vector<double>(estimator.divergence ? M * M : 0); },
      [&](std::size_t begin, std::size_t end, std::vector<double>& pairs) {
        for (std::size_t n = begin; n < end; ++n) {
          if (estimator.divergence) {
            class_divergences(*estimator.divergence, classes, n, pairs);
          }
          const Combined found =
              estimator.divergence ? combine(*classes.weights, pairs) : class_information(classes, n);
          result.epistemic[n] = found.epistemic;
          result.log_deficit[n] = found.log_deficit;
          result.aleatoric[n] = mean_class_entropy(classes, n);
          result.total[n] = result.aleatoric[n] + result.epistemic[n];
        }
      });
  return result;
}

}  // namespace dissent
