// The cells of one column, from the labelled rows and the pool, and what they look like: words for true and false,
// dates, or numbers with mistakes among them (which encoding_fit.hpp decides by).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dissent/table/date.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct ColumnCells {
  const Column* labelled = nullptr;
  const Column* pool = nullptr;
  std::size_t num_rows = 0;
  std::size_t num_missing = 0;          // of the labelled rows
  std::size_t num_missing_in_pool = 0;  // of the others
  bool is_text = false;
  std::map<std::string, std::size_t> counts = {};  // of each text; columns of only numbers are not counted

  std::size_t num_present() const { return num_rows - num_missing - num_missing_in_pool; }
  bool any_missing() const { return num_missing + num_missing_in_pool > 0; }
};

// Why a column is refused, and where the first cell at fault is: among the labelled rows or in the pool. Nothing of
// that for a column without fault. What finds one takes the numbers that labelled rows have in their file, for it may
// have others; empty: it has no others.
struct CellFault {
  std::string text = {};
  const Column* column = nullptr;

  bool found() const { return column != nullptr; }
};

// All cells that are not missing, as text, from top to bottom.
std::vector<std::string> present_cells(const Column& column);

ColumnCells collect_cells(const Column& labelled, const Column* pool, bool as_text);

// Whether cells are words of one pair, such as yes and no: both must occur, unless one is unmistakable by itself (true,
// false, yes, no).
bool are_booleans(const ColumnCells& cells);

// Dates of one style in each table, not necessarily the same; or why they are refused: ambiguous, of several styles, or
// only mostly dates. Neither for any other column.
struct DateCells {
  bool are_dates = false;
  DateOrder order = DateOrder::kYearFirst;  // of the labelled rows
  double earliest = 0;                      // whole days since 1970-01-01
  CellFault fault = {};
};
DateCells judge_date_cells(const ColumnCells& cells, std::span<const std::size_t> labelled_rows);

// A few cells of text in a column of numbers.
CellFault find_mistake(const ColumnCells& cells, std::span<const std::size_t> labelled_rows);

// Numbers with signs or units, and (`also_times`) dates and times that parse_date() does not read. Nearly all of their
// cells differ, like those of identifiers.
CellFault find_unread(const ColumnCells& cells, std::span<const std::size_t> labelled_rows, bool also_times);

}  // namespace dissent
