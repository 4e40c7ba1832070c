// How one column becomes features, from its cells: categories, the fill of missing cells, and a line that describes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dissent/table/column_cells.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {

void set_dates(const DateCells& dates, ColumnCode& code);

// If there are more than 50, keeps the most frequent, and "other".
void set_categories(const ColumnCells& cells, ColumnCode& code);

// Fills with the median of the labelled rows, or of the pool if they have no values. `labelled_rows` are their numbers
// in the file, which an InputError names.
void set_fill(const ColumnCells& cells, std::span<const std::size_t> labelled_rows, ColumnCode& code);

// "5 categories, one-hot"; empty for numbers.
std::string kind_text(const ColumnCells& cells, const ColumnCode& code);

// "3 missing, filled with the median 2 and marked"; empty if none is missing.
std::string missing_text(const ColumnCells& cells, const ColumnCode& code);

}  // namespace dissent
