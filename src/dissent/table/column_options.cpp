#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "dissent/base/error.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {

std::vector<std::string> ColumnOptions::input_names(const Table& table) const {
  std::unordered_set<std::string_view> target_set;
  for (const std::string& name : targets) {
    check_argument(target_set.insert(name).second, "targets", name, "it is given twice");
  }
  const auto is_target = [&](const std::string& name) { return target_set.contains(name); };
  std::unordered_set<std::string_view> unused(others.begin(), others.end());
  for (const auto& [argument, list] : {std::pair("ignore", &ignore), std::pair("id", &ids)}) {
    table.find(*list);
    for (const std::string& name : *list) {
      check_argument(!is_target(name), argument, name, "it is a target as well; a column is one or the other");
      check_argument(std::ranges::find(inputs, name) == inputs.end(), argument, name,
                     "it is an input as well; a column is one or the other");
      unused.insert(name);
    }
  }
  std::vector<std::string> names = inputs;
  if (names.empty()) {
    for (const Column& column : table.columns) {
      if (!is_target(column.name) && !unused.contains(column.name)) {
        names.push_back(column.name);
      }
    }
    in_source(table.source,
              [&] { check(!names.empty(), "every column is a target or left out; at least one must be an input"); });
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    check_argument(seen.insert(name).second, "inputs", name, "it is given twice");
    check_argument(!is_target(name), "inputs", name, "it is a target as well; a column is one or the other");
  }
  return names;
}

std::vector<ColumnOrder> parse_orders(const std::vector<std::vector<std::string>>& order, const Table& table) {
  std::vector<ColumnOrder> orders;
  for (const std::vector<std::string>& list : order) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      const std::string& text = list[k];
      const std::size_t sign = text.find('=');
      const std::string name = text.substr(0, sign);
      check_argument(k > 0 || sign != std::string::npos, "order", text,
                     "write a column and its categories, as in cut=Fair,Good,Ideal");
      const bool begins = sign != std::string::npos && (k == 0 || table.has(name));
      if (begins) {
        table.column(name);
        check_argument(std::ranges::find(orders, name, &ColumnOrder::column) == orders.end(), "order", text,
                       "the column has its categories already; give all of them at once");
        orders.push_back({name, {}});
      }
      std::vector<std::string>& levels = orders.back().levels;
      const std::string level = begins ? text.substr(sign + 1) : text;
      check_argument(!level.empty() && std::ranges::find(levels, level) == levels.end(), "order", text,
                     "a category is empty or given twice");
      levels.push_back(level);
    }
  }
  return orders;
}

}  // namespace dissent
