// Oracles: where labels come from. Two that answer at once are here; people answer by themselves, through tell().
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dissent/problem/problem.hpp"

namespace dissent {

class Oracle {
 public:
  virtual ~Oracle() = default;

  // Targets [rows.size()][number of targets] of pool rows, all finite; nothing when it was stopped. An InputError says
  // what went wrong, in words that name the oracle.
  virtual std::optional<std::vector<double>> label(const Problem& data, std::span<const std::size_t> rows) = 0;
};

// Looks the targets up in data.pool, which must have them.
class TableOracle : public Oracle {
 public:
  std::optional<std::vector<double>> label(const Problem& data, std::span<const std::size_t> rows) override;
};

// Asks a shell command: it reads a CSV table of the input columns from standard input and writes one of the target
// columns, in any order and as many rows, to standard output. Rows stand as they were asked for, or have input columns
// as well and are matched by them (row_match.hpp).
class CommandOracle : public Oracle {
 public:
  // `stop` is asked while the command runs; true kills it. So does the timeout, which is an error (0: none).
  explicit CommandOracle(std::string command, double timeout_seconds = 0, std::function<bool()> stop = {})
      : command_(std::move(command)), timeout_seconds_(timeout_seconds), stop_(std::move(stop)) {}

  std::optional<std::vector<double>> label(const Problem& data, std::span<const std::size_t> rows) override;

 private:
  std::string command_;
  double timeout_seconds_;
  std::function<bool()> stop_;
};

}  // namespace dissent
