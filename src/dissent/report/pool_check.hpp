// Whether a table is the pool that a campaign chose from. `learn` keeps no copy, but chosen.csv has the inputs of the
// rows it chose.
#pragma once

#include <span>

#include "dissent/loop/campaign.hpp"
#include "dissent/table/table.hpp"

namespace dissent::report {

// `chosen` has the rows that the campaign chose, in order, with the input columns `inputs`. InputError, with the first
// difference, unless the pool has the same; columns that only one of the tables has are not compared.
void check_pool(const Table& pool, const Table& chosen, std::span<const Column> inputs, const Campaign& campaign);

}  // namespace dissent::report
