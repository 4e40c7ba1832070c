// Walks over CSV text (csv.hpp) field by field, and keeps its position, for callers that read numbers straight from the
// text and for messages.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/file.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

class CsvScanner {
 public:
  struct Position {
    const char* at;
    const char* line_begin;
    std::size_t line;
  };

  // `file` is the mapping that holds the text, or null. If no delimiter is given, it is found: from Excel's first line
  // "sep=;", else from the header. Starts at the header.
  CsvScanner(std::string_view text, const std::string& source, char delimiter, std::size_t max_record_bytes,
             const MappedFile* file);

  char delimiter() const { return delimiter_; }
  bool has_byte_order_mark() const { return std::string_view(begin_, end_).starts_with(kByteOrderMark); }
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  Position position() const { return {at_, line_begin_, line_}; }
  std::size_t line() const { return line_; }

  void go_to(const Position& position);
  // Skips a field that was read from the text itself.
  void skip_to(const char* field_end) { at_ = field_end; }

  // Whether there is another record; if so, stands at its first field.
  bool begin_record();
  // After the last field of a record: skips the line break.
  void end_record();

  bool at_field_end(const char* p) const { return p == end_ || *p == delimiter_ || line_break(p) != 0; }

  // Reads a field as text and stops at what ends it. The result is valid until the next call.
  std::string_view next_field();
  bool at_quote() const { return at_ != end_ && *at_ == '"'; }

  // Skips the delimiter; false if the record ends here.
  bool next_delimiter() {
    if (at_ != end_ && *at_ == delimiter_) {
      ++at_;
      return true;
    }
    return false;
  }

  // InputError with the line and byte of a position.
  template <class... Args>
  [[noreturn]] void fail_at(const Position& where, fmt::format_string<Args...> message, Args&&... args) const {
    fail_in(fmt::format("{}:{}:{}", source_, where.line, where.at - where.line_begin + 1), "{}",
            fmt::format(message, std::forward<Args>(args)...));
  }

 private:
  static constexpr std::string_view kDelimiters = ",;\t";
  using Counts = std::array<std::size_t, kDelimiters.size()>;

  // Length of the line break at p: 0 if there is none.
  std::size_t line_break(const char* p) const {
    if (p == end_) {
      return 0;
    }
    if (*p == '\n') {
      return 1;
    }
    return *p == '\r' && p + 1 != end_ && p[1] == '\n' ? 2 : 0;
  }

  void next_line() {
    ++line_;
    line_begin_ = at_;
  }

  void skip_blank_lines();
  void read_separator_line();
  Counts count_delimiters(const char*& p) const;
  char detect_delimiter() const;
  void check_delimiter() const;
  std::string_view quoted_field();
  [[noreturn]] void fail_bad_byte() const;

  const char* const begin_;
  const char* const end_;
  const std::string& source_;
  const std::size_t max_record_bytes_;
  const MappedFile* file_;
  char delimiter_;
  const char* at_;
  const char* released_;
  const char* line_begin_;
  const char* record_begin_;
  std::size_t line_ = 1;
  std::string scratch_;
};

}  // namespace dissent
