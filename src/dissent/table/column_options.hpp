// Which columns of a table are predicted, and from which.
#pragma once

#include <string>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

struct ColumnOptions {
  std::vector<std::string> targets;
  std::vector<std::string> inputs;       // empty: every column that is neither a target nor among `others`
  std::vector<std::string> others = {};  // columns with another use: no inputs unless named so

  // The inputs found in `table`. InputError for a name given twice or as both, when none is left, and
  // for a column of text that nobody named.
  std::vector<std::string> input_names(const Table& table) const;
};

}  // namespace dissent
