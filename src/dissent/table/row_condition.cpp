#include "dissent/table/row_condition.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"

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

// Where the text first holds what `found` says, outside of quotes; its size if nowhere.
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
                         std::string(trimmed(text))};
  check_argument(!condition.column.empty(), argument, text, "it names no column; write it as in depth<=70");
  check_argument(!condition.value.empty(), argument, text, "it has no value to compare with; write it as in depth<=70");
  return condition;
}

// What is neither less nor greater nor equal, as NaN, is different.
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

}  // namespace

std::vector<std::uint8_t> RowCondition::holds(const Table& table) const {
  return in_source(table.source, [&] {
    const Column& cells = find_column(table, column);
    const bool by_order = relation != Operator::kEqual && relation != Operator::kNotEqual;
    check(!cells.is_text() || !by_order,
          "column '{}' has text ('{}' in row {}), which is compared by = and != only: {}", column,
          cells.is_text() ? cells.text[*cells.first_text_row] : "", cells.first_text_row.value_or(0) + 1, text);
    const std::optional<double> number = parse_number(value);
    check(cells.is_text() || number.has_value(), "column '{}' has numbers, and '{}' is none: {}", column, value, text);
    std::vector<std::uint8_t> result(table.num_rows);
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      const bool held = cells.is_text() ? (cells.text[row] == value) == (relation == Operator::kEqual)
                                        : compare(relation, cells.values[row], *number);
      result[row] = held ? 1 : 0;
    }
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
