#include "dissent/table/column_options.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

// A column that nobody named: names and notes are often in a table without being inputs.
void check_no_text(const Column& column) {
  if (!column.is_text()) {
    return;
  }
  try {
    column.check_numbers();
  } catch (const InputError& error) {
    Fault fault = error.fault();
    fault.rule += "; if it is no input, name the inputs with `inputs`";
    throw InputError(fault);
  }
}

}  // namespace

std::vector<std::string> ColumnOptions::input_names(const Table& table) const {
  std::unordered_set<std::string_view> target_set;
  for (const std::string& name : targets) {
    check_argument(target_set.insert(name).second, "targets", name, "it is given twice");
  }
  const auto is_target = [&](const std::string& name) { return target_set.contains(name); };
  std::vector<std::string> names = inputs;
  if (names.empty()) {
    for (const Column& column : table.columns) {
      if (!is_target(column.name) && std::ranges::find(others, column.name) == others.end()) {
        in_source(table.source, [&] { check_no_text(column); });
        names.push_back(column.name);
      }
    }
    in_source(table.source,
              [&] { check(!names.empty(), "every column is a target; at least one must be left as input"); });
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    check_argument(seen.insert(name).second, "inputs", name, "it is given twice");
    check_argument(!is_target(name), "inputs", name, "it is a target as well; a column is one or the other");
  }
  return names;
}

}  // namespace dissent
