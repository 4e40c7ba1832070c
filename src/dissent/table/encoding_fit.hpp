// What kind each column of a table is, and how it becomes numbers (encoding.hpp), judged only by its cells.
//
// Columns that nobody named as inputs are left out if they tell nothing: without a name (row numbers, as R and pandas
// write them), without a value, texts that are all the same, and texts that are mostly different (identifiers). If
// there are more than 50 categories, the most frequent keep a feature of their own. Each gets one line.
#pragma once

#include <string>
#include <vector>

#include "dissent/table/encoding.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct FittedEncoding {
  TableEncoding encoding;         // of every input column; is_plain() if they are only numbers
  std::vector<std::string> told;  // "cut: 5 categories, one-hot", one line per column that is not a plain number
};

// Fits to the labelled rows and, if given, the pool: its categories count too, so that a row of a kind that was never
// labelled is recognised. InputError names every column that cannot be judged, and says what to do.
FittedEncoding fit_encoding(const ColumnOptions& options, const Table& labelled, const Table* pool = nullptr);

}  // namespace dissent
