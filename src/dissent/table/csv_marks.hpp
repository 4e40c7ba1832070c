// Points and commas in the numbers of a table whose delimiter is not a comma: which are decimal marks, and which may be
// thousands.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dissent/table/csv.hpp"
#include "dissent/table/csv_cell.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// How a column is written.
struct ColumnMarks {
  bool text_only = false;  // as the options say
  bool any_point = false;
  bool any_word = false;                        // neither a number nor one with commas
  bool any_large = false;                       // whole numbers of three digits or more
  bool any_fraction = false;                    // commas that cannot be between thousands
  bool any_point_fraction = false;              // likewise points
  std::optional<std::size_t> first_point = {};  // the row
  std::optional<std::size_t> first_comma = {};  // the row
  std::string comma_text = {};                  // the field there

  // Notes a number without commas.
  void note(std::string_view text, double value, std::size_t row) {
    constexpr double kLarge = 100;  // with a comma for thousands, numbers next to it may have none
    const bool has_point = text.find('.') != std::string_view::npos;
    if (has_point && !any_point_fraction) {  // that most columns of fractions have at once
      any_point_fraction = !is_grouped_by_points(text);
      first_point = first_point.value_or(row);
    }
    any_point = any_point || has_point;
    any_large = any_large || (!has_point && std::abs(value) >= kLarge);
  }

  // Reads a field that is not a number without commas; sets `value` only for kNumber.
  NumberText read_commas(std::string_view field, std::size_t row, double& value);
};

// 1.234 beside 1,5 may be a thousand or a bit more than one, and so may 1,234 beside 731: then the numbers with a mark
// are text. The former also if the commas are another column's.
void refuse_mixed_marks(std::span<const ColumnMarks> marks, Table& table);

// One note per table, so that nobody thinks commas were read as thousands.
void note_commas(std::span<const ColumnMarks> marks, Table& table);

// A style that the spreadsheet which wrote the table opens again. A table with points in some numbers has no decimal
// commas.
TextStyle style_of(std::span<const ColumnMarks> marks, const Table& table, char delimiter);

}  // namespace dissent
