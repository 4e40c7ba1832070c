// A whole campaign, for other programs and for the archive: every labelled row with its source, and the rounds.
#pragma once

#include "dissent/base/value_json.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// A row for each labelled one, in the order of labelled_rows(), with the columns
//   source          given, chosen, unasked (of the pool, but nobody asked for it) or extra (not of the pool)
//   round, row      that chose it, and its number in the pool
//   the columns that inputs come from, as the tables have them, and the targets
//   the pool's other columns
//   score, epistemic, aleatoric, asked, told, why
// What does not apply is missing. If a table already has one of our names, ours takes underscores until it is free.
Table exported_rows(const Campaign& campaign, const Problem& data, const Table& pool);

// All of it: settings, columns, rounds, those rows, and rows that wait or were dropped.
Json exported_json(const Campaign& campaign, const Problem& data, const Table& pool);

}  // namespace dissent
