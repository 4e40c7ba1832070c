// Oracles: where labels come from. Two that answer at once are here; people answer through tell().
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

  // Targets [rows.size()][number of targets] of pool rows, all finite; nothing if it was stopped. An InputError names
  // the oracle and says what went wrong.
  virtual std::optional<std::vector<double>> label(const Problem& data, std::span<const std::size_t> rows) = 0;
};

// Looks the targets up in data.pool, which must have them.
class TableOracle : public Oracle {
 public:
  std::optional<std::vector<double>> label(const Problem& data, std::span<const std::size_t> rows) override;
};

// Asks a shell command. It reads a CSV table of the input columns from standard input and writes one of the target
// columns, in any order and with as many rows, to standard output. Rows are in the order they were asked for, or have
// input columns too and are matched by them (row_match.hpp).
class CommandOracle : public Oracle {
 public:
  // `stop` is called while the command runs; true kills it. The timeout also kills it, and is an error (0: none).
  explicit CommandOracle(std::string command, double timeout_seconds = 0, std::function<bool()> stop = {})
      : command_(std::move(command)), timeout_seconds_(timeout_seconds), stop_(std::move(stop)) {}

  std::optional<std::vector<double>> label(const Problem& data, std::span<const std::size_t> rows) override;

 private:
  std::string command_;
  double timeout_seconds_;
  std::function<bool()> stop_;
};

}  // namespace dissent
