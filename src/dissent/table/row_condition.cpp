#include "dissent/table/row_condition.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/table/column_cells.hpp"
#include "dissent/table/date.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {
namespace {

using Operator = RowCondition::Operator;

// Longer ones first, so that <= is not read as <.
constexpr std::array<std::pair<std::string_view, Operator>, 7> kOperators{{
    {"<=", Operator::kLessEqual},
    {">=", Operator::kGreaterEqual},
    {"!=", Operator::kNotEqual},
    {"==", Operator::kEqual},
    {"<", Operator::kLess},
    {">", Operator::kGreater},
    {"=", Operator::kEqual},
}};

// The first place outside quotes where `found` holds for the rest of the text; the text's size if there is none.
template <class Found>
std::size_t find_unquoted(std::string_view text, const Found& found) {
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '"') {
      quoted = !quoted;
    } else if (!quoted && found(text.substr(k))) {
      return k;
    }
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  const bool in_quotes = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return std::string(in_quotes ? text.substr(1, text.size() - 2) : text);
}

RowCondition parse_condition(std::string_view argument, std::string_view text) {
  const auto operator_at = [](std::string_view rest) {
    return std::ranges::find_if(kOperators, [&](const auto& entry) { return rest.starts_with(entry.first); });
  };
  const std::size_t at =
      find_unquoted(text, [&](std::string_view rest) { return operator_at(rest) != kOperators.end(); });
  check_argument(at < text.size(), argument, text,
                 "a condition is a column, one of < <= > >= = !=, and a value, as in depth<=70 or site=A");
  const auto& [sign, relation] = *operator_at(text.substr(at));
  RowCondition condition{unquoted(text.substr(0, at)), relation, unquoted(text.substr(at + sign.size())),
                         std::string(trimmed(text)), argument == "require"};
  check_argument(!condition.column.empty(), argument, text, "it names no column; write it as in depth<=70");
  check_argument(!condition.value.empty(), argument, text, "it has no value to compare with; write it as in depth<=70");
  return condition;
}

// A cell that is neither less nor greater nor equal, like NaN, is different.
bool compare(Operator relation, double cell, double value) {
  switch (relation) {
    case Operator::kLess:
      return cell < value;
    case Operator::kLessEqual:
      return cell <= value;
    case Operator::kGreater:
      return cell > value;
    case Operator::kGreaterEqual:
      return cell >= value;
    case Operator::kEqual:
      return cell == value;
    case Operator::kNotEqual:
      return !(cell == value);
  }
  return false;
}

const Column& find_column(const Table& table, const std::string& name) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (column.name == name) {
      return column;
    }
    names.push_back(column.name);
  }
  const std::string near = did_you_mean(name, names);
  fail("has no column '{}'{}{}", name, near, near.empty() ? fmt::format("; it has: {}", fmt::join(names, ", ")) : "");
}

// The days of a column of dates, NaN where they are missing; none for any other column.
struct Days {
  std::vector<double> cells;
  DateOrder order;
};

std::optional<Days> days_of(const Column& column) {
  const DateColumn dates = judge_dates(present_cells(column));
  if (!column.is_text() || !dates.are_dates || dates.ambiguous) {
    return std::nullopt;
  }
  Days days{{}, dates.order};
  for (std::size_t row = 0; row < column.text.size(); ++row) {
    const std::optional<double> day = parse_date(cell_of(column, row), dates.order);
    days.cells.push_back(day.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return days;
}

std::optional<double> parse_day(const std::string& value, DateOrder order) {
  const std::optional<double> day = parse_date(value, DateOrder::kYearFirst);
  return day ? day : parse_date(value, order);
}

// Equal, or both the same truth word, like TRUE and true.
bool same_text(const std::string& cell, const std::string& value) {
  std::size_t pair = 0;
  std::size_t other = 0;
  const int truth = boolean_value(value, &pair);
  return cell == value || (truth >= 0 && boolean_value(cell, &other) == truth && pair == other);
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); }, [](unsigned char c) { return std::tolower(c); });
}

