// The lines of a table of answers: which are filled in, what they say, and which row each of them answers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

// Those whose targets are filled in. InputError for one that has some of them and not all, and when there is none.
std::vector<std::size_t> answered_lines(const Table& table, const std::vector<std::string>& targets);

// The number of a row of the pool, which is a whole one.
std::size_t row_at(const Table& table, const std::string& row_column, std::size_t line);

// InputError for words in the place of numbers. Most often they say that an experiment failed, so what to do then is
// said.
void check_no_text(const Table& table, const std::vector<std::string>& targets, const std::string& row_column);

std::vector<double> targets_at(const Table& table, std::size_t line, const std::vector<std::string>& names);

void check_in_pool(std::size_t row, std::size_t num_rows);

// Which line answered each row, so that one that comes twice can be named.
class AnsweredRows {
 public:
  void add(std::size_t row, std::size_t line);
  bool has(std::size_t row) const { return line_of_.contains(row); }

 private:
  std::map<std::size_t, std::size_t> line_of_;
};

}  // namespace dissent
