// Rows of the same inputs: a batch has none of them twice, for the second label would tell no more than a repetition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dissent {

// Equal for equal inputs, and hardly ever for others. Both zeros are equal.
std::uint64_t row_digest(std::span<const double> row);
bool same_row(std::span<const double> a, std::span<const double> b);

// Rows [N][C], of which each stands for those after it that are the same.
struct DistinctRows {
  std::vector<std::size_t> first;     // the first of each kind, ascending
  std::vector<std::size_t> position;  // [N]: the row's kind, a position in `first`
};
DistinctRows distinct_rows(std::span<const double> rows, std::size_t num_columns);

}  // namespace dissent
