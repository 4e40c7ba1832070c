// Which columns of a table are predicted, and from which.
#pragma once

#include <string>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

struct ColumnOptions {
  std::vector<std::string> targets = {};
  std::vector<std::string> inputs = {};  // empty: every column that is neither a target nor named below
  std::vector<std::string> others = {};  // columns with another use: no inputs unless named so
  std::vector<std::string> ignore = {};  // columns to leave out
  std::vector<std::string> ids = {};     // columns that tell rows apart: no inputs, passed on to what is written
  // Categories from least to most, a list for each time they are given: {"cut=Fair", "Good", "Ideal"}. Inside of a list
  // another column's name and an equals sign, "color=J", begin the categories of that column.
  std::vector<std::vector<std::string>> order = {};

  bool any() const { return !targets.empty() || !inputs.empty() || !ignore.empty() || !ids.empty() || !order.empty(); }

  // The inputs found in `table`. InputError for a name given twice or as both, and when none is left.
  std::vector<std::string> input_names(const Table& table) const;
};

// A column's categories from least to most.
struct ColumnOrder {
  std::string column;
  std::vector<std::string> levels;
};

// What `order` says of the columns of a table. InputError for a column that it does not have, and for a category given
// twice.
std::vector<ColumnOrder> parse_orders(const std::vector<std::vector<std::string>>& order, const Table& table);

}  // namespace dissent
