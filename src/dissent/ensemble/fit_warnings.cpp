#include "dissent/ensemble/fit_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "dissent/base/names.hpp"
#include "dissent/ensemble/log_targets.hpp"
#include "dissent/ensemble/row_copies.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kFewestRows = 10;
constexpr double kFarOut = 300;   // distances from the median to a quartile
constexpr double kGap = 10;       // far values are this many times as far as all others
constexpr std::size_t kFew = 50;  // one row in this many may have such a value, plus one

bool are_few(std::size_t count, std::size_t num_rows) { return count > 0 && count <= 1 + num_rows / kFew; }

std::vector<double> column_of(std::span<const double> values, std::size_t columns, std::size_t column) {
  std::vector<double> out;
  for (std::size_t k = column; k < values.size(); k += columns) {
    out.push_back(values[k]);
  }
  return out;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Says nothing about a column that is mostly one value, whose others may be far off on purpose, or about a long tail:
// far values must be far from the rest as well.
void warn_outliers(const std::string& name, const std::vector<double>& values, const TrainingRows& rows,
                   std::vector<std::string>& out) {
  const double median = median_of(values);
  std::vector<double> distance(values.size());
  std::ranges::transform(values, distance.begin(), [&](double value) { return std::abs(value - median); });
  const double usual = median_of(distance);
  std::size_t far = 0;
  double least_far = std::numeric_limits<double>::infinity();
  double largest_other = 0;
  for (const double apart : distance) {
    if (apart > kFarOut * usual) {
      ++far;
      least_far = std::min(least_far, apart);
    } else {
      largest_other = std::max(largest_other, apart);
    }
  }
  if (!(usual > 0) || !are_few(far, values.size()) || least_far < kGap * largest_other) {
    return;
  }
  const auto farthest = static_cast<std::size_t>(std::ranges::max_element(distance) - distance.begin());
  out.push_back(
      fmt::format("'{}' is {:g} in row {}, {:.2g} times as far from the median as half of the rows are: the fit serves "
                  "{} more than "
                  "the others; check it, or leave the row out",
                  name, values[farthest], rows.row_number(farthest) + 1, distance[farthest] / usual,
                  far == 1 ? "this value" : counted(far, "such value")));
}

// Warns if the target would be fitted by its logarithm without the few rows where it has none.
void warn_zeros(const EnsembleOptions& options, const TrainingRows& rows, std::size_t d, Executor* executor,
                std::vector<std::string>& out) {
  const std::vector<double> values = column_of(rows.targets, rows.target_names.size(), d);
  std::vector<std::uint32_t> kept;
  std::vector<std::size_t> without;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] > 0) {
      kept.push_back(static_cast<std::uint32_t>(k));
    } else {
      without.push_back(k);
    }
  }
  if (!are_few(without.size(), values.size())) {
    return;
  }
  const std::vector<double> inputs = pick_rows(rows.inputs, rows.input_names.size(), kept);
  const std::vector<double> targets = pick_rows(values, 1, kept);
  const TrainingRows positive{rows.input_names, {rows.target_names[d]}, inputs, targets};
  if (!choose_logarithms(options, positive, executor).empty()) {
    out.push_back(fmt::format(
        "'{}' is {:g} in row {}{}: without {} its logarithm would be fitted, which predicts the other values "
        "better; leave {} out if that is what you want",
        rows.target_names[d], values[without.front()], rows.row_number(without.front()) + 1,
        without.size() == 1 ? "" : fmt::format(", and not above 0 in {}", counted(without.size() - 1, "other row")),
        without.size() == 1 ? "it" : "them", without.size() == 1 ? "the row" : "the rows"));
  }
}

// Only for a table whose targets otherwise hardly ever repeat: if they are counts or classes, rows are alike by chance.
void warn_copies(const TrainingRows& rows, std::vector<std::string>& out) {
  const std::size_t D = rows.target_names.size();
  const std::vector<std::uint32_t> first = first_copies(rows);
  std::vector<std::size_t> copies;
  for (std::size_t row = 0; row < first.size(); ++row) {
    if (first[row] != row) {
      copies.push_back(row);
    }
  }
  if (copies.empty()) {
    return;
  }
  std::set<std::vector<double>> targets;
  for (std::size_t row = 0; row < first.size(); ++row) {
    if (first[row] == row) {
      const std::span<const double> own = rows.targets.subspan(row * D, D);
      targets.emplace(own.begin(), own.end());
    }
  }
  if (2 * targets.size() <= first.size() - copies.size()) {
    return;
  }
  out.push_back(
      fmt::format("{} there before, as row {} is row {} again: the fit takes {} for measured twice with the "
                  "same result; leave {} out if {}",
                  copies.size() == 1 ? "1 row was" : fmt::format("{} rows were", copies.size()),
                  rows.row_number(copies.front()) + 1, rows.row_number(first[copies.front()]) + 1,
                  copies.size() == 1 ? "it" : "them", copies.size() == 1 ? "it" : "them",
                  copies.size() == 1 ? "it is a copy" : "they are copies"));
}

// One value in all rows is more often a mistake than a measurement.
void warn_constant(const std::string& name, const std::vector<double>& values, std::vector<std::string>& out) {
  if (std::ranges::all_of(values, [&](double value) { return value == values.front(); })) {
    out.push_back(fmt::format("'{}' is {:g} in every row: there is nothing to learn", name, values.front()));
  }
}

}  // namespace

std::vector<std::string> fit_warnings(const Ensemble& model, const TrainingRows& rows, Executor* executor) {
  std::vector<std::string> out;
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  if (rows.targets.size() / D < kFewestRows) {
    return out;
  }
  warn_copies(rows, out);
  for (std::size_t d = 0; d < D; ++d) {
    warn_constant(rows.target_names[d], column_of(rows.targets, D, d), out);
  }
  for (std::size_t c = 0; c < C; ++c) {
    warn_outliers(rows.input_names[c], column_of(rows.inputs, C, c), rows, out);
  }
  const std::vector<std::uint8_t>& logarithm = model.columns().logarithm;
  for (std::size_t d = 0; d < D; ++d) {
    if (!logarithm.empty() && logarithm[d] != 0) {
      continue;  // far values do not count for much on a log scale
    }
    warn_outliers(rows.target_names[d], column_of(rows.targets, D, d), rows, out);
    if (model.options().log_targets == LogTargets::kAuto) {
      warn_zeros(model.options(), rows, d, executor, out);
    }
  }
  return out;
}

}  // namespace dissent
