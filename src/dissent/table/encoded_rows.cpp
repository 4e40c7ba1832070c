#include "dissent/table/encoded_rows.hpp"

#include <fmt/ranges.h>

#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"

namespace dissent {

EncodedRows encoded_rows(const Table& table, const TableEncoding& encoding, const std::vector<std::string>& targets,
                         std::vector<std::string>& told) {
  check_in(table.source, table.num_rows > 0, "has no rows");
  const std::vector<std::size_t> complete = complete_rows(table, targets);
  std::vector<double> inputs = encoding.matrix(table, &told);
  if (complete.size() == table.num_rows) {
    return {table.num_rows, std::move(inputs), table.matrix(targets)};
  }
  check_in(table.source, !complete.empty(), "no row has its targets ({})", fmt::join(targets, ", "));
  told.push_back(fmt::format("{}: {} without {}, left out", table.source,
                             counted(table.num_rows - complete.size(), "row"), fmt::join(targets, ", ")));
  return {complete.size(), pick_rows(inputs, inputs.size() / table.num_rows, complete),
          known_targets(table, targets, complete)};
}

std::vector<double> known_targets(const Table& table, const std::vector<std::string>& targets,
                                  std::span<const std::size_t> rows) {
  std::vector<double> out;
  in_source(table.source, [&] {
    const std::vector<const Column*> columns = table.find(targets);
    for (const std::size_t row : rows) {
      for (const Column* column : columns) {
        out.push_back(column->finite_number(row));
      }
    }
  });
  return out;
}

}  // namespace dissent