// "'site' has A, B, C", and which of them may be meant.
std::string values_text(const Column& column, const std::string& value) {
  constexpr std::size_t kMostNamed = 10;
  constexpr std::size_t kShort = 3;  // every value is near to one or two letters
  const std::vector<std::string> cells = present_cells(column);
  const std::set<std::string> different(cells.begin(), cells.end());
  std::vector<std::string> names(different.begin(), different.end());
  const auto typed = std::ranges::find_if(names, [&](const std::string& name) { return same_letters(name, value); });
  const std::string near = typed != names.end()     ? fmt::format("; did you mean '{}'?", *typed)
                           : value.size() >= kShort ? did_you_mean(value, names)
                                                    : "";
  const std::size_t num_more = names.size() - std::min(names.size(), kMostNamed);
  names.resize(names.size() - num_more);
  return fmt::format("column '{}' has {}{}{}", column.name, fmt::join(names, ", "),
                     num_more == 0 ? "" : fmt::format(" and {} more", num_more), near);
}

// "column 'depth' has 12 to 70"
std::string range_text(const Column& column) {
  std::vector<double> numbers = column.values;
  std::erase_if(numbers, [](double value) { return std::isnan(value); });
  if (numbers.empty()) {
    return fmt::format("column '{}' has no values", column.name);
  }
  const auto [least, most] = std::ranges::minmax(numbers);
  return least == most ? fmt::format("column '{}' has {} in every row", column.name, least)
                       : fmt::format("column '{}' has {} to {}", column.name, least, most);
}

std::vector<std::uint8_t> holds_for_days(const RowCondition& condition, const Days& days) {
  const std::optional<double> day = parse_day(condition.value, days.order);
  check(day.has_value(), "column '{}' has dates, and '{}' is none; write it as 2024-05-01: {}", condition.column,
        condition.value, condition.text);
  std::vector<std::uint8_t> result;
  for (const double cell : days.cells) {
    result.push_back(compare(condition.relation, cell, *day) ? 1 : 0);
  }
  return result;
}

std::vector<std::uint8_t> holds_for_text(const RowCondition& condition, const Column& cells) {
  const bool by_order = condition.relation != Operator::kEqual && condition.relation != Operator::kNotEqual;
  const std::optional<Days> days = days_of(cells);
  if (days && (by_order || parse_day(condition.value, days->order))) {
    return holds_for_days(condition, *days);
  }
  const std::size_t first = *cells.first_text_row;
  check(!by_order, "column '{}' has text ('{}' in row {}), which is compared by = and != only: {}", condition.column,
        cells.text[first], first + 1, condition.text);
  std::vector<std::uint8_t> result;
  for (const std::string& cell : cells.text) {
    result.push_back(same_text(cell, condition.value) == (condition.relation == Operator::kEqual) ? 1 : 0);
  }
  return result;
}

std::vector<std::uint8_t> holds_for_numbers(const RowCondition& condition, const Column& cells) {
  const std::optional<double> number = parse_number(condition.value);
  check(number.has_value(), "column '{}' has numbers, and '{}' is none: {}", condition.column, condition.value,
        condition.text);
  std::vector<std::uint8_t> result;
  for (const double cell : cells.values) {
    result.push_back(compare(condition.relation, cell, *number) ? 1 : 0);
  }
  return result;
}

}  // namespace

std::vector<std::uint8_t> RowCondition::holds(const Table& table) const {
  return in_source(table.source, [&] {
    const Column& cells = find_column(table, column);
    std::vector<std::uint8_t> result = cells.is_text() ? holds_for_text(*this, cells) : holds_for_numbers(*this, cells);
    const bool none = !result.empty() && std::ranges::find(result, 1) == result.end();
    check(!required || !none, "no row meets `require` {}: {}", text,
          cells.is_text() ? values_text(cells, value) : range_text(cells));
    return result;
  });
}

std::vector<RowCondition> parse_conditions(std::string_view argument, std::string_view text) {
  std::vector<RowCondition> conditions;
  while (!trimmed(text).empty()) {
    const std::size_t comma = find_unquoted(text, [](std::string_view rest) { return rest.front() == ','; });
    conditions.push_back(parse_condition(argument, text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return conditions;
}

}  // namespace dissent
