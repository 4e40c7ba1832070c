// Two passes at most. The first reads every field as a number, straight from the mapped file, and notes which columns
// hold text; only if there are any does a second one go over the file again to collect their text. So a numeric file
// costs one pass and no allocation per field.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/csv_cell.hpp"

namespace dissent {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kLarge = 100;  // with a comma for thousands, numbers next to it may have none
constexpr std::string_view kDelimiters = ",;\t";
constexpr std::ptrdiff_t kReleaseBytes = std::ptrdiff_t{1} << 22;  // of the file, given back behind the reader

class CsvParser {
 public:
  // `file` is the mapping that holds the text, or null.
  CsvParser(std::string_view text, const std::string& source, CsvOptions options, const MappedFile* file)
      : begin_(text.data()), end_(text.data() + text.size()), source_(source), options_(options), file_(file) {}

  Table parse() {
    rewind();
    check_in(source_, at_ != end_, "is empty; a header line with column names is required");
    options_.delimiter = options_.delimiter != 0 ? options_.delimiter : detect_delimiter();
    check_delimiter();
    Table table;
    table.source = source_;
    read_header(table);
    const Position first_row{at_, line_begin_, line_};
    marks_.resize(table.columns.size());
    for (std::size_t k = 0; k < marks_.size(); ++k) {
      marks_[k].text_only = std::ranges::count(options_.text_columns, table.columns[k].name) > 0;
    }
    while (begin_record()) {
      read_numbers(table);
    }
    for (std::size_t k = 0; k < marks_.size() && table.num_rows > 0; ++k) {
      if (marks_[k].text_only) {
        table.columns[k].first_text_row = table.columns[k].first_text_row.value_or(0);
      }
    }
    refuse_mixed_marks(table);
    note_commas(table);
    if (std::any_of(table.columns.begin(), table.columns.end(), [](const Column& c) { return c.is_text(); })) {
      at_ = first_row.at;
      released_ = at_;
      line_begin_ = first_row.line_begin;
      line_ = first_row.line;
      read_text(table);
    }
    return table;
  }

 private:
  // How a column is written.
  struct ColumnMarks {
    bool text_only = false;  // as the options say
    bool any_point = false;
    bool any_word = false;                        // neither a number nor one with commas
    bool any_large = false;                       // whole numbers of three digits or more
    bool any_fraction = false;                    // commas that cannot be between thousands
    std::optional<std::size_t> first_comma = {};  // the row
    std::string comma_text = {};                  // what stands there
  };
  struct Position {
    const char* at;
    const char* line_begin;
    std::size_t line;
  };

  template <class... Args>
  [[noreturn]] void fail_at(const char* where, fmt::format_string<Args...> message, Args&&... args) const {
    fail_in(fmt::format("{}:{}:{}", source_, line_, where - line_begin_ + 1), "{}",
            fmt::format(message, std::forward<Args>(args)...));
  }

  void rewind() {
    at_ = begin_;
    released_ = begin_;
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with("\xEF\xBB\xBF")) {
      at_ += 3;
    }
    line_begin_ = begin_;
    line_ = 1;
    skip_blank_lines();
  }

  void check_delimiter() const {
    const char d = options_.delimiter;
    check_in(source_,
             d != '"' && d != '\n' && d != '\r' && d != ' ' && d != '.' && d != '+' && d != '-' &&
                 !(d >= '0' && d <= '9') && !(d >= 'a' && d <= 'z') && !(d >= 'A' && d <= 'Z'),
             "'{}' cannot be the delimiter; it must not be able to occur in a number or end a line", d);
  }

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

  bool at_field_end(const char* p) const { return p == end_ || *p == options_.delimiter || line_break(p) != 0; }

  void skip_blank_lines() {
    while (const std::size_t length = line_break(at_)) {
      at_ += length;
      next_line();
    }
  }

  void next_line() {
    ++line_;
    line_begin_ = at_;
  }

  bool begin_record() {
    skip_blank_lines();
    record_begin_ = at_;
    return at_ != end_;
  }

  // After the last field of a record: over the line break.
  void end_record() {
    if (static_cast<std::size_t>(at_ - record_begin_) > options_.max_record_bytes) {
      fail_at(at_, "line is longer than {} bytes; is this a CSV file?", options_.max_record_bytes);
    }
    if (const std::size_t length = line_break(at_)) {
      at_ += length;
      next_line();
    }
    if (at_ - released_ >= kReleaseBytes && file_ != nullptr) {
      file_->release(static_cast<std::size_t>(released_ - begin_), static_cast<std::size_t>(at_ - begin_));
      released_ = at_;
    }
  }

