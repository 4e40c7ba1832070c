#include "dissent/table/date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "dissent/table/csv_cell.hpp"

namespace dissent {
namespace {

constexpr double kSecondsPerDay = 86400;

// Takes the digits off the front of `text`, at most `most` of them; none if there are no digits.
std::optional<int> take_number(std::string_view& text, std::size_t most) {
  std::size_t length = 0;
  int number = 0;
  while (length < text.size() && length < most && text[length] >= '0' && text[length] <= '9') {
    number = 10 * number + (text[length] - '0');
    ++length;
  }
  text.remove_prefix(length);
  return length == 0 ? std::nullopt : std::optional(number);
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

// Three numbers with the same mark between them, and which mark.
struct Parts {
  std::array<int, 3> number;
  char mark;
};

std::optional<Parts> take_parts(std::string_view& text, bool year_first) {
  const std::string_view start = text;
  const std::optional<int> first = take_number(text, year_first ? 4 : 2);
  const bool whole_year = start.size() - text.size() == 4;
  const char mark = text.empty() ? '\0' : text.front();
  if (!first || (year_first && !whole_year) || (mark != '-' && mark != '/' && mark != '.')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const std::optional<int> second = take_number(text, 2);
  if (!second || !take(text, mark)) {
    return std::nullopt;
  }
  const std::size_t before = text.size();
  const std::optional<int> third = take_number(text, year_first ? 2 : 4);
  if (!third || (!year_first && before - text.size() != 4)) {
    return std::nullopt;
  }
  return Parts{{*first, *second, *third}, mark};
}

// "14:30", "14:30:05.25", each within its bound.
std::optional<double> take_clock(std::string_view& text) {
  const std::optional<int> hours = take_number(text, 2);
  if (!hours || *hours > 24 || !take(text, ':')) {
    return std::nullopt;
  }
  const std::optional<int> minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) {
    return std::nullopt;
  }
  double seconds = 3600.0 * *hours + 60.0 * *minutes;
  if (take(text, ':')) {
    const std::optional<int> whole = take_number(text, 2);
    if (!whole || *whole > 60) {
      return std::nullopt;
    }
    seconds += *whole;
    if (take(text, '.')) {
      double unit = 0.1;
      for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), unit /= 10) {
        seconds += unit * (text.front() - '0');
      }
    }
  }
  return seconds;
}

// Seconds after midnight of what follows a date; 0 if nothing does.
std::optional<double> time_of_day(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  if (!take(text, 'T') && !take(text, ' ')) {
    return std::nullopt;
  }
  const std::optional<double> seconds = take_clock(text);
  if (!seconds || text.empty() || text == "Z") {
    return seconds;
  }
  const double sign = text.front() == '+' ? -1 : 1;  // east of Greenwich the day begins earlier
  if (!take(text, '+') && !take(text, '-')) {
    return std::nullopt;
  }
  const std::optional<double> offset = take_clock(text);
  return offset && text.empty() ? std::optional(*seconds + sign * *offset) : std::nullopt;
}

}  // namespace

std::optional<double> parse_date(std::string_view text, DateOrder order) {
  text = trimmed_cell(text);
  const bool year_first = order == DateOrder::kYearFirst;
  const std::optional<Parts> parts = take_parts(text, year_first);
  if (!parts || (parts->mark == '.' && order != DateOrder::kDayFirst)) {
    return std::nullopt;
  }
  const auto& [first, second, third] = parts->number;
  const int year = year_first ? first : third;
  const int month = order == DateOrder::kMonthFirst ? first : second;
  const int day = year_first ? third : order == DateOrder::kDayFirst ? first : second;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const std::optional<double> seconds = time_of_day(text);
  if (!date.ok() || !seconds) {
    return std::nullopt;
  }
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) + *seconds / kSecondsPerDay;
}

DateColumn judge_dates(std::span<const std::string> texts) {
  std::array<bool, 3> fits{true, true, true};
  bool any = false;
  for (const std::string& text : texts) {
    if (trimmed_cell(text).empty()) {
      continue;
    }
    any = true;
    for (const DateOrder order : {DateOrder::kYearFirst, DateOrder::kDayFirst, DateOrder::kMonthFirst}) {
      bool& fit = fits[static_cast<std::size_t>(order)];
      fit = fit && parse_date(text, order).has_value();
    }
    if (std::ranges::none_of(fits, [](bool fit) { return fit; })) {
      return {};
    }
  }
  DateColumn column;
  column.are_dates = any;
  column.ambiguous = any && fits[1] && fits[2];
  column.order = fits[0] ? DateOrder::kYearFirst : fits[1] ? DateOrder::kDayFirst : DateOrder::kMonthFirst;
  return column;
}

std::string date_text(double days) {
  constexpr double kFarthest = 3e6;  // years with more than four digits are beyond calendars
  if (!(std::abs(days) < kFarthest)) {
    return fmt::format("{} days after 1970-01-01", days);
  }
  const auto seconds = static_cast<std::int64_t>(std::llround(days * 24 * 60 * 60));
  const auto whole = std::chrono::floor<std::chrono::days>(std::chrono::seconds(seconds));
  const std::chrono::year_month_day date{std::chrono::sys_days(whole)};
  const auto rest = seconds - std::chrono::seconds(whole).count();
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (rest != 0) {
    text += fmt::format(" {:02}:{:02}", rest / 3600, rest / 60 % 60);
  }
  if (rest % 60 != 0) {
    text += fmt::format(":{:02}", rest % 60);
  }
  return text;
}

}  // namespace dissent
