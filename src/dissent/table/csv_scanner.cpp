#include "dissent/table/csv_scanner.hpp"

namespace dissent {
namespace {

constexpr std::ptrdiff_t kReleaseBytes = std::ptrdiff_t{1} << 22;  // of the file, given back behind the reader

}  // namespace

CsvScanner::CsvScanner(std::string_view text, const std::string& source, char delimiter, std::size_t max_record_bytes,
                       const MappedFile* file)
    : begin_(text.data()),
      end_(text.data() + text.size()),
      source_(source),
      max_record_bytes_(max_record_bytes),
      file_(file),
      delimiter_(delimiter),
      at_(begin_),
      released_(begin_),
      line_begin_(begin_),
      record_begin_(begin_) {
  at_ += has_byte_order_mark() ? kByteOrderMark.size() : 0;
  read_separator_line();
  skip_blank_lines();
  check_in(source_, at_ != end_, "is empty; a header line with column names is required");
  delimiter_ = delimiter_ != 0 ? delimiter_ : detect_delimiter();
  check_delimiter();
  record_begin_ = at_;
}

// "sep=;", which Excel writes and reads before the header.
void CsvScanner::read_separator_line() {
  constexpr std::string_view kBegin = "sep=";
  const std::string_view text(at_, static_cast<std::size_t>(end_ - at_));
  const char* const behind = at_ + kBegin.size() + 1;
  if (delimiter_ == 0 && text.size() > kBegin.size() && text.starts_with(kBegin) && line_break(behind) != 0) {
    delimiter_ = behind[-1];
    at_ = behind + line_break(behind);
    next_line();
  }
}

void CsvScanner::check_delimiter() const {
  const char d = delimiter_;
  check_in(source_,
           d != '"' && d != '\n' && d != '\r' && d != ' ' && d != '.' && d != '+' && d != '-' &&
               !(d >= '0' && d <= '9') && !(d >= 'a' && d <= 'z') && !(d >= 'A' && d <= 'Z'),
           "'{}' cannot be the delimiter; it must not be able to occur in a number or end a line", d);
}

void CsvScanner::go_to(const Position& position) {
  at_ = position.at;
  released_ = at_;
  line_begin_ = position.line_begin;
  line_ = position.line;
}

void CsvScanner::skip_blank_lines() {
  while (const std::size_t length = line_break(at_)) {
    at_ += length;
    next_line();
  }
}

bool CsvScanner::begin_record() {
  skip_blank_lines();
  record_begin_ = at_;
  return at_ != end_;
}

void CsvScanner::end_record() {
  if (static_cast<std::size_t>(at_ - record_begin_) > max_record_bytes_) {
    fail_at(position(), "line is longer than {} bytes; is this a CSV file?", max_record_bytes_);
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

// How often each candidate occurs outside quotes in the record at p; moves p to the record's end. A quote opens only at
// the beginning of a field, or right after one that closed.
CsvScanner::Counts CsvScanner::count_delimiters(const char*& p) const {
  Counts counts{};
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

// The most frequent candidate in the header that the next line has equally often; without one, the most frequent; the
// comma if there is none. (A name may hold another: "depth, m;salt".)
char CsvScanner::detect_delimiter() const {
  const char* p = at_;
  const Counts header = count_delimiters(p);
  while (p != end_ && line_break(p) != 0) {
    p += line_break(p);
  }
  const Counts next = count_delimiters(p);
  const auto rank = [&](std::size_t k) { return std::pair(header[k] > 0 && header[k] == next[k], header[k]); };
  std::size_t best = 0;
  for (std::size_t k = 1; k < kDelimiters.size(); ++k) {
    best = rank(k) > rank(best) ? k : best;
  }
  return kDelimiters[best];
}

// The result lies in the file or, unescaped, in scratch_.
std::string_view CsvScanner::next_field() {
  if (at_quote()) {
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

std::string_view CsvScanner::quoted_field() {
  const Position open = position();
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
    fail_at(open, "the quote opened here is never closed");
  }
  ++at_;
  if (!at_field_end(at_)) {
    fail_at(position(), "text follows a closing quote; a quote inside a quoted field is written twice");
  }
  return scratch_;
}

void CsvScanner::fail_bad_byte() const {
  if (*at_ == '\0') {
    fail_at(position(), "zero byte; this is not a text file, or one in UTF-16: save it as UTF-8");
  }
  fail_at(position(), "carriage return without line feed; lines must end in LF or CRLF");
}

}  // namespace dissent
