// Two passes at most. The first reads every field as a number, straight from the mapped file, and notes which columns
// hold text; only if there are any does a second one go over the file again to collect their text. So a numeric file
// costs one pass and no allocation per field.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/csv_cell.hpp"
#include "dissent/table/csv_marks.hpp"
#include "dissent/table/csv_scanner.hpp"
#include "dissent/table/text_bytes.hpp"

namespace dissent {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

class CsvParser {
 public:
  // `file` is the mapping that holds the text, or null.
  CsvParser(std::string_view text, const std::string& source, const CsvOptions& options, const MappedFile* file)
      : source_(source),
        text_columns_(options.text_columns),
        scan_(text, source, options.delimiter, options.max_record_bytes, file) {}

  Table parse() {
    Table table;
    table.source = source_;
    read_header(table);
    const CsvScanner::Position first_row = scan_.position();
    marks_.resize(table.columns.size());
    for (std::size_t k = 0; k < marks_.size(); ++k) {
      marks_[k].text_only = std::ranges::count(text_columns_, table.columns[k].name) > 0;
    }
    while (scan_.begin_record()) {
      read_numbers(table);
    }
    for (std::size_t k = 0; k < marks_.size() && table.num_rows > 0; ++k) {
      if (marks_[k].text_only) {
        table.columns[k].first_text_row = table.columns[k].first_text_row.value_or(0);
      }
    }
    refuse_mixed_marks(marks_, table);
    note_commas(marks_, table);
    table.style = style_of(marks_, table, scan_.delimiter());
    table.style.byte_order_mark = scan_.has_byte_order_mark();
    if (std::ranges::any_of(table.columns, &Column::is_text)) {
      scan_.go_to(first_row);
      read_text(table);
    }
    note_windows(table);
    return table;
  }

 private:
  // A field that is not UTF-8 is read as what Windows writes.
  std::string utf8(std::string_view field) {
    if (is_utf8(field)) [[likely]] {
      return std::string(field);
    }
    std::string text = utf8_of_windows(field);
    windows_text_ = windows_text_.empty() ? text : windows_text_;
    return text;
  }

  void note_windows(Table& table) const {
    constexpr std::size_t kShown = 40;
    if (!windows_text_.empty()) {
      const std::string shown = windows_text_.size() > kShown ? "" : fmt::format(": '{}'", windows_text_);
      table.notes.push_back(
          fmt::format("{}: text that is not UTF-8 is read as Windows-1252 (Latin-1){}", source_, shown));
    }
  }

  void read_header(Table& table) {
    const std::string where = fmt::format("{}:{}", source_, scan_.line());
    std::vector<std::string> names;
    do {
      const bool quoted = scan_.at_quote();
      const std::string_view name = scan_.next_field();
      names.push_back(utf8(quoted ? name : trimmed_cell(name)));
    } while (scan_.next_delimiter());
    scan_.end_record();
    table.columns.resize(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
      table.columns[k].unnamed = names[k].empty() || names[k].starts_with("Unnamed: ");  // as pandas calls them
      if (names[k].empty() && names.size() > 1) {
        names[k] = fmt::format("column {}", k + 1);
      }
      table.columns[k].name = names[k];
    }
    check_column_names(names, where);
  }

  void read_numbers(Table& table) {
    std::size_t k = 0;
    do {
      if (k == table.columns.size()) {
        fail_field_count(k, k);
      }
      read_number(table.columns[k], marks_[k], table.num_rows);
      ++k;
    } while (scan_.next_delimiter());
    if (k != table.columns.size()) {
      scan_.fail_at(scan_.position(), "expected {} fields, found {}", table.columns.size(), k);
    }
    scan_.end_record();
    ++table.num_rows;
  }

  // Counts on to the end of the record, to say how many fields there really are.
  [[noreturn]] void fail_field_count(std::size_t expected, std::size_t found) {
    const CsvScanner::Position extra = scan_.position();
    do {
      scan_.next_field();
      ++found;
    } while (scan_.next_delimiter());
    scan_.fail_at(extra, "expected {} fields, found {}", expected, found);
  }

  void read_number(Column& column, ColumnMarks& marks, std::size_t row) {
    const char* p = scan_.at();
    while (p != scan_.end() && *p == ' ') {
      ++p;
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(p, scan_.end(), value);
    if (error == std::errc() && scan_.at_field_end(stop) && !has_payload(value, stop)) [[likely]] {
      note_spelling({p, static_cast<std::size_t>(stop - p)}, value, column, marks, row);
      scan_.skip_to(stop);
      column.values.push_back(value);
      return;
    }
    read_unusual(column, marks, row);
  }

  void note_spelling(std::string_view text, double value, Column& column, ColumnMarks& marks, std::size_t row) const {
    if (scan_.delimiter() != ',') {
      marks.note(text, value, row);
    }
    if (is_spelled_otherwise(text, value)) {
      column.spellings.add(row, text);
    }
  }

  // Everything but a plain number: missing, quoted, text, or a number with a plus sign or spaces after it.
  void read_unusual(Column& column, ColumnMarks& marks, std::size_t row) {
    const CsvScanner::Position start = scan_.position();
    const std::string_view field = scan_.next_field();
    double value = kMissing;
    if (marks.text_only ? trimmed_cell(field).empty() : is_missing_text(field)) {
      column.missing_rows.push_back(row);
    } else {
      NumberText kind = parse_cell(field, value);
      if (kind == NumberText::kNumber) {
        note_spelling(trimmed_cell(field), value, column, marks, row);
      }
      if (kind == NumberText::kText && scan_.delimiter() != ',') {
        kind = marks.read_commas(field, row, value);
      }
      if (kind == NumberText::kOutOfRange && marks.text_only) {
        kind = NumberText::kText;
      }
      if (kind == NumberText::kOutOfRange) {
        scan_.fail_at(start, "'{}' is outside the range of float64", field.substr(0, 40));
      }
      if (kind == NumberText::kText && !column.is_text()) {
        column.first_text_row = row;
      }
    }
    column.values.push_back(value);
  }

  void read_text(Table& table) {
    for (Column& column : table.columns) {
      if (column.is_text()) {
        column.values = {};
        column.spellings = {};
        column.text.reserve(table.num_rows);
      }
    }
    while (scan_.begin_record()) {
      for (Column& column : table.columns) {
        const std::string_view field = scan_.next_field();
        if (column.is_text()) {
          column.text.push_back(utf8(field));
        }
        scan_.next_delimiter();
      }
      scan_.end_record();
    }
  }

  const std::string& source_;
  const std::vector<std::string>& text_columns_;
  CsvScanner scan_;
  std::vector<ColumnMarks> marks_;  // of each column
  std::string windows_text_ = {};   // the first field that was not UTF-8
};

}  // namespace

Table parse_csv(std::string_view text, const std::string& source, CsvOptions options) {
  return CsvParser(text, source, options, nullptr).parse();
}

Table read_csv(const std::string& path, CsvOptions options) {
  const MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  return CsvParser({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, options, &file).parse();
}

}  // namespace dissent
