// Rows with the same inputs: a batch has none twice, since a second label would tell no more than a repetition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dissent/base/random.hpp"

namespace dissent {

// Equal for equal inputs, and hardly ever for others. 0 and -0 are equal.
std::uint64_t row_digest(std::span<const double> row);
bool same_row(std::span<const double> a, std::span<const double> b);

// Rows [N][C] grouped into kinds with the same inputs. The cheapest row stands for its kind; the stream breaks ties.
// `cost`: [N], or empty.
struct DistinctRows {
  std::vector<std::size_t> rows;      // one of each kind
  std::vector<std::size_t> position;  // [N]: the row's kind, a position in `rows`
};
DistinctRows distinct_rows(std::span<const double> rows, std::size_t num_columns, std::span<const double> cost,
                           const Stream& stream);

}  // namespace dissent
