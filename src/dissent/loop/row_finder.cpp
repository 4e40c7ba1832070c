#include "dissent/loop/row_finder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "dissent/table/encoding.hpp"

namespace dissent {

RowFinder::Index RowFinder::index_of(const Column& column, std::size_t num_rows) {
  Index index;
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (is_missing_cell(column, row)) {
      index.missing.push_back(row);
    } else if (const std::optional<double> number = number_in(column, row)) {
      index.numbers.emplace_back(*number, row);
    } else {
      index.texts[std::string(trimmed(column.text[row]))].push_back(row);
    }
  }
  std::ranges::sort(index.numbers);
  index.num_distinct = index.texts.size() + (index.missing.empty() ? 0 : 1);
  for (std::size_t k = 0; k < index.numbers.size(); ++k) {
    index.num_distinct += k == 0 || index.numbers[k].first != index.numbers[k - 1].first ? 1 : 0;
  }
  return index;
}

RowFinder::RowFinder(const Table& known, const std::vector<std::string>& names, CellRule is_same)
    : is_same_(is_same), num_rows_(known.num_rows), columns_(known.find(names)) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Index index = index_of(*columns_[c], num_rows_);
    if (c == 0 || index.num_distinct > index_.num_distinct) {
      index_ = std::move(index);
      indexed_ = c;
    }
  }
}

std::vector<std::size_t> RowFinder::candidates(const Column& column, std::size_t row) const {
  if (is_missing_cell(column, row)) {
    return index_.missing;
  }
  const std::optional<double> number = number_in(column, row);
  if (!number) {
    const auto found = index_.texts.find(std::string(trimmed(column.text[row])));
    return found == index_.texts.end() ? std::vector<std::size_t>() : found->second;
  }
  const double room = 2 * kRounding * std::abs(*number);  // no rule allows for more
  const auto first =
      std::ranges::lower_bound(index_.numbers, *number - room, {}, &std::pair<double, std::size_t>::first);
  std::vector<std::size_t> rows;
  for (auto at = first; at != index_.numbers.end() && at->first <= *number + room; ++at) {
    rows.push_back(at->second);
  }
  std::ranges::sort(rows);
  return rows;
}

std::vector<std::size_t> RowFinder::find(const Table& table, std::size_t row) const {
  std::vector<const Column*> own;
  for (const Column* column : columns_) {
    own.push_back(&table.column(column->name));
  }
  const auto matches = [&](std::size_t k, CellRule is_match) {
    for (std::size_t c = 0; c < own.size(); ++c) {
      if (!is_match(*columns_[c], k, *own[c], row)) {
        return false;
      }
    }
    return true;
  };
  std::vector<std::size_t> nearby(own.empty() ? num_rows_ : 0);
  std::iota(nearby.begin(), nearby.end(), std::size_t{0});
  if (!own.empty()) {
    nearby = candidates(*own[indexed_], row);
  }
  std::vector<std::size_t> equal;
  std::vector<std::size_t> same;
  for (const std::size_t k : nearby) {
    if (matches(k, is_same_)) {
      same.push_back(k);
      if (matches(k, equal_cell)) {
        equal.push_back(k);
      }
    }
  }
  return equal.empty() ? same : equal;
}

bool all_equal(const Table& table, std::span<const std::size_t> rows, const std::vector<std::string>& names) {
  return std::ranges::all_of(table.find(names), [&](const Column* column) {
    return std::ranges::all_of(rows, [&](std::size_t row) { return equal_cell(*column, row, *column, rows.front()); });
  });
}

}  // namespace dissent
