#include <array>
#include <charconv>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

// Fewest digits that read back to the same bits; nan and inf as words.
template <class T>
void append_number(std::string& line, T value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  line.append(digits.data(), end);
}

bool needs_quotes(std::string_view text, char delimiter) {
  return text.empty() || text.front() == ' ' || text.front() == '\t' || text.back() == ' ' || text.back() == '\t' ||
         text.starts_with("\xEF\xBB\xBF") || text.find(delimiter) != std::string_view::npos ||
         text.find_first_of("\"\r\n") != std::string_view::npos;
}

}  // namespace

CsvWriter::CsvWriter(const std::string& path, std::vector<std::string> column_names, char delimiter)
    : file_(path), num_columns_(column_names.size()), delimiter_(delimiter) {
  check(delimiter == ',' || delimiter == ';' || delimiter == '\t', "{}: the delimiter must be ',', ';' or a tab", path);
  check_column_names(column_names, path);
  for (const std::string& name : column_names) {
    field(std::string_view(name));
  }
  end_row();
}

void CsvWriter::begin_field() {
  if (num_fields_ > 0) {
    line_ += delimiter_;
  }
  ++num_fields_;
}

void CsvWriter::field(double value) {
  begin_field();
  append_number(line_, value);
}

void CsvWriter::field(float value) {
  begin_field();
  append_number(line_, value);
}

void CsvWriter::integer(std::string_view digits) {
  begin_field();
  line_ += digits;
}

void CsvWriter::field(std::string_view text) {
  begin_field();
  put_text(text);
}

void CsvWriter::put_text(std::string_view text) {
  check(text.find('\0') == std::string_view::npos, "{}: text '{}' holds a zero byte, which CSV cannot carry",
        file_.path(), text.substr(0, text.find('\0')));
  if (!needs_quotes(text, delimiter_)) {
    line_ += text;
    return;
  }
  line_ += '"';
  for (const char c : text) {
    line_ += c;
    if (c == '"') {
      line_ += '"';
    }
  }
  line_ += '"';
}

void CsvWriter::missing() {
  begin_field();
  if (num_columns_ == 1) {
    line_ += "\"\"";  // an empty line would be skipped by readers
  }
}

void CsvWriter::end_row() {
  check(num_fields_ == num_columns_, "{}: a row of {} fields was written to a table of {} columns", file_.path(),
        num_fields_, num_columns_);
  line_ += '\n';
  file_.write(line_);
  line_.clear();
  num_fields_ = 0;
}

void CsvWriter::commit() {
  check(num_fields_ == 0, "{}: the last row is not finished", file_.path());
  file_.commit();
}

void write_csv(const std::string& path, const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    names.push_back(column.name);
  }
  CsvWriter writer(path, std::move(names));
  std::vector<std::size_t> next_missing(table.columns.size(), 0);
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      const Column& column = table.columns[k];
      std::size_t& next = next_missing[k];
      if (next < column.missing_rows.size() && column.missing_rows[next] == row) {
        ++next;
        writer.missing();
      } else if (column.is_text()) {
        writer.field(std::string_view(column.text[row]));
      } else {
        writer.field(column.values[row]);
      }
    }
    writer.end_row();
  }
  writer.commit();
}

}  // namespace dissent
