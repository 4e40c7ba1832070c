// Rows of a table as matrices of features and targets (encoding.hpp). Rows without all their targets cannot be learned
// from: they are left out, with a note.
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
  std::vector<std::size_t> row_numbers = {};  // in the table, if some were left out; empty: all are here
};

// The rows with all their targets; `rows` receives their numbers. A column that has text only in other rows becomes
// numbers. InputError if no row has its targets.
Table rows_with_targets(const Table& table, const std::vector<std::string>& targets, std::vector<std::size_t>& rows);

// Runs `work` on picked rows; an InputError from it names the row in the file. Empty `rows`: all of them, in their
// order.
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
// without any row that has its targets.
EncodedRows encoded_rows(const Table& table, const TableEncoding& encoding, const std::vector<std::string>& targets,
                         std::vector<std::string>& told);

// Notes how many rows of a pool already have their targets, if others do not: in a table with both, measured rows may
// be chosen again.
void tell_measured(const Table& pool, const std::vector<std::string>& targets, std::vector<std::string>& told);

// The targets of rows that have them, [rows][targets]. InputError for a value that is not a finite number.
std::vector<double> known_targets(const Table& table, const std::vector<std::string>& targets,
                                  std::span<const std::size_t> rows);

}  // namespace dissent
