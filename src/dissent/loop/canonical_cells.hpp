// Cells that mean the same, written the same. Programs rewrite what they pass on: pandas writes False for FALSE,
// spreadsheets 16.08.2024 for 2024-08-16. Before rows are compared (row_match.hpp), both tables go through this.
//
//   boolean   true or false
//   date      as the encoding reads it; the day may be written in any way that leaves no doubt
//   others    as they stand; cell_match.hpp compares numbers and trimmed texts
#pragma once

#include "dissent/table/encoding.hpp"

namespace dissent {

// The table with the booleans and dates of `encoding` each written in one way. Other cells stay as they are.
Table canonical_cells(Table table, const TableEncoding& encoding);

}  // namespace dissent
