// Scores as rows of a table: which columns there are, the most uncertain rows of a stream, and writers for each format.
//
// Columns: epistemic, aleatoric, total, log_deficit and the estimator's extras; with several estimators each name
// carries its estimator's prefix ("kl_epistemic", "mc_5000_standard_error").
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dissent/estimator/estimator.hpp"

namespace dissent::cli {

// "mc:5000" -> "mc_5000_"; empty for a single estimator.
std::vector<std::string> column_prefixes(const std::vector<Estimator>& estimators);
std::vector<std::string> column_names(const std::vector<Estimator>& estimators);

// The columns of a block of results, in the order of column_names(). They point into `results`.
using Columns = std::vector<std::span<const double>>;
Columns columns_of(const std::vector<Uncertainty>& results);

// Rows of the table: input numbers, and a span per column.
struct Rows {
  std::vector<std::size_t> index;
  Columns columns;
};

// The K most uncertain rows of any number: smallest log_deficit of the first estimator first, then largest epistemic
// (more_uncertain()), then smallest input number. Exact; memory for about 2 K rows.
class TopRows {
 public:
  TopRows(std::size_t k, std::size_t num_columns) : k_(k), columns_(num_columns) {}

  // Rows with input numbers first, first + 1, ...; blocks come in the order of the inputs.
  void add(std::size_t first, const Columns& columns);

  // In order, the most uncertain first; points into this object.
  Rows sorted();

 private:
  bool before(std::size_t a, std::size_t b) const;
  void keep_best();

  std::size_t k_;
  std::size_t worst_ = 0;  // position of the K-th best once there are K, else 0
  bool full_ = false;
  Uncertainty rank_;  // epistemic and log_deficit of the first estimator, of each row kept
  std::vector<std::size_t> index_;
  std::vector<std::vector<double>> columns_;
};

class ScoreWriter {
 public:
  virtual ~ScoreWriter() = default;
  virtual void write(const Rows& rows) = 0;
  virtual void commit() = 0;  // the file appears
};

struct ScoreTable {
  std::vector<std::string> names;  // of the columns, without index
  std::size_t num_rows = 0;
  bool ranked = false;  // by --top: an NPY file then has the index as its first column
};

// By the ending of `path`: .csv, .npy or .npz; "-" is CSV on standard output. InputError for anything else.
void check_output_name(const std::string& path);
std::unique_ptr<ScoreWriter> make_score_writer(const std::string& path, const ScoreTable& table);

}  // namespace dissent::cli
