// Every estimator with its function, cost and traits, and estimate(), which runs any of them.
#include <algorithm>

#include "dissent/estimator/estimator.hpp"
#include "dissent/estimator/methods.hpp"
#include "dissent/estimator/monte_carlo.hpp"
#include "dissent/estimator/score_device.hpp"

namespace dissent {
namespace {

constexpr Parameter count_parameter(std::string_view example) {
  return {.letter = "K",
          .whole = true,
          .least = 1,
          .most = 1e9,
          .rule = "a whole number from 1 to 1000000000",
          .example = example};
}

EstimatorInfo pairwise_row(const DivergenceInfo& divergence) {
  return {.name = std::string(divergence.name),
          .parameter = divergence.parameter,
          .formula = fmt::format("-sum_i w_i ln sum_j w_j exp(-D_ij), D = {}", divergence.formula),
          .bound = divergence.bound,
          .cost = "M^2 D",
          .divergence = &divergence,
          .run = [](const Estimator& e, const auto& mixture, const EstimateOptions& options) {
            return pairwise(e.divergence, mixture, options);
          }};
}

// The estimators that are not pairwise sums over a divergence.
void add_others(std::vector<EstimatorInfo>& rows) {
  rows.push_back({.name = "epkl",
                  .formula = "mean of KL over distinct pairs",
                  .bound = Bound::kUpper,
                  .cost = "M^2 D",
                  .run = [](const Estimator&, const auto& mixture, const EstimateOptions& options) {
                    return epkl(mixture, options);
                  }});
  rows.push_back({.name = "mc",
                  .parameter = count_parameter("5000"),
                  .formula = "H(w) - mean of log1p(sum_{i!=j} w_i p_i / w_j p_j) over K samples",
                  .cost = "K M D",
                  .extras = kMonteCarloExtras,
                  .by_pairs = false,
                  .passes = [](const Estimator& e) { return static_cast<double>(e.count); },
                  .run = [](const Estimator& e, const auto& mixture,
                            const EstimateOptions& options) { return monte_carlo(e.count, mixture, options); }});
  rows.push_back({.name = "quadrature",
                  .formula = "numerical integration to 1e-10, one output only",
                  .bound = Bound::kExact,
                  .cost = "about 10^4 M^2",
                  .by_pairs = false,
                  .one_output = true,
                  .passes = [](const Estimator&) { return 1e4; },
                  .run = [](const Estimator&, const auto& mixture,
                            const EstimateOptions& options) { return quadrature(mixture, options); }});
  rows.push_back({.name = "bounds",
                  .formula = "[largest chernoff over alpha, kl]",
                  .bound = Bound::kInterval,
                  .cost = "24 M^2 D",
                  .extras = kBoundsExtras,
                  .passes = [](const Estimator&) { return 24.0; },
                  .run = [](const Estimator&, const auto& mixture,
                            const EstimateOptions& options) { return bounds(mixture, options); }});
  rows.push_back({.name = "refine",
                  .parameter = count_parameter("10"),
                  .formula = "bounds, then samples where the order of the top K is undecided",
                  .bound = Bound::kInterval,
                  .cost = "24 M^2 D, and samples",
                  .extras = kRefineExtras,
                  .ranks_inputs = true,
                  .passes = [](const Estimator&) { return 24.0; },
                  .run = [](const Estimator& e, const auto& mixture,
                            const EstimateOptions& options) { return refine(e.count, mixture, options); }});
}

std::vector<EstimatorInfo> all_rows() {
  std::vector<EstimatorInfo> rows;
  for (const DivergenceInfo& divergence : divergences()) {
    rows.push_back(pairwise_row(divergence));
  }
  add_others(rows);
  return rows;
}

}  // namespace

const std::vector<EstimatorInfo>& estimators() {
  static const std::vector<EstimatorInfo> rows = all_rows();
  return rows;
}

Estimator::Estimator() : info(&estimators().front()) {}

std::string Estimator::name() const {
  return info->divergence != nullptr ? divergence.name()
                                     : method_text(info->name, info->parameter, static_cast<double>(count));
}

Estimator parse_estimator(std::string_view text) {
  const MethodText typed = split_method(text);
  Estimator estimator(find_method("estimator", typed.name, estimators()));
  const double value = parse_parameter("estimator", typed, estimator.info->parameter);
  if (estimator.info->divergence != nullptr) {
    estimator.divergence = parse_divergence(text);
  } else {
    estimator.count = static_cast<std::size_t>(value);
  }
  return estimator;
}

Estimator pairwise_estimator(const Divergence& divergence) {
  Estimator estimator(find_method("estimator", divergence.info->name, estimators()));
  estimator.divergence = divergence;
  return estimator;
}

template <class T>
Uncertainty estimate(const Estimator& estimator, const MixtureView<T>& mixture, const EstimateOptions& options) {
  validate_shape(mixture);
  const EstimatorInfo& info = *estimator.info;
  check(!info.one_output || mixture.num_outputs == 1,
        "estimator '{}' takes one output only, D = {}; use 'mc:K' or 'bounds'", info.name, mixture.num_outputs);
  const auto run = [&](const MixtureView<T>& weighted) {
    return options.device != nullptr && options.device->takes(estimator, weighted)
               ? options.device->estimate(estimator, weighted, options)
               : info.run(estimator, weighted, options);
  };
  if (mixture.weights == nullptr) {
    const Weights uniform = Weights::uniform(mixture.num_components);
    return run(mixture.weighted(uniform));
  }
  return run(mixture);
}

template Uncertainty estimate(const Estimator&, const MixtureView<float>&, const EstimateOptions&);
template Uncertainty estimate(const Estimator&, const MixtureView<double>&, const EstimateOptions&);

}  // namespace dissent
