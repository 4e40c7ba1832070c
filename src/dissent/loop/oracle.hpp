// Oracles: where labels come from. Two that answer at once are here; people answer by themselves, through tell().
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dissent/loop/subprocess.hpp"
#include "dissent/problem/problem.hpp"

namespace dissent {

class Oracle {
 public:
  virtual ~Oracle() = default;

  // Targets [rows.size()][number of targets] of pool rows, all finite. An InputError says what went wrong, in words
  // that name the oracle.
  virtual std::vector<double> label(const Problem& data, std::span<const std::size_t> rows) = 0;
};

// Looks the targets up in data.pool, which must have them.
class TableOracle : public Oracle {
 public:
  std::vector<double> label(const Problem& data, std::span<const std::size_t> rows) override;
};

// Asks a shell command: it reads a CSV table of the input columns from standard input and writes one of the target
// columns, in any order and as many rows, to standard output.
class CommandOracle : public Oracle {
 public:
  explicit CommandOracle(std::string command, double timeout_seconds = 0)
      : command_(std::move(command)), timeout_seconds_(timeout_seconds) {}

  std::vector<double> label(const Problem& data, std::span<const std::size_t> rows) override;

 private:
  std::string command_;
  double timeout_seconds_;
};

}  // namespace dissent
