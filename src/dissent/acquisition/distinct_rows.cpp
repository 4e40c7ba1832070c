#include "dissent/acquisition/distinct_rows.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/digest.hpp"

namespace dissent {

std::uint64_t row_digest(std::span<const double> row) {
  Digest digest;
  for (const double value : row) {
    digest.add_word(std::bit_cast<std::uint64_t>(value + 0.0));  // -0 + 0 is 0
  }
  return digest.value();
}

bool same_row(std::span<const double> a, std::span<const double> b) { return std::ranges::equal(a, b); }

DistinctRows distinct_rows(std::span<const double> rows, std::size_t num_columns, std::span<const double> cost,
                           const Stream& stream) {
  const std::size_t num_rows = rows.size() / num_columns;
  const auto row = [&](std::size_t n) { return rows.subspan(n * num_columns, num_columns); };
  DistinctRows result;
  result.position.resize(num_rows);
  std::unordered_multimap<std::uint64_t, std::size_t> kinds;  // digest to position in `rows`
  kinds.reserve(num_rows);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const std::uint64_t digest = row_digest(row(n));
    const auto [begin, end] = kinds.equal_range(digest);
    const auto found =
        std::find_if(begin, end, [&](const auto& kind) { return same_row(row(n), row(result.rows[kind.second])); });
    if (found != end) {
      std::size_t& standing = result.rows[found->second];
      const auto ranked = [&](std::size_t k) { return Ranked{.score = cost.empty() ? 0 : -cost[k], .row = k}; };
      standing = goes_before(stream, ranked(n), ranked(standing)) ? n : standing;
      result.position[n] = found->second;
    } else {
      result.position[n] = result.rows.size();
      kinds.emplace(digest, result.rows.size());
      result.rows.push_back(n);
    }
  }
  return result;
}

}  // namespace dissent
