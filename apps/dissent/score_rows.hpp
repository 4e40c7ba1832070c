// Scores as rows of a table: which columns there are, the most uncertain rows of a stream, and writers for each format.
//
// Columns: epistemic, aleatoric, total, log_deficit and the estimator's extras; with several estimators each name
// carries its estimator's prefix ("kl_epistemic", "mc_5000_standard_error"). For a mixture in base space aleatoric and
// total are left out: in those units they mean nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dissent/base/top_rows.hpp"
#include "dissent/estimator/estimator.hpp"

namespace dissent::cli {

// An estimator, whatever the components are, as its columns and summaries name it.
struct ScoreMethod {
  std::string name;
  Bound bound = Bound::kNone;
  std::span<const std::string_view> extras = {};
  bool ranks_inputs = false;
};

// "mc:5000" -> "mc_5000_"; empty for a single method.
std::vector<std::string> column_prefixes(const std::vector<ScoreMethod>& methods);
std::vector<std::string> column_names(const std::vector<ScoreMethod>& methods, Space space);

// The columns of a block of results, in the order of column_names(). They point into `results`.
using Columns = std::vector<std::span<const double>>;
Columns columns_of(const std::vector<Uncertainty>& results, Space space);

// Rows of the table: input numbers, and a span per column.
struct Rows {
  std::vector<std::size_t> index;
  Columns columns;
};

// The K most uncertain of any number of rows: smallest log_deficit of the first estimator first, then largest epistemic
// (more_uncertain()), then smallest input number. Exact; memory for K rows.
class TopScores {
 public:
  TopScores(std::size_t k, std::size_t num_columns) : best_(k), columns_(num_columns) {}

  // Rows with input numbers first, first + 1, ...; `rank` is the first estimator's.
  void add(std::size_t first, const Uncertainty& rank, const Columns& columns);

  // The rows in order, the most uncertain first. They point into this object; add nothing to it afterwards.
  Rows sorted();

 private:
  struct Row {
    double epistemic;
    double log_deficit;
    std::size_t index;
  };
  struct Before {
    bool operator()(const Row& a, const Row& b) const;
  };

  TopRows<Row, Before> best_;
  std::vector<std::vector<double>> columns_;  // [column][slot]
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

// The format follows the ending of `path`: .csv, .npy or .npz; "-" is CSV on standard output. InputError for anything
// else.
void check_output_name(const std::string& path);
std::unique_ptr<ScoreWriter> make_score_writer(const std::string& path, const ScoreTable& table);

}  // namespace dissent::cli
