// CSV in and out, after RFC 4180: a header line, fields in "quotes" if they hold a delimiter, a quote ("" inside) or a
// line break, LF or CRLF. A byte order mark is skipped, and so are blank lines. A first line "sep=;", as Excel writes
// it, names the delimiter. Text is UTF-8; a field that is not is read as Windows-1252, and the table's notes say so.
//
// Numbers are read and written independently of the locale: decimal or scientific, an optional sign, and nan, inf or
// infinity in any case; spaces and quotes around them do not count. Anything else is text. A field is missing if it is
// empty or says NA, N/A, #N/A, null, ? or - in any case. A number beyond float64 (1e999, 1e-999) is an error: it is not
// rounded to infinity or zero. A column without a name is named by its place, "column 1".
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/file.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct CsvOptions {
  char delimiter = 0;                                   // 0: found in the header line, one of , ; and tab
  std::size_t max_record_bytes = std::size_t{1} << 24;  // a longer line is taken for a damaged file
  // Columns that are text whatever they hold: digits are not numbers there, and only an empty field is missing.
  std::vector<std::string> text_columns = {};
};

// InputError says where: "pool.csv:17:3: expected 5 fields, found 4" is line 17, byte 3 of that line, both from 1.
Table read_csv(const std::string& path, CsvOptions options = {});
Table parse_csv(std::string_view text, const std::string& source, CsvOptions options = {});

// Whether a field has no value: empty but for spaces, or NA, N/A, #N/A, null, ? or -.
bool is_missing_text(std::string_view field);

enum class NumberText { kNumber, kText, kOutOfRange };

// Reads one field by the rule above; sets `value` only for kNumber. Empty is kText.
NumberText parse_cell(std::string_view field, double& value);

// Rows as CSV text. Numbers are written with the fewest digits that read back to the same bits.
class CsvText {
 public:
  // Begins with the header line. `source` names the table in errors.
  CsvText(std::string source, const std::vector<std::string>& column_names, TextStyle style = {});

  void field(double value);
  void field(float value);
  void field(std::string_view text);
  void field(const char* text) { field(std::string_view(text)); }
  template <std::integral T>
  void field(T value) {
    integer(std::to_string(value));
  }
  void missing();

  // InputError unless the row has as many fields as there are columns.
  void end_row();

  bool row_begun() const { return num_fields_ > 0; }
  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  void integer(std::string_view digits);
  void begin_field();
  // In quotes if it holds one of the delimiters: in a header, any that a reader looks for.
  void put_text(std::string_view text, std::string_view delimiters);

  std::string source_;
  std::string text_;
  std::size_t num_columns_;
  std::size_t num_fields_ = 0;
  TextStyle style_;
};

// Writes row by row; the file appears, whole, on commit(). "-" is standard output, which then receives all of it.
//
//     CsvWriter writer("scores.csv", {"index", "epistemic"});
//     writer.row(0, 0.25);
//     writer.commit();
class CsvWriter {
 public:
  CsvWriter(const std::string& path, const std::vector<std::string>& column_names, TextStyle style = {});

  template <class T>
  void field(const T& value) {
    text_.field(value);
  }
  void missing() { text_.missing(); }
  void end_row();

  template <class... Fields>
  void row(const Fields&... fields) {
    (field(fields), ...);
    end_row();
  }

  void commit();

 private:
  std::optional<AtomicFile> file_;  // none: standard output
  std::string path_;
  CsvText text_;
};

// Writes one cell of a table to a CsvText or CsvWriter, as it was spelled. A missing cell that says so ("NA") stays as
// it is.
template <class Writer>
void put_cell(Writer& writer, const Column& column, std::size_t row) {
  if (column.is_missing(row) && (!column.is_text() || column.text[row].empty())) {
    writer.missing();
  } else if (column.is_text()) {
    writer.field(std::string_view(column.text[row]));
  } else if (const std::optional<std::string_view> spelling = column.spellings.of(row)) {
    writer.field(*spelling);
  } else {
    writer.field(column.values[row]);
  }
}

// In the style of the file it came from, if given. A single column has no delimiter to recognise it by, so it is
// written with points.
std::string format_csv(const Table& table, TextStyle style = {});

}  // namespace dissent
