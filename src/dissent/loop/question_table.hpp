// The table that people fill in: the rows that wait for their targets. And whether one that was written before may be
// replaced, or holds something that would be lost.
#pragma once

#include <string>

#include "dissent/loop/laboratory.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// `row`, the pool's columns, `why`, and the targets, all of them missing. Ours take underscores where the pool has such
// a column. In the style of the pool, so that the spreadsheet that wrote that one opens this one.
Table question_table(const Laboratory& laboratory);

// InputError unless `table` is provably of no further use: rows that this campaign asked for as it wrote them, with no
// targets but those that were told.
void check_told(const Table& table, const Laboratory& laboratory);

// Why a file must not be replaced, in words; empty where there is none, or an empty one, or check_told() holds.
std::string why_not_replace(const std::string& path, const Laboratory& laboratory);

// Writes question_table() to a file, which receives it whole, unless it must not be replaced; why not is returned. The
// file is looked at here whatever was found before a fit: somebody may have filled it in meanwhile.
std::string write_questions(const std::string& path, const Laboratory& laboratory);

}  // namespace dissent