  // How often each candidate stands outside of quotes in the record at p, and where that ends. A quote opens at the
  // beginning of a field alone, or again behind one that closed.
  std::array<std::size_t, kDelimiters.size()> count_delimiters(const char*& p) const {
    std::array<std::size_t, kDelimiters.size()> counts{};
    bool quoted = false;
    for (bool can_open = true; p != end_ && (quoted || line_break(p) == 0); ++p) {
      const std::size_t k = kDelimiters.find(*p);
      const bool delimits = !quoted && k != std::string_view::npos;
      const bool closes = quoted && *p == '"';
      quoted = *p == '"' ? !quoted && can_open : quoted;
      can_open = delimits || closes;
      if (delimits) {
        ++counts[k];
      }
    }
    return counts;
  }

  // The most frequent candidate of the header that the next line has as often, or without one the most frequent; the
  // comma when there is none. (A name may hold another: "depth, m;salt".)
  char detect_delimiter() const {
    const char* p = at_;
    const std::array<std::size_t, kDelimiters.size()> header = count_delimiters(p);
    while (p != end_ && line_break(p) != 0) {
      p += line_break(p);
    }
    const std::array<std::size_t, kDelimiters.size()> next = count_delimiters(p);
    const auto rank = [&](std::size_t k) { return std::pair(header[k] > 0 && header[k] == next[k], header[k]); };
    std::size_t best = 0;
    for (std::size_t k = 1; k < kDelimiters.size(); ++k) {
      best = rank(k) > rank(best) ? k : best;
    }
    return kDelimiters[best];
  }

  // Reads the field at at_ as text and stops at what ends it. The result lies in the file or, unescaped, in scratch_.
  std::string_view next_field() {
    if (at_ != end_ && *at_ == '"') {
      return quoted_field();
    }
    const char* const first = at_;
    while (!at_field_end(at_)) {
      if (*at_ == '\0' || *at_ == '\r') [[unlikely]] {
        fail_bad_byte();
      }
      ++at_;
    }
    return {first, static_cast<std::size_t>(at_ - first)};
  }

  std::string_view quoted_field() {
    const Position open{at_, line_begin_, line_};
    scratch_.clear();
    for (++at_; at_ != end_; ++at_) {
      if (*at_ == '"') {
        if (at_ + 1 == end_ || at_[1] != '"') {
          break;
        }
        ++at_;
      } else if (*at_ == '\0') {
        fail_bad_byte();
      }
      scratch_ += *at_;
      if (*at_ == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      }
    }
    if (at_ == end_) {
      line_ = open.line;
      line_begin_ = open.line_begin;
      fail_at(open.at, "the quote opened here is never closed");
    }
    ++at_;
    if (!at_field_end(at_)) {
      fail_at(at_, "text follows a closing quote; a quote inside a quoted field is written twice");
    }
    return scratch_;
  }

  [[noreturn]] void fail_bad_byte() const {
    if (*at_ == '\0') {
      fail_at(at_, "zero byte; this is not a text file, or one in UTF-16: save it as UTF-8");
    }
    fail_at(at_, "carriage return without line feed; lines must end in LF or CRLF");
  }

  bool next_delimiter() {
    if (at_ != end_ && *at_ == options_.delimiter) {
      ++at_;
      return true;
    }
    return false;
  }

