#include "dissent/table/column_options.hpp"

#include <algorithm>

#include "dissent/base/error.hpp"

namespace dissent {

std::vector<std::string> ColumnOptions::input_names(const Table& table) const {
  for (const std::string& name : targets) {
    check(std::ranges::count(targets, name) == 1, "--targets: '{}' is given twice", name);
  }
  const auto is_target = [&](const std::string& name) { return std::ranges::find(targets, name) != targets.end(); };
  std::vector<std::string> names = inputs;
  if (names.empty()) {
    for (const Column& column : table.columns) {
      if (!is_target(column.name)) {
        names.push_back(column.name);
      }
    }
    check(!names.empty(), "{}: every column is a target; at least one must be left as input", table.source);
  }
  for (const std::string& name : names) {
    check(std::ranges::count(names, name) == 1, "--inputs: '{}' is given twice", name);
    check(!is_target(name), "--inputs: '{}' is a target as well; a column is one or the other", name);
  }
  return names;
}

}  // namespace dissent
