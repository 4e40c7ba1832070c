#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/csv_cell.hpp"
#include "dissent/table/text_file.hpp"

namespace dissent {
namespace {

// Fewest digits that read back to the same bits; nan and inf as words. After a decimal comma three digits would look
// like thousands, so 1.234 becomes 1,2340.
template <class T>
void append_number(std::string& line, T value, bool decimal_comma) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  if (decimal_comma) {
    std::replace(digits.data(), end, '.', ',');
  }
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  line += text;
  if (decimal_comma && is_grouped_by_commas(text)) {
    line += '0';
  }
}

bool needs_quotes(std::string_view text, std::string_view delimiters) {
  return text.empty() || text.front() == ' ' || text.front() == '\t' || text.back() == ' ' || text.back() == '\t' ||
         text.starts_with(kByteOrderMark) || text.find_first_of(delimiters) != std::string_view::npos ||
         text.find_first_of("\"\r\n") != std::string_view::npos;
}

}  // namespace

CsvText::CsvText(std::string source, const std::vector<std::string>& column_names, TextStyle style)
    : source_(std::move(source)), num_columns_(column_names.size()), style_(style) {
  const char delimiter = style.delimiter;
  check_in(source_, delimiter == ',' || delimiter == ';' || delimiter == '\t',
           "the delimiter must be ',', ';' or a tab");
  check_in(source_, !style.decimal_comma || delimiter != ',', "commas cannot be delimiters and decimal marks at once");
  check_column_names(column_names, source_);
  text_ = style.byte_order_mark ? kByteOrderMark : "";
  for (const std::string& name : column_names) {
    begin_field();
    put_text(name, ",;\t");
  }
  end_row();
}

void CsvText::begin_field() {
  if (num_fields_ > 0) {
    text_ += style_.delimiter;
  }
  ++num_fields_;
}

void CsvText::field(double value) {
  begin_field();
  append_number(text_, value, style_.decimal_comma);
}

void CsvText::field(float value) {
  begin_field();
  append_number(text_, value, style_.decimal_comma);
}

void CsvText::integer(std::string_view digits) {
  begin_field();
  text_ += digits;
}

void CsvText::field(std::string_view text) {
  begin_field();
  put_text(text, {&style_.delimiter, 1});
}

void CsvText::put_text(std::string_view text, std::string_view delimiters) {
  check_in(source_, text.find('\0') == std::string_view::npos, "text '{}' holds a zero byte, which CSV cannot carry",
           text.substr(0, text.find('\0')));
  if (!needs_quotes(text, delimiters)) {
    text_ += text;
    return;
  }
  text_ += '"';
  for (const char c : text) {
    text_ += c;
    if (c == '"') {
      text_ += '"';
    }
  }
  text_ += '"';
}

void CsvText::missing() {
  begin_field();
  if (num_columns_ == 1) {
    text_ += "\"\"";  // an empty line would be skipped by readers
  }
}

void CsvText::end_row() {
  check_in(source_, num_fields_ == num_columns_, "a row of {} fields was written to a table of {} columns", num_fields_,
           num_columns_);
  text_ += '\n';
  num_fields_ = 0;
}

CsvWriter::CsvWriter(const std::string& path, const std::vector<std::string>& column_names, TextStyle style)
    : path_(path), text_(path == kStandardStream ? "standard output" : path, column_names, style) {
  if (path != kStandardStream) {
    file_.emplace(path);
  }
}

void CsvWriter::end_row() {
  text_.end_row();
  if (file_) {
    file_->write(text_.text());
    text_.clear();
  }
}

void CsvWriter::commit() {
  check_in(path_, !text_.row_begun(), "the last row is not finished");
  if (file_) {
    file_->write(text_.text());  // the header of a table without rows
    file_->commit();
    return;
  }
  const std::string& text = text_.text();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail_system("standard output: cannot be written: {}", std::strerror(errno));
  }
}

namespace {

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    names.push_back(column.name);
  }
  return names;
}

}  // namespace

std::string format_csv(const Table& table, TextStyle style) {
  CsvText text(table.source, names_of(table),
               table.columns.size() > 1 ? style : TextStyle{.byte_order_mark = style.byte_order_mark});
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    for (const Column& column : table.columns) {
      put_cell(text, column, row);
    }
    text.end_row();
  }
  return text.text();
}

}  // namespace dissent
