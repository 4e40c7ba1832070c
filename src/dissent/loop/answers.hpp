// Answers: targets of rows, as people bring them, in any order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissent/loop/campaign.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// Answers from `source`, which messages name.
struct Answers {
  std::string source;
  std::vector<std::size_t> rows = {};     // of the pool
  std::vector<double> targets = {};       // [rows.size()][D]
  std::vector<std::size_t> dropped = {};  // rows of the pool whose experiments failed
  ExtraRows extra = {};                   // rows not in the pool; their times are set when they are taken
  bool correct = false;                   // they may replace what was told before
  bool unasked = false;                   // rows of the pool need not have been asked for
  std::vector<std::string> told = {};     // notes on how they were read, for whoever brings them

  std::size_t size() const { return rows.size() + extra.size(); }  // rows with their targets
  void add(std::size_t row, std::span<const double> row_targets) {
    rows.push_back(row);
    targets.insert(targets.end(), row_targets.begin(), row_targets.end());
  }
};

// An answer that looks like a mistake (far_answers.hpp says when).
struct FarAnswer {
  std::optional<std::size_t> row;  // of the pool; none for an extra one
  std::string target;
  double value = 0;
  double least = 0;  // of the earlier labels
  double most = 0;
  double stddevs = 0;            // from the prediction, in the space of the fit; 0 without a model
  bool ends_logarithms = false;  // the first value that is not positive

  std::string text() const;  // "row 12: y 9512 is far outside of the labels so far, 0.2 to 11.4, ..."
};

// Reads a table with the column `row_column` and the targets. Ignores other columns, and rows whose targets are all
// missing. InputError for a row that has only some of its targets or is answered twice, and for a table without
// answers.
Answers read_answers(const Table& table, const std::vector<std::string>& target_names,
                     const std::string& row_column = "row");

// Likewise. If the table has input columns, they must match those of the pool's rows (row_match.hpp).
Answers read_answers(const Table& table, const Problem& data, const Table& pool, const std::string& row_column);

// Reads a table of rows that need not have been asked for: all inputs and the targets. Rows with a number in
// `row_column` are rows of the pool. Others are looked up in the pool by their inputs: among several rows with the same
// inputs, one that waits comes first, then one that was never chosen. A row that is not found is an extra row.
// Answers::told says which numbers were taken as rounded, and what extra rows have that the encoding never saw.
Answers read_unasked(const Table& table, const Campaign& campaign, const Problem& data, const Table& pool,
                     const std::string& row_column);

// Gives the campaign all answers, at the time `now` (seconds since 1970). InputError for a row that was never asked for
// or already has its answer, and for targets that no fit could compute with; it leaves the campaign half updated.
void take_answers(Campaign& campaign, const Problem& data, const Answers& answers, double now = 0);

}  // namespace dissent