  void read_header(Table& table) {
    record_begin_ = at_;
    const std::string where = fmt::format("{}:{}", source_, line_);
    std::vector<std::string> names;
    do {
      const bool quoted = at_ != end_ && *at_ == '"';
      const std::string_view name = next_field();
      names.emplace_back(quoted ? name : trimmed_cell(name));
    } while (next_delimiter());
    end_record();
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
        fail_field_count(k, k, at_);
      }
      read_number(table.columns[k], marks_[k], table.num_rows);
      ++k;
    } while (next_delimiter());
    if (k != table.columns.size()) {
      fail_at(at_, "expected {} fields, found {}", table.columns.size(), k);
    }
    end_record();
    ++table.num_rows;
  }

  // Counts on to the end of the record, to say how many fields there really are.
  [[noreturn]] void fail_field_count(std::size_t expected, std::size_t found, const char* where) {
    const Position extra{where, line_begin_, line_};
    do {
      next_field();
      ++found;
    } while (next_delimiter());
    line_begin_ = extra.line_begin;
    line_ = extra.line;
    fail_at(extra.at, "expected {} fields, found {}", expected, found);
  }

  void read_number(Column& column, ColumnMarks& marks, std::size_t row) {
    const char* p = at_;
    while (p != end_ && *p == ' ') {
      ++p;
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(p, end_, value);
    if (error == std::errc() && at_field_end(stop) && !has_payload(value, stop)) [[likely]] {
      note_spelling({p, static_cast<std::size_t>(stop - p)}, value, column, marks, row);
      at_ = stop;
      column.values.push_back(value);
      return;
    }
    read_unusual(column, marks, row);
  }

  void note_spelling(std::string_view text, double value, Column& column, ColumnMarks& marks, std::size_t row) const {
    if (options_.delimiter != ',') {
      const bool has_point = text.find('.') != std::string_view::npos;
      marks.any_point = marks.any_point || has_point;
      marks.any_large = marks.any_large || (!has_point && std::abs(value) >= kLarge);
    }
    if (is_spelled_otherwise(text, value)) {
      column.spellings.add(row, text);
    }
  }

  // Everything but a plain number: missing, quoted, text, or a number with a plus sign or spaces behind it.
  void read_unusual(Column& column, ColumnMarks& marks, std::size_t row) {
    const Position start{at_, line_begin_, line_};
    const std::string_view field = next_field();
    double value = kMissing;
    if (marks.text_only ? trimmed_cell(field).empty() : is_missing_text(field)) {
      column.missing_rows.push_back(row);
    } else {
      NumberText kind = parse_cell(field, value);
      if (kind == NumberText::kNumber) {
        note_spelling(trimmed_cell(field), value, column, marks, row);
      }
      if (kind == NumberText::kText && options_.delimiter != ',') {
        kind = read_commas(field, marks, row, value);
      }
      if (kind == NumberText::kOutOfRange && marks.text_only) {
        kind = NumberText::kText;
      }
      if (kind == NumberText::kOutOfRange) {
        line_begin_ = start.line_begin;
        line_ = start.line;
        fail_at(start.at, "'{}' is outside the range of float64", field.substr(0, 40));
      }
      if (kind == NumberText::kText && !column.is_text()) {
        column.first_text_row = row;
      }
    }
    column.values.push_back(value);
  }

  NumberText read_commas(std::string_view field, ColumnMarks& marks, std::size_t row, double& value) const {
    const bool grouped = is_grouped_by_commas(field);
    const bool is_number = parse_decimal_comma(field, value);
    if ((grouped || is_number) && !marks.first_comma) {
      marks.first_comma = row;
      marks.comma_text = field;
    }
    marks.any_fraction = marks.any_fraction || (is_number && !grouped);
    marks.any_large = marks.any_large || (grouped && !is_number);  // 1,234,567
    marks.any_word = marks.any_word || (!grouped && !is_number);
    return is_number ? NumberText::kNumber : NumberText::kText;
  }

  // 1.234 beside 1,5 may be a thousand or a bit more than one, and so may 1,234 beside 731: the commas are text then.
  void refuse_mixed_marks(Table& table) const {
    for (std::size_t k = 0; k < marks_.size(); ++k) {
      Column& column = table.columns[k];
      const ColumnMarks& marks = marks_[k];
      const bool thousands =
          marks.first_comma && !marks.any_fraction && !marks.any_word && (marks.any_large || marks.any_point);
      if (column.values.empty() || !marks.first_comma || (!marks.any_point && !thousands)) {
        continue;
      }
      column.first_text_row = std::min(*marks.first_comma, column.first_text_row.value_or(column.values.size()));
      if (thousands) {
        column.doubt = fmt::format(
            "'{}' may be thousands or a fraction; write whole numbers without separators, and fractions with a point",
            marks.comma_text);
      }
    }
  }

  // Once for a table, so that nobody takes thousands for read.
  void note_commas(Table& table) const {
    for (std::size_t k = 0; k < marks_.size(); ++k) {
      if (marks_[k].first_comma && !table.columns[k].is_text()) {
        double value = 0;
        parse_decimal_comma(marks_[k].comma_text, value);
        table.notes.push_back(fmt::format("{}: commas are read as decimal marks: {} of '{}' is {}", source_,
                                          trimmed_cell(marks_[k].comma_text), table.columns[k].name, value));
        return;
      }
    }
  }

  void read_text(Table& table) {
    for (Column& column : table.columns) {
      if (column.is_text()) {
        column.values = {};
        column.spellings = {};
        column.text.reserve(table.num_rows);
      }
    }
    while (begin_record()) {
      for (Column& column : table.columns) {
        const std::string_view field = next_field();
        if (column.is_text()) {
          column.text.emplace_back(field);
        }
        next_delimiter();
      }
      end_record();
    }
  }

  const char* const begin_;
  const char* const end_;
  const std::string& source_;
  CsvOptions options_;
  const MappedFile* file_;
  const char* at_ = nullptr;
  const char* released_ = nullptr;
  const char* line_begin_ = nullptr;
  const char* record_begin_ = nullptr;
  std::size_t line_ = 1;
  std::string scratch_;
  std::vector<ColumnMarks> marks_;  // of each column
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
