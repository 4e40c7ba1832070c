// What kind each column of a table is, and how it becomes numbers (encoding.hpp): judged by its cells alone.
//
// Columns that nobody named as inputs are left out where they tell nothing: without a name (row numbers, as R and
// pandas write them), without a value, and texts that are nearly all different (identifiers). Of more than 50
// categories the most frequent keep a feature of their own. Each is told in one line.
#pragma once

#include <string>
#include <vector>

#include "dissent/table/encoding.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct FittedEncoding {
  TableEncoding encoding;         // of every input column; is_plain() where they are numbers alone
  std::vector<std::string> told;  // "cut: 5 categories, one-hot", one line a column that is no plain number
};

// From the labelled rows and, if given, the pool: its categories count too, so that a row of a kind that was never
// labelled is seen as such. InputError that names every column that cannot be judged, and says what to do.
FittedEncoding fit_encoding(const ColumnOptions& options, const Table& labelled, const Table* pool = nullptr);

}  // namespace dissent
