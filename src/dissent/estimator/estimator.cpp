#include "dissent/estimator/estimator.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "dissent/estimator/bounds.hpp"
#include "dissent/estimator/monte_carlo.hpp"
#include "dissent/estimator/pairwise.hpp"
#include "dissent/estimator/quadrature.hpp"
#include "dissent/estimator/refine.hpp"

namespace dissent {
namespace {

// The estimators that are not pairwise sums over a divergence. `parameter` is the letter of a whole number after a
// colon.
struct Row {
  EstimatorKind kind;
  std::string_view name;
  std::string_view parameter;
  std::string_view formula;
  Bound bound;
  std::string_view cost;
};

constexpr std::array<Row, 5> kRows{{
    {EstimatorKind::kEpkl, "epkl", "", "mean of KL over distinct pairs", Bound::kUpper, "M^2 D"},
    {EstimatorKind::kMonteCarlo, "mc", "K", "H(w) - mean of log1p(sum_{i!=j} w_i p_i / w_j p_j) over K samples",
     Bound::kNone, "K M D"},
    {EstimatorKind::kQuadrature, "quadrature", "", "numerical integration to 1e-10, one output only", Bound::kExact,
     "about 10^4 M^2"},
    {EstimatorKind::kBounds, "bounds", "", "[largest chernoff over alpha, kl]", Bound::kInterval, "24 M^2 D"},
    {EstimatorKind::kRefine, "refine", "K", "bounds, then samples where the order of the top K is undecided",
     Bound::kInterval, "24 M^2 D, and samples"},
}};

const Row* find_row(std::string_view name) {
  const auto* const row = std::ranges::find(kRows, name, &Row::name);
  return row == kRows.end() ? nullptr : row;
}

std::string typed_name(std::string_view name, std::string_view parameter) {
  return parameter.empty() ? std::string(name) : fmt::format("{}:{}", name, parameter);
}

std::string known_names() {
  std::string names;
  for (const EstimatorInfo& info : estimators()) {
    names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

}  // namespace

std::string Estimator::name() const {
  switch (kind) {
    case EstimatorKind::kPairwise:
      return divergence.name();
    case EstimatorKind::kMonteCarlo:
      return fmt::format("mc:{}", num_samples);
    case EstimatorKind::kRefine:
      return fmt::format("refine:{}", top);
    default:
      return std::string(std::ranges::find(kRows, kind, &Row::kind)->name);
  }
}

std::vector<EstimatorInfo> estimators() {
  std::vector<EstimatorInfo> all;
  for (const DivergenceInfo& info : divergences()) {
    all.push_back({typed_name(info.name, info.has_alpha ? "A" : ""),
                   fmt::format("-sum_i w_i ln sum_j w_j exp(-D_ij), D = {}", info.formula), info.bound, "M^2 D"});
  }
  for (const Row& row : kRows) {
    all.push_back({typed_name(row.name, row.parameter), std::string(row.formula), row.bound, std::string(row.cost)});
  }
  return all;
}

Estimator parse_estimator(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (std::ranges::find(divergences(), name, &DivergenceInfo::name) != divergences().end()) {
    return {.kind = EstimatorKind::kPairwise, .divergence = parse_divergence(text)};
  }
  const Row* row = find_row(name);
  check(row != nullptr, "estimator: '{}' is not known; there are {}", text, known_names());
  Estimator estimator{.kind = row->kind, .divergence = {}};
  if (row->parameter.empty()) {
    check(colon == std::string_view::npos, "estimator: '{}' takes no parameter; write '{}'", name, name);
    return estimator;
  }
  check(colon != std::string_view::npos, "estimator: '{}' needs a number, as in '{}:{}'", name, name,
        row->kind == EstimatorKind::kMonteCarlo ? 5000 : 10);
  const std::string_view number = text.substr(colon + 1);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  check(error == std::errc() && end == number.data() + number.size() && value > 0 && value <= 1'000'000'000,
        "estimator: '{}' in '{}' is not a whole number from 1 to 1000000000", number, text);
  (row->kind == EstimatorKind::kMonteCarlo ? estimator.num_samples : estimator.top) = value;
  return estimator;
}

template <class T>
Uncertainty estimate(const Estimator& estimator, const MixtureView<T>& mixture, const Weights& weights,
                     const EstimateOptions& options) {
  validate_shape(mixture);
  check(weights.size() == mixture.num_components, "estimate: {} weights for {} components; give one per component",
        weights.size(), mixture.num_components);
  switch (estimator.kind) {
    case EstimatorKind::kPairwise:
      return pairwise(estimator.divergence, mixture, weights, options);
    case EstimatorKind::kMonteCarlo:
      return monte_carlo(estimator.num_samples, mixture, weights, options);
    case EstimatorKind::kEpkl:
      return epkl(mixture, weights, options);
    case EstimatorKind::kQuadrature:
      return quadrature(mixture, weights, options);
    case EstimatorKind::kBounds:
      return bounds(mixture, weights, options);
    case EstimatorKind::kRefine:
      return refine(estimator.top, mixture, weights, options);
  }
  return {};
}

template Uncertainty estimate(const Estimator&, const MixtureView<float>&, const Weights&, const EstimateOptions&);
template Uncertainty estimate(const Estimator&, const MixtureView<double>&, const Weights&, const EstimateOptions&);

}  // namespace dissent
