#include "score_rows.hpp"

#include <algorithm>
#include <numeric>

#include "dissent/base/error.hpp"

namespace dissent::cli {

std::vector<std::string> column_prefixes(const std::vector<Estimator>& estimators) {
  std::vector<std::string> prefixes;
  for (const Estimator& estimator : estimators) {
    std::string prefix = estimators.size() > 1 ? estimator.name() + "_" : "";
    std::ranges::replace(prefix, ':', '_');
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

std::vector<std::string> column_names(const std::vector<Estimator>& estimators) {
  const std::vector<std::string> prefixes = column_prefixes(estimators);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < estimators.size(); ++k) {
    // The extras are what the estimator says of no inputs at all.
    const Uncertainty none = estimate(estimators[k], MixtureView<double>{0, 1, 1}, Weights::uniform(1));
    for (const char* name : {"epistemic", "aleatoric", "total", "log_deficit"}) {
      names.push_back(prefixes[k] + name);
    }
    for (const Uncertainty::Extra& extra : none.extras) {
      names.push_back(prefixes[k] + extra.name);
    }
  }
  return names;
}

Columns columns_of(const std::vector<Uncertainty>& results) {
  Columns columns;
  for (const Uncertainty& result : results) {
    for (const std::vector<double>* column :
         {&result.epistemic, &result.aleatoric, &result.total, &result.log_deficit}) {
      columns.emplace_back(*column);
    }
    for (const Uncertainty::Extra& extra : result.extras) {
      columns.emplace_back(extra.values);
    }
  }
  return columns;
}

namespace {

constexpr std::size_t kMinSpare = 1024;  // rows beyond K that are worth a cut

}  // namespace

bool TopRows::before(std::size_t a, std::size_t b) const {
  if (more_uncertain(rank_, a, b)) {
    return true;
  }
  return !more_uncertain(rank_, b, a) && index_[a] < index_[b];
}

void TopRows::add(std::size_t first, const Columns& columns) {
  const std::span<const double> epistemic = columns[0];
  const std::span<const double> log_deficit = columns[3];
  const std::size_t limit = k_ + std::max(k_, kMinSpare);
  for (std::size_t n = 0; n < epistemic.size(); ++n) {
    rank_.epistemic.push_back(epistemic[n]);
    rank_.log_deficit.push_back(log_deficit[n]);
    index_.push_back(first + n);
    if (full_ && !before(index_.size() - 1, worst_)) {
      rank_.epistemic.pop_back();
      rank_.log_deficit.pop_back();
      index_.pop_back();
      continue;
    }
    for (std::size_t k = 0; k < columns.size(); ++k) {
      columns_[k].push_back(columns[k][n]);
    }
    if (index_.size() >= limit) {
      keep_best();
    }
  }
}

// Cutting 2 K rows down to K takes time in proportion to K, and comes after at least K new ones.
void TopRows::keep_best() {
  std::vector<std::size_t> order(index_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [this](std::size_t a, std::size_t b) { return before(a, b); };
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(k_ - 1), less);
  order.resize(k_);
  const auto pick = [&order](auto& values) {
    auto kept = values;
    kept.resize(order.size());
    std::ranges::transform(order, kept.begin(), [&values](std::size_t n) { return values[n]; });
    values = std::move(kept);
  };
  pick(rank_.epistemic);
  pick(rank_.log_deficit);
  pick(index_);
  for (std::vector<double>& column : columns_) {
    pick(column);
  }
  worst_ = k_ - 1;
  full_ = true;
}

Rows TopRows::sorted() {
  if (index_.size() > k_) {
    keep_best();
  }
  std::vector<std::size_t> order(index_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [this](std::size_t a, std::size_t b) { return before(a, b); });
  const auto permute = [&order](auto& values) {
    const auto old = values;
    std::ranges::transform(order, values.begin(), [&old](std::size_t n) { return old[n]; });
  };
  permute(rank_.epistemic);
  permute(rank_.log_deficit);
  permute(index_);
  Rows rows;
  for (std::vector<double>& column : columns_) {
    permute(column);
    rows.columns.emplace_back(column);
  }
  rows.index = index_;
  full_ = false;  // the K-th best is the last now; nothing is added after this
  return rows;
}

}  // namespace dissent::cli
