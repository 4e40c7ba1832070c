// Dates in tables, as days since 1970-01-01: 2020-03-01 (also with slashes), 1.3.2020, 1/3/2020 and 1-3-2020, and any
// of them with a time of day: "2020-03-01T14:30:00Z", "2020-03-01 14:30", an offset like +02:00. A time without one is
// taken as it is.
//
// The whole column decides which number of 1/3/2020 is the day: one greater than 12 settles it. With dots it is always
// the first.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dissent {

enum class DateOrder { kYearFirst, kDayFirst, kMonthFirst };

// None unless the text is a date in this order that the calendar has.
std::optional<double> parse_date(std::string_view text, DateOrder order);

struct DateColumn {
  bool are_dates = false;
  bool ambiguous = false;  // day or month first: nothing in the column tells
  DateOrder order = DateOrder::kYearFirst;
};

// Whether texts are dates, and in which order; empty texts do not count.
DateColumn judge_dates(std::span<const std::string> texts);

// "2020-03-01", with the time of day if it is not midnight, to the second.
std::string date_text(double days);

}  // namespace dissent
