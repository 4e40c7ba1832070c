#include "dissent/table/csv_marks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dissent/table/csv_cell.hpp"

namespace dissent {

NumberText ColumnMarks::read_commas(std::string_view field, std::size_t row, double& value) {
  const bool grouped = is_grouped_by_commas(field);
  const bool is_number = parse_decimal_comma(field, value);
  if ((grouped || is_number) && !first_comma) {
    first_comma = row;
    comma_text = field;
  }
  any_fraction = any_fraction || (is_number && !grouped);
  any_large = any_large || (grouped && !is_number);  // 1,234,567
  any_word = any_word || (!grouped && !is_number);
  return is_number ? NumberText::kNumber : NumberText::kText;
}

void refuse_mixed_marks(std::span<const ColumnMarks> marks, Table& table) {
  bool any_decimal_comma = false;
  for (std::size_t k = 0; k < marks.size(); ++k) {
    any_decimal_comma = any_decimal_comma || (marks[k].any_fraction && !table.columns[k].is_text());
  }
  for (std::size_t k = 0; k < marks.size(); ++k) {
    Column& column = table.columns[k];
    const ColumnMarks& own = marks[k];
    if (any_decimal_comma && own.first_point && !own.any_point_fraction && !own.first_comma && !column.is_text()) {
      column.first_text_row = own.first_point;
      column.doubts_points = true;
      column.doubt =
          "may be thousands or a fraction, beside columns with decimal commas; write whole numbers without separators, "
          "and fractions with a comma";
      continue;
    }
    const bool thousands = own.first_comma && !own.any_fraction && !own.any_word && (own.any_large || own.any_point);
    if (column.values.empty() || !own.first_comma || (!own.any_point && !thousands)) {
      continue;
    }
    column.first_text_row = std::min(*own.first_comma, column.first_text_row.value_or(column.values.size()));
    if (thousands) {
      column.doubt =
          "may be thousands or a fraction; write whole numbers without separators, and fractions with a point";
    }
  }
}

void note_commas(std::span<const ColumnMarks> marks, Table& table) {
  for (std::size_t k = 0; k < marks.size(); ++k) {
    if (marks[k].first_comma && !table.columns[k].is_text()) {
      double value = 0;
      parse_decimal_comma(marks[k].comma_text, value);
      table.notes.push_back(fmt::format("{}: commas are read as decimal marks: {} of '{}' is {}", table.source,
                                        trimmed_cell(marks[k].comma_text), table.columns[k].name, value));
      return;
    }
  }
}

TextStyle style_of(std::span<const ColumnMarks> marks, const Table& table, char delimiter) {
  bool any_point = false;
  bool any_comma = false;
  for (std::size_t k = 0; k < marks.size(); ++k) {
    if (!table.columns[k].is_text()) {
      any_point = any_point || marks[k].any_point;
      any_comma = any_comma || marks[k].first_comma;
    }
  }
  return delimiter == ';' ? TextStyle{';', any_comma && !any_point} : TextStyle{};
}

}  // namespace dissent
