// The table that people fill in: the rows that wait for their targets. Also, whether an earlier one may be replaced, or
// holds something that would be lost.
#pragma once

#include <string>

#include "dissent/loop/laboratory.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// `row`, the pool's columns, `why`, and the targets, all of them missing. Our names take underscores if the pool has
// them already. The table has the style of the pool, so that the spreadsheet that wrote the pool opens it.
Table question_table(const Laboratory& laboratory);

// InputError unless `table` is provably of no further use: it holds only rows that this campaign asked for, as it wrote
// them, and only targets that were told.
void check_told(const Table& table, const Laboratory& laboratory);

// Why a file must not be replaced, in words; empty if there is no file, the file is empty, or check_told() holds.
std::string why_not_replace(const std::string& path, const Laboratory& laboratory);

// Writes question_table() to a file, whole or not at all, unless the file must not be replaced; returns why not. It
// checks the file here even if that was done before a fit: somebody may have filled it in meanwhile.
std::string write_questions(const std::string& path, const Laboratory& laboratory);

}  // namespace dissent
