// The campaigns of a grid, from its axes and what changes for some of them. Internal.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/field.hpp"
#include "dissent/study/cell.hpp"

namespace dissent {

struct GridAxis {
  std::string name;
  std::vector<Value> values;
};

struct GridChange {
  std::vector<GridAxis> when;
  Values set;
  bool skip = false;
};

// A field of a cell, or a setting of its campaign; null if there is none of that name. And all their names.
const FieldInfo* find_grid_field(std::string_view name);
std::vector<std::string> grid_field_names();

// InputError for a value that the field refuses. A problem is one of the program's, a file, or one of `tables`.
void check_grid_value(const FieldInfo& field, const Value& value, const std::vector<std::string>& tables);

// Every combination, with its settings checked. InputError for an invalid one.
std::vector<Cell> make_cells(const std::vector<GridAxis>& axes, const Values& common,
                             const std::vector<GridChange>& changes, const std::map<std::string, GridTable>& tables);

}  // namespace dissent
