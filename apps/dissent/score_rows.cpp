#include "score_rows.hpp"

#include <algorithm>

#include "dissent/base/error.hpp"

namespace dissent::cli {

std::vector<std::string> column_prefixes(const std::vector<ScoreMethod>& methods) {
  std::vector<std::string> prefixes;
  for (const ScoreMethod& method : methods) {
    std::string prefix = methods.size() > 1 ? method.name + "_" : "";
    std::ranges::replace(prefix, ':', '_');
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

std::vector<std::string> column_names(const std::vector<ScoreMethod>& methods, Space space) {
  const std::vector<std::string> prefixes = column_prefixes(methods);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < methods.size(); ++k) {
    names.push_back(prefixes[k] + "epistemic");
    if (space == Space::kOutput) {
      names.push_back(prefixes[k] + "aleatoric");
      names.push_back(prefixes[k] + "total");
    }
    names.push_back(prefixes[k] + "log_deficit");
    for (const std::string_view extra : methods[k].extras) {
      names.push_back(fmt::format("{}{}", prefixes[k], extra));
    }
  }
  return names;
}

Columns columns_of(const std::vector<Uncertainty>& results, Space space) {
  Columns columns;
  for (const Uncertainty& result : results) {
    columns.emplace_back(result.epistemic);
    if (space == Space::kOutput) {
      columns.emplace_back(result.aleatoric);
      columns.emplace_back(result.total);
    }
    columns.emplace_back(result.log_deficit);
    for (const Uncertainty::Extra& extra : result.extras) {
      columns.emplace_back(extra.values);
    }
  }
  return columns;
}

bool TopScores::Before::operator()(const Row& a, const Row& b) const {
  if (a.log_deficit != b.log_deficit) {
    return a.log_deficit < b.log_deficit;
  }
  return a.epistemic != b.epistemic ? a.epistemic > b.epistemic : a.index < b.index;
}

void TopScores::add(std::size_t first, const Uncertainty& rank, const Columns& columns) {
  for (std::size_t n = 0; n < rank.size(); ++n) {
    const std::size_t slot = best_.offer({rank.epistemic[n], rank.log_deficit[n], first + n});
    if (slot == best_.kNone) {
      continue;
    }
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (slot == columns_[k].size()) {
        columns_[k].push_back(columns[k][n]);
      } else {
        columns_[k][slot] = columns[k][n];
      }
    }
  }
}

Rows TopScores::sorted() {
  Rows rows;
  const auto entries = best_.sorted();
  for (const auto& entry : entries) {
    rows.index.push_back(entry.row.index);
  }
  for (std::vector<double>& column : columns_) {
    const std::vector<double> by_slot = column;
    std::ranges::transform(entries, column.begin(), [&](const auto& entry) { return by_slot[entry.slot]; });
    rows.columns.emplace_back(column);
  }
  return rows;
}

}  // namespace dissent::cli
