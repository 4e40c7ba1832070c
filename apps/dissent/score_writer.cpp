#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "console.hpp"
#include "dissent/array/npy.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "score_rows.hpp"

namespace dissent::cli {
namespace {

std::vector<std::string> with_index(std::vector<std::string> names) {
  names.insert(names.begin(), "index");
  return names;
}

class CsvScores : public ScoreWriter {
 public:
  CsvScores(const std::string& path, const ScoreTable& table) : writer_(path, with_index(table.names)) {}

  void write(const Rows& rows) override {
    for (std::size_t n = 0; n < rows.index.size(); ++n) {
      writer_.field(rows.index[n]);
      for (const std::span<const double> column : rows.columns) {
        writer_.field(column[n]);
      }
      writer_.end_row();
    }
  }
  void commit() override { writer_.commit(); }

 private:
  CsvWriter writer_;
};

// The same bytes as CsvScores; standard output cannot be renamed into place, so the header waits for the first rows.
class StdoutScores : public ScoreWriter {
 public:
  explicit StdoutScores(const ScoreTable& table)
      : header_(fmt::format("{}\n", fmt::join(with_index(table.names), ","))) {}

  void write(const Rows& rows) override {
    print_header();
    std::array<char, 32> digits;
    for (std::size_t n = 0; n < rows.index.size(); ++n) {
      line_ = std::to_string(rows.index[n]);
      for (const std::span<const double> column : rows.columns) {
        const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), column[n]);
        line_ += ',';
        line_.append(digits.data(), end);
      }
      line_ += '\n';
      print(line_);
    }
  }
  void commit() override {
    print_header();
    flush_output();
  }

 private:
  void print_header() { print(std::exchange(header_, {})); }

  std::string header_;  // empty once it is printed
  std::string line_;
};

// One matrix [rows, columns] of float64.
class NpyScores : public ScoreWriter {
 public:
  NpyScores(const std::string& path, const ScoreTable& table)
      : writer_(path, DType::kFloat64, {table.num_rows, table.names.size() + (table.ranked ? 1 : 0)}),
        ranked_(table.ranked) {}

  void write(const Rows& rows) override {
    buffer_.clear();
    for (std::size_t n = 0; n < rows.index.size(); ++n) {
      if (ranked_) {
        buffer_.push_back(static_cast<double>(rows.index[n]));
      }
      for (const std::span<const double> column : rows.columns) {
        buffer_.push_back(column[n]);
      }
    }
    writer_.write(std::span<const double>(buffer_));
  }
  void commit() override { writer_.commit(); }

 private:
  NpyWriter writer_;
  bool ranked_;
  std::vector<double> buffer_;
};

// An array per column, `index` as int64. An archive is written array by array, so the columns wait in memory.
class NpzScores : public ScoreWriter {
 public:
  NpzScores(std::string path, const ScoreTable& table)
      : path_(std::move(path)), names_(table.names), columns_(table.names.size()), probe_(path_) {
    index_.reserve(table.num_rows);
    for (std::vector<double>& column : columns_) {
      column.reserve(table.num_rows);
    }
  }

  void write(const Rows& rows) override {
    index_.insert(index_.end(), rows.index.begin(), rows.index.end());
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      columns_[k].insert(columns_[k].end(), rows.columns[k].begin(), rows.columns[k].end());
    }
  }

  void commit() override {
    std::vector<std::pair<std::string, ArrayView>> arrays{{"index", ArrayView(index_)}};
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      arrays.emplace_back(names_[k], ArrayView(columns_[k]));
    }
    write_npz(path_, arrays);
  }

 private:
  std::string path_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> index_;
  std::vector<std::vector<double>> columns_;
  AtomicFile probe_;  // never committed: fails before the work, not after it, if the file cannot be written
};

}  // namespace

void check_output_name(const std::string& path) {
  check(path == "-" || path.ends_with(".csv") || path.ends_with(".npy") || path.ends_with(".npz"),
        "--output: '{}' must end in .csv, .npy or .npz, or be - for CSV on standard output", path);
}

std::unique_ptr<ScoreWriter> make_score_writer(const std::string& path, const ScoreTable& table) {
  check_output_name(path);
  if (path == "-") {
    return std::make_unique<StdoutScores>(table);
  }
  if (path.ends_with(".csv")) {
    return std::make_unique<CsvScores>(path, table);
  }
  if (path.ends_with(".npy")) {
    return std::make_unique<NpyScores>(path, table);
  }
  return std::make_unique<NpzScores>(path, table);
}

}  // namespace dissent::cli
