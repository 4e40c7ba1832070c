// Rows of a table as matrices of features and targets (encoding.hpp). Rows without all their targets cannot be learned
// from: they are left out, and told.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dissent/table/encoding.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct EncodedRows {
  std::size_t num_rows = 0;
  std::vector<double> inputs;   // [num_rows][features]
  std::vector<double> targets;  // [num_rows][targets]
};

// `told` receives lines on what was left out and what the encoding never saw. InputError for a table without rows, or
// without any that has its targets.
EncodedRows encoded_rows(const Table& table, const TableEncoding& encoding, const std::vector<std::string>& targets,
                         std::vector<std::string>& told);

// The targets of rows that have them, [rows][targets]. InputError for what is no finite number.
std::vector<double> known_targets(const Table& table, const std::vector<std::string>& targets,
                                  std::span<const std::size_t> rows);

}  // namespace dissent
