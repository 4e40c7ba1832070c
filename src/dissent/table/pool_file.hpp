// The rows to choose from, as a file: any table, of which only the rows asked for are handed out. An uncompressed NPZ
// archive (numpy.savez) stays on disk and is read block by block, so it may be far larger than memory, unless its
// columns must be encoded; other files are read whole.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dissent/array/npz.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

class PoolFile {
 public:
  // InputError for what read_table() refuses, and for a table without rows.
  explicit PoolFile(const std::string& path);

  const std::string& source() const { return source_; }
  std::size_t num_rows() const { return num_rows_; }
  bool has(const std::string& name) const;
  void check_columns(const std::vector<std::string>& names) const;  // InputError that names the first missing one

  // The table itself, for a file that is read whole; null for an archive that stays on disk.
  const Table* table() const { return table_ ? &*table_ : nullptr; }

  // From now on read() and pick() take the names of features, which are made from the columns. `told` as in
  // TableEncoding.
  void encode(const TableEncoding& encoding, std::vector<std::string>& told);

  // From now on rows of read() and pick() pass through `check` first; it throws for those that it rejects. Row k of
  // `rows` is number row_of(k) here.
  using RowNumber = std::function<std::size_t(std::size_t k)>;
  using Check = std::function<void(std::span<const double> rows, const RowNumber& row_of)>;
  void set_check(Check check) { check_ = std::move(check); }

  // Rows [begin, end) of the named columns, row-major into `out`. InputError for a value that is not a finite number.
  void read(const std::vector<std::string>& names, std::size_t begin, std::size_t end, std::span<double> out) const;

  // The same for chosen rows.
  std::vector<double> pick(const std::vector<std::string>& names, std::span<const std::size_t> rows) const;

  // Whole columns, these and perhaps more.
  const Table& with_columns(const std::vector<std::string>& names);

  // Chosen rows with every column.
  Table table(std::span<const std::size_t> rows) const;

 private:
  struct ArrayColumn {
    std::string name;
    std::size_t array = 0;   // of arrays_
    std::size_t offset = 0;  // in its rows
  };

  void open_archive(const std::string& path);
  std::vector<double> pick_values(const std::vector<std::string>& names, std::span<const std::size_t> rows) const;
  // Without the check.
  void read_values(const std::vector<std::string>& names, std::size_t begin, std::size_t end,
                   std::span<double> out) const;
  // Calls visit(k, values) for each given row of an array, in constant memory.
  template <class Visit>
  void visit(std::size_t array, std::span<const std::size_t> rows, const Visit& visit) const;
  std::vector<const ArrayColumn*> find(const std::vector<std::string>& names) const;

  std::string source_;
  std::size_t num_rows_ = 0;
  std::optional<Table> features_;  // in place of the table's columns
  std::optional<Table> table_;     // of a file read whole, or
  Table columns_read_;             // of an archive, by with_columns()
  std::vector<NpyFile> arrays_;    // of an archive
  std::vector<ArrayColumn> columns_;
  Check check_;
};

}  // namespace dissent
