// The table that people fill in: the rows that wait for their targets. And whether one that was written before may be
// replaced, or holds something that would be lost.
#pragma once

#include "dissent/loop/laboratory.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// `row`, the pool's columns, `why`, and the targets, all of them missing. Ours take underscores where the pool has such
// a column.
Table question_table(const Laboratory& laboratory);

// InputError unless `table` is provably of no further use: rows that this campaign asked for as it wrote them, with no
// targets but those that were told.
void check_told(const Table& table, const Laboratory& laboratory);

}  // namespace dissent
