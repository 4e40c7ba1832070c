#include "dissent/table/column_options.hpp"

#include <algorithm>

#include "dissent/base/error.hpp"

namespace dissent {

std::vector<std::string> ColumnOptions::input_names(const Table& table) const {
  for (const std::string& name : targets) {
    check_argument(std::ranges::count(targets, name) == 1, "targets", name, "it is given twice");
  }
  const auto is_target = [&](const std::string& name) { return std::ranges::find(targets, name) != targets.end(); };
  std::vector<std::string> names = inputs;
  if (names.empty()) {
    for (const Column& column : table.columns) {
      if (!is_target(column.name)) {
        names.push_back(column.name);
      }
    }
    in_source(table.source,
              [&] { check(!names.empty(), "every column is a target; at least one must be left as input"); });
  }
  for (const std::string& name : names) {
    check_argument(std::ranges::count(names, name) == 1, "inputs", name, "it is given twice");
    check_argument(!is_target(name), "inputs", name, "it is a target as well; a column is one or the other");
  }
  return names;
}

}  // namespace dissent
