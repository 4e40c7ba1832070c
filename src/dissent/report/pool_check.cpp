#include "dissent/report/pool_check.hpp"

#include <algorithm>

#include "dissent/base/check_in.hpp"
#include "dissent/loop/canonical_cells.hpp"
#include "dissent/loop/cell_match.hpp"

namespace dissent::report {

void check_pool(const Table& pool, const Table& chosen, std::span<const Column> inputs, const Campaign& campaign) {
  const Table known = canonical_cells(chosen, campaign.encoding);
  const Table given = canonical_cells(pool, campaign.encoding);
  for (std::size_t k = 0; k < std::min(known.num_rows, campaign.chosen.size()); ++k) {
    const std::size_t row = campaign.chosen[k].row;
    check_in(pool.source, row < pool.num_rows, "has {} rows, but the campaign chose row {}, from 0; give its pool",
             pool.num_rows, row);
    for (const Column& input : inputs) {
      if (!given.has(input.name)) {
        continue;
      }
      const Column& column = given.column(input.name);
      check_in(
          pool.source, same_cell(column, row, known.column(input.name), k),
          "is not the pool of the campaign: in row {}, from 0, '{}' is {}, but the campaign chose {}; give its pool",
          row, input.name, cell_text(column, row), cell_text(known.column(input.name), k));
    }
  }
}

}  // namespace dissent::report
