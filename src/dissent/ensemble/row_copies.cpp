#include "dissent/ensemble/row_copies.hpp"

#include <algorithm>
#include <compare>
#include <numeric>

namespace dissent {

std::vector<std::uint32_t> first_copies(const TrainingRows& rows) {
  const std::size_t C = rows.input_names.size();
  const std::size_t D = rows.target_names.size();
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    const auto input = [&](std::size_t row) { return rows.inputs.subspan(row * C, C); };
    const auto target = [&](std::size_t row) { return rows.targets.subspan(row * D, D); };
    const std::partial_ordering targets =
        std::lexicographical_compare_three_way(target(a).begin(), target(a).end(), target(b).begin(), target(b).end());
    return targets != 0 ? targets
                        : std::lexicographical_compare_three_way(input(a).begin(), input(a).end(), input(b).begin(),
                                                                 input(b).end());
  };
  std::vector<std::uint32_t> order(rows.targets.size() / D);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return compare(a, b) < 0; });
  std::vector<std::uint32_t> first(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool is_copy = k > 0 && compare(order[k - 1], order[k]) == 0;
    first[order[k]] = is_copy ? first[order[k - 1]] : order[k];
  }
  return first;
}

}  // namespace dissent
