// Conditions on the rows of a table, as people type them: "depth<=70", "site=A", "kind!=test".
//
// A condition is a column, one of < <= > >= = !=, and a value. Numbers are compared as numbers, dates as dates (the
// value as 2024-05-01, or as the column writes them); texts are equal or not, and TRUE is the same as true. Several
// conditions are separated by commas; a name or value that holds a comma or an operator goes in double quotes:
// site="Kiel, harbour". A cell that is missing is different from every value, and neither less nor greater.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

struct RowCondition {
  enum class Operator { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual };

  std::string column;
  Operator relation = Operator::kEqual;
  std::string value;
  std::string text;       // as typed, for messages
  bool required = false;  // of `require`: one that no row meets is a mistake

  // One per row of the table: 1 if the condition holds. InputError for a column that the table does not have, for a
  // value or operator that does not suit the column, and for a required condition that no row meets; that error says
  // what the cells are.
  std::vector<std::uint8_t> holds(const Table& table) const;
};

// An empty text gives no condition. InputError, which names `argument`, for a text that is not a condition.
std::vector<RowCondition> parse_conditions(std::string_view argument, std::string_view text);

}  // namespace dissent
