// Rows of a table as matrices of features and targets (encoding.hpp). Rows without all their targets cannot be learned
// from: they are left out, and told.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct EncodedRows {
  std::size_t num_rows = 0;
  std::vector<double> inputs;                 // [num_rows][features]
  std::vector<double> targets;                // [num_rows][targets]
  std::vector<std::size_t> row_numbers = {};  // in the table, where some were left out; empty: all are here
};

// The rows with all their targets, which `rows` receives. A column that has text in other rows alone is numbers then.
// InputError where no row has them.
Table rows_with_targets(const Table& table, const std::vector<std::string>& targets, std::vector<std::size_t>& rows);

// Runs `work` on picked rows; an InputError from it names the row in the file. No rows: all of them, in their order.
template <class Work>
decltype(auto) in_rows(std::span<const std::size_t> rows, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const InputError& error) {
    Fault fault = error.fault();
    if (fault.row && !rows.empty()) {
      fault.row = rows[*fault.row];
    }
    throw InputError(std::move(fault));
  }
}

// `told` receives lines on what was left out and what the encoding never saw. InputError for a table without rows, or
// without any that has its targets.
EncodedRows encoded_rows(const Table& table, const TableEncoding& encoding, const std::vector<std::string>& targets,
                         std::vector<std::string>& told);

// Tells how many rows of a pool have their targets already, where others have not: of a table that has both, what is
// measured may be asked for again.
void tell_measured(const Table& pool, const std::vector<std::string>& targets, std::vector<std::string>& told);

// The targets of rows that have them, [rows][targets]. InputError for what is no finite number.
std::vector<double> known_targets(const Table& table, const std::vector<std::string>& targets,
                                  std::span<const std::size_t> rows);

}  // namespace dissent
