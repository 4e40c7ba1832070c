#include "dissent/table/own_columns.hpp"

#include <algorithm>
#include <utility>

namespace dissent {

std::string own_column(std::string name, const std::vector<std::string>& theirs) {
  while (std::ranges::find(theirs, name) != theirs.end()) {
    name += '_';
  }
  return name;
}

std::vector<std::string> own_columns(std::vector<std::string> names, const std::vector<std::string>& theirs) {
  for (std::string& name : names) {
    name = own_column(std::move(name), theirs);
  }
  return names;
}

}  // namespace dissent
