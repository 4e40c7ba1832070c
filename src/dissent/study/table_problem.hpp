// A table of a grid as a problem: rows to begin with, test rows, and the rest as a pool. Internal.
#pragma once

#include "dissent/loop/settings.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/study/cell.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// data_seed draws the test rows, and the campaign's seed the first labelled ones from the rest. InputError if `all`
// lacks the rows or the columns that the cell asks for.
Problem table_problem(const Cell& cell, const CampaignSettings& settings, const Table& all);

}  // namespace dissent
