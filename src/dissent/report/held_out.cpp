#include "dissent/report/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dissent/acquisition/uncertainty.hpp"
#include "dissent/table/encoded_rows.hpp"

namespace dissent::report {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

HeldOut measure(const Ensemble& model, const Table& table, Executor* executor) {
  HeldOut result{.source = table.source,
                 .num_targets = model.num_outputs(),
                 .inputs = {},
                 .targets = {},
                 .summary = {},
                 .uncertainty = {}};
  EncodedRows rows = encoded_rows(table, model.table_encoding(), model.columns().targets, result.notes);
  result.num_rows = rows.num_rows;
  result.inputs = std::move(rows.inputs);
  result.targets = std::move(rows.targets);
  model.check_rows(result.inputs, table.source);
  const Mixture<double> mixture = model.predict(result.inputs, executor);
  result.summary = summarise(model, result.inputs, mixture,
                             {.quantiles = {0.05, 0.95}, .targets = result.targets, .executor = executor});
  result.uncertainty =
      uncertainty(mixture.view().weighted(model.weights()), result.summary, {.estimate = {.executor = executor}});
  result.log_likelihood = mean(model.log_density(result.inputs, result.targets, executor));
  return result;
}

std::vector<double> values_of(const std::vector<double>& matrix, std::size_t num_targets,
                              std::optional<std::size_t> target) {
  if (!target) {
    return matrix;
  }
  std::vector<double> column;
  for (std::size_t k = *target; k < matrix.size(); k += num_targets) {
    column.push_back(matrix[k]);
  }
  return column;
}

Scores scores(const HeldOut& held_out, std::optional<std::size_t> target) {
  const auto part = [&](const std::vector<double>& matrix) { return values_of(matrix, held_out.num_targets, target); };
  const Summary summary{.mean = part(held_out.summary.mean),
                        .stddev = part(held_out.summary.stddev),
                        .quantile = {},
                        .aleatoric = {},
                        .cdf = part(held_out.summary.cdf),
                        .crps = part(held_out.summary.crps)};
  Scores scores{metrics_of(summary, part(held_out.targets), target ? 1 : held_out.num_targets)};
  scores.coverage_50 = coverage(summary.cdf, 0.5);
  scores.coverage_95 = coverage(summary.cdf, 0.95);
  if (!target) {
    scores.log_likelihood = held_out.log_likelihood;
  }
  return scores;
}

std::vector<double> row_errors(const HeldOut& held_out) {
  const std::size_t D = held_out.num_targets;
  std::vector<double> squares(held_out.num_rows);
  for (std::size_t d = 0; d < D; ++d) {
    const double usual = rmse(values_of(held_out.summary.mean, D, d), values_of(held_out.targets, D, d));
    for (std::size_t n = 0; n < held_out.num_rows && usual > 0; ++n) {
      const double error = (held_out.targets[n * D + d] - held_out.summary.mean[n * D + d]) / usual;
      squares[n] += error * error / static_cast<double>(D);
    }
  }
  std::ranges::transform(squares, squares.begin(), [](double square) { return std::sqrt(square); });
  return squares;
}

}  // namespace dissent::report
