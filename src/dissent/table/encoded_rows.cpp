#include "dissent/table/encoded_rows.hpp"

#include <fmt/ranges.h>

#include "dissent/base/check_in.hpp"
#include "dissent/base/names.hpp"

namespace dissent {

EncodedRows encoded_rows(const Table& table, const TableEncoding& encoding, const std::vector<std::string>& targets,
                         std::vector<std::string>& told) {
  check_in(table.source, table.num_rows > 0, "has no rows");
  const std::vector<std::size_t> complete = complete_rows(table, targets);
  if (complete.size() == table.num_rows) {
    return {table.num_rows, encoding.matrix(table, &told), table.matrix(targets)};
  }
  check_in(table.source, !complete.empty(), "no row has its targets ({})", fmt::join(targets, ", "));
  told.push_back(fmt::format("{}: {} without {}, left out", table.source,
                             counted(table.num_rows - complete.size(), "row"), fmt::join(targets, ", ")));
  const Table part = picked_rows(table, complete);
  return {part.num_rows, encoding.matrix(part, &told), part.matrix(targets)};
}

}  // namespace dissent
