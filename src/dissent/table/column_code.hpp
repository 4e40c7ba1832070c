// How one column becomes features, from its cells: categories, the fill of missing cells, and a line that tells it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dissent/table/column_cells.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {

void set_dates(const DateCells& dates, ColumnCode& code);

// Of more than 50 the most frequent, and "other".
void set_categories(const ColumnCells& cells, ColumnCode& code);

// The median of the labelled rows, or where they have none that of the pool. `labelled_rows` are their numbers in the
// file, which an InputError names.
void set_fill(const ColumnCells& cells, std::span<const std::size_t> labelled_rows, ColumnCode& code);

// "5 categories, one-hot"; empty for numbers.
std::string kind_text(const ColumnCells& cells, const ColumnCode& code);

// "3 missing, filled with the median 2 and marked"; empty where none is.
std::string missing_text(const ColumnCells& cells, const ColumnCode& code);

}  // namespace dissent
