#include "dissent/device/score_methods.hpp"

#include <algorithm>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/device/score_bounds.hpp"
#include "dissent/device/score_samples.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/estimator/methods.hpp"
#include "dissent/estimator/monte_carlo.hpp"

namespace dissent::score {
namespace {

struct FormOfDivergence {
  std::string_view name;
  FormKind form;
  Finish finish = Finish::kSame;
};

constexpr FormOfDivergence kForms[] = {{"kl", FormKind::kKl},
                                       {"jeffreys", FormKind::kKl, Finish::kJeffreys},
                                       {"bhattacharyya", FormKind::kBhattacharyya},
                                       {"chernoff", FormKind::kChernoff},
                                       {"renyi", FormKind::kChernoff, Finish::kRenyi},
                                       {"hellinger", FormKind::kBhattacharyya, Finish::kHellinger},
                                       {"wasserstein", FormKind::kWasserstein}};

HostWeights host_weights(const Weights& weights) { return {weights.value, weights.log, weights.entropy}; }

template <class T>
Method<T> pairwise_method(const PairwiseRule& rule, const Weights& weights) {
  return {{}, [rule, &weights](const Rows<T>& rows, const Columns& columns, std::size_t, cudaStream_t stream) {
            launch_pairwise(rule, rows, columns.results, host_weights(weights), stream);
          }};
}

template <class T>
Method<T> bounds_method(const Weights& weights) {
  return {kBoundsExtras, [&weights](const Rows<T>& rows, const Columns& columns, std::size_t, cudaStream_t stream) {
            const auto extra = [&](std::size_t k) {
              return columns.extras + k * static_cast<std::size_t>(rows.num_inputs);
            };
            launch_bounds(rows, {columns.results, extra(0), extra(1), extra(2), extra(3), extra(4)},
                          host_weights(weights), stream);
          }};
}

// None if a component would get fewer than two samples: the CPU has a rule for that.
template <class T>
std::optional<Method<T>> samples_method(const Estimator& estimator, const Weights& weights,
                                        const EstimateOptions& options) {
  const std::vector<std::size_t> count = share_samples(weights, estimator.count, 0.5).count;
  for (std::size_t m = 0; m < count.size(); ++m) {
    if (weights.value[m] > 0 && weights.value[m] * static_cast<double>(estimator.count) < 2) {
      return std::nullopt;
    }
  }
  return Method<T>{kMonteCarloExtras, [count, options, &weights](const Rows<T>& rows, const Columns& columns,
                                                                 std::size_t begin, cudaStream_t stream) {
                     const SampleRule rule{count, options.seed, static_cast<std::uint64_t>(Purpose::kMonteCarlo),
                                           options.first_input + begin};
                     launch_samples(rule, rows, columns.results, columns.extras, host_weights(weights), stream);
                   }};
}

}  // namespace

std::optional<PairwiseRule> pairwise_rule(const Estimator& estimator) {
  if (estimator.info->name == "epkl") {
    return PairwiseRule{FormKind::kKl, 0.5, {Finish::kExpected, 0.5}};
  }
  if (estimator.info->divergence == nullptr) {
    return std::nullopt;
  }
  const Divergence& divergence = estimator.divergence;
  const auto found = std::ranges::find(kForms, divergence.info->name, &FormOfDivergence::name);
  if (found == std::end(kForms) || (found->form == FormKind::kChernoff && divergence.alpha >= 1)) {
    return std::nullopt;
  }
  return PairwiseRule{found->form, divergence.alpha, {found->finish, divergence.alpha}};
}

template <class T>
bool weights_fit(const Weights& weights) {
  return sizeof(T) == 8 || suit_floats(weights);
}

template <class T>
std::optional<Method<T>> method_for(const Estimator& estimator, const MixtureView<T>& mixture,
                                    const EstimateOptions& options) {
  const Weights& weights = *mixture.weights;
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  const auto present = std::ranges::count_if(weights.value, [](double w) { return w > 0; });
  if (!weights_fit<T>(weights) || M > kMostComponents || D > (1U << 20)) {
    return std::nullopt;
  }
  if (const auto rule = pairwise_rule(estimator)) {
    return fits_card<T>(static_cast<int>(M), static_cast<int>(D)) ? std::optional(pairwise_method<T>(*rule, weights))
                                                                  : std::nullopt;
  }
  if (estimator.info->name == "bounds" && M >= 2 && M <= kMostBoundsComponents) {
    return bounds_method<T>(weights);
  }
  if (estimator.info->name == "mc" && present >= 2 && M <= kMostSampledComponents && M * D <= kMostSampledValues) {
    return samples_method<T>(estimator, weights, options);
  }
  return std::nullopt;
}

template bool weights_fit<float>(const Weights&);
template bool weights_fit<double>(const Weights&);
template std::optional<Method<float>> method_for(const Estimator&, const MixtureView<float>&, const EstimateOptions&);
template std::optional<Method<double>> method_for(const Estimator&, const MixtureView<double>&, const EstimateOptions&);

}  // namespace dissent::score
