// How numbers are spelled in text, and how much of that is kept (table.hpp).
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "dissent/table/csv_cell.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kExactDigits = 15;  // this many always read back

// Whether a number, without its sign, is a fraction that to_chars() writes with the same digits.
bool is_plain_fraction(std::string_view digits) {
  const bool small = digits.starts_with("0.000");  // 1e-04
  const bool padded = digits.front() == '0' && digits[1] != '.';
  const bool begins = digits.front() >= '0' && digits.front() <= '9';
  return begins && !small && !padded && digits.back() != '0' && digits.back() != '.';
}

bool is_plain_whole(std::string_view digits) {
  return digits.size() <= kExactDigits && (digits.front() != '0' || digits.size() == 1) && !digits.ends_with("0000");
}

}  // namespace

void Spellings::add(std::size_t row, std::string_view text) {
  rows_.push_back(row);
  text_ += text;
  ends_.push_back(text_.size());
}

std::optional<std::string_view> Spellings::of(std::size_t row) const {
  if (rows_.empty()) {
    return std::nullopt;
  }
  const auto found = std::ranges::lower_bound(rows_, row);
  if (found == rows_.end() || *found != row) {
    return std::nullopt;
  }
  const auto k = static_cast<std::size_t>(found - rows_.begin());
  const std::size_t begin = k == 0 ? 0 : ends_[k - 1];
  return std::string_view(text_).substr(begin, ends_[k] - begin);
}

bool is_spelled_otherwise(std::string_view text, double value) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.find('.') != std::string_view::npos) {
    if (digits.size() > kExactDigits + 1 || is_plain_fraction(digits) ||
        digits.find_first_of("eE") != std::string_view::npos) {
      return false;
    }
  } else if (is_plain_whole(digits) && digits.find_first_not_of("0123456789") == std::string_view::npos) {
    return false;
  }
  std::array<char, 32> written;
  const auto [end, error] = std::to_chars(written.data(), written.data() + written.size(), value);
  return std::isfinite(value) && text != std::string_view(written.data(), end);
}

}  // namespace dissent
