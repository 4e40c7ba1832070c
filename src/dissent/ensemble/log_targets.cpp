#include "dissent/ensemble/log_targets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/process/posterior.hpp"
#include "dissent/process/search.hpp"
#include "dissent/table/scaling.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

using Eigen::Index;

constexpr std::size_t kMostRows = 200;
constexpr std::size_t kFewestRows = 10;
constexpr double kSmallestRatio = 3;  // of the largest to the smallest: below it a logarithm is nearly a straight line
constexpr double kFarOut = 8;         // standard deviations, estimated from the quartiles

// A value whose logarithm lies far from the others' would dominate a fit of logarithms.
bool may_be_log(std::vector<double> values) {
  std::ranges::sort(values);
  if (!(values.front() > 0 && values.back() > kSmallestRatio * values.front())) {
    return false;
  }
  const auto log_at = [&](std::size_t quarters) { return std::log(values[quarters * (values.size() - 1) / 4]); };
  const double reach = kFarOut * (log_at(3) - log_at(1)) / 1.349;
  return log_at(0) >= log_at(2) - reach && log_at(4) <= log_at(2) + reach;
}

// Scales twice: by `first`, which copes with any numbers, then to mean 0 and stddev 1. `log_scale` is how much a log
// density of the result exceeds that of the values.
RowMatrix standardised(ScalingKind first, std::span<const double> values, std::size_t columns, double& log_scale) {
  const Scaling rough = fit_scaling(first, values, columns);
  std::vector<double> scaled(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    scaled[k] = rough.scaled(k % columns, values[k]);
  }
  const Scaling fine = fit_scaling(ScalingKind::kStandard, scaled, columns);
  log_scale = rough.log_scale_sum() + fine.log_scale_sum();
  RowMatrix rows(static_cast<Index>(values.size() / columns), static_cast<Index>(columns));
  for (std::size_t k = 0; k < values.size(); ++k) {
    rows.data()[k] = fine.scaled(k % columns, scaled[k]);
  }
  return rows;
}

// The mean log density of a value, in its own units, under a process fitted to all the values; each is predicted from
// the others.
double predictability(const RowMatrix& inputs, std::span<const double> values, std::uint64_t seed) {
  double log_scale = 0;
  const Eigen::VectorXd targets = standardised(ScalingKind::kMinMax, values, 1, log_scale).col(0);
  SearchOptions search;
  search.starts = 1;
  search.seed = seed;
  const SearchResult found = find_hyperparameters(inputs, targets, search);
  return Posterior(found.hyperparameters, inputs, targets).leave_one_out().log_density.mean() - log_scale;
}

bool better_as_log(const RowMatrix& inputs, std::span<const double> values, std::uint64_t seed) {
  std::vector<double> logs(values.size());
  std::ranges::transform(values, logs.begin(), [](double value) { return std::log(value); });
  const double mean_log = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  return predictability(inputs, logs, seed) - mean_log > predictability(inputs, values, seed);
}

std::vector<std::uint32_t> some_rows(std::size_t num_rows, std::uint64_t seed) {
  std::vector<std::uint32_t> rows(num_rows);
  std::iota(rows.begin(), rows.end(), 0U);
  Stream stream(seed, Purpose::kSearch);
  stream.shuffle(std::span(rows));
  rows.resize(std::min(rows.size(), kMostRows));
  return rows;
}

}  // namespace

std::vector<std::uint8_t> choose_logarithms(const EnsembleOptions& options, const TrainingRows& rows,
                                            Executor* executor) {
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  const std::size_t n = rows.targets.size() / D;
  std::vector<std::uint8_t> logarithm(D, 0);
  std::vector<std::vector<double>> target(D);
  for (std::size_t k = 0; k < rows.targets.size() && options.log_targets != LogTargets::kNone; ++k) {
    target[k % D].push_back(rows.targets[k]);
  }
  if (options.log_targets == LogTargets::kAll) {
    for (std::size_t d = 0; d < D; ++d) {
      const auto bad = std::ranges::find_if(target[d], [](double value) { return !(value > 0); });
      if (bad != target[d].end()) {
        throw InputError(Fault{.value = fmt::format("{}", *bad),
                               .rule = "has no logarithm; let `log_targets` be auto or none",
                               .column = rows.target_names[d],
                               .row = rows.row_number(static_cast<std::size_t>(bad - target[d].begin()))});
      }
      logarithm[d] = 1;
    }
    return logarithm;
  }
  if (options.model != Model::kAuto && model_kind(options.model).has_flow) {
    return {};
  }
  std::vector<std::size_t> candidates;
  for (std::size_t d = 0; d < D; ++d) {
    if (n >= kFewestRows && !target[d].empty() && may_be_log(target[d])) {
      candidates.push_back(d);
    }
  }
  if (candidates.empty()) {
    return {};
  }
  const std::vector<std::uint32_t> some = some_rows(n, options.seed);
  double unused = 0;
  const RowMatrix inputs = standardised(ScalingKind::kRobust, pick_rows(rows.inputs, C, some), C, unused);
  for_blocks(executor, candidates.size(), 1, [&](std::size_t k, std::size_t, std::size_t) {
    const std::size_t d = candidates[k];
    logarithm[d] = better_as_log(inputs, pick_rows(target[d], 1, some), options.seed) ? 1 : 0;
  });
  return std::ranges::count(logarithm, 1) > 0 ? logarithm : std::vector<std::uint8_t>();
}

}  // namespace dissent
