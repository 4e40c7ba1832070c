// The lines of a table of answers: which are filled in, what they say, and which row each of them answers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

// Lines whose targets are filled in. InputError for a line with only some of its targets, and if no line is filled in.
std::vector<std::size_t> answered_lines(const Table& table, const std::vector<std::string>& targets);

// The number of a line's row in the pool; it must be a whole number.
std::size_t row_at(const Table& table, const std::string& row_column, std::size_t line);

// InputError for text in place of numbers. Most often it says that an experiment failed, so the message says what to do
// then.
void check_no_text(const Table& table, const std::vector<std::string>& targets, const std::string& row_column);

std::vector<double> targets_at(const Table& table, std::size_t line, const std::vector<std::string>& names);

void check_in_pool(std::size_t row, std::size_t num_rows);

// Which line answered each row, so that a row answered twice can be named.
class AnsweredRows {
 public:
  void add(std::size_t row, std::size_t line);
  bool has(std::size_t row) const { return line_of_.contains(row); }

 private:
  std::map<std::size_t, std::size_t> line_of_;
};

}  // namespace dissent
