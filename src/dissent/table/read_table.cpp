#include "dissent/table/read_table.hpp"

#include "dissent/array/hdf5.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/text_file.hpp"

namespace dissent {
namespace {

void add_array(const std::string& name, const Array& array, Table& table) {
  const Shape& shape = array.shape();
  check_in(array.source(), shape.size() == 1 || shape.size() == 2, "has shape {}; columns need one axis, or two",
           shape_text(shape));
  check_in(array.source(), table.columns.empty() || shape[0] == table.num_rows,
           "has {} rows, '{}' has {}; all must have as many", shape[0],
           table.columns.empty() ? "" : table.columns.front().name, table.num_rows);
  table.num_rows = shape[0];
  const std::vector<double> values = array.to<double>();
  const std::size_t num_columns = shape.size() == 1 ? 1 : shape[1];
  for (std::size_t k = 0; k < num_columns; ++k) {
    Column column;
    column.name = shape.size() == 1 ? name : fmt::format("{}{}", name, k);
    column.values.resize(table.num_rows);
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      column.values[row] = values[row * num_columns + k];
    }
    table.columns.push_back(std::move(column));
  }
}

void check_names(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    names.push_back(column.name);
  }
  check_column_names(names, table.source);
}

}  // namespace

bool is_text_table(const std::string& path) {
  const std::string name = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

Table read_table(const std::string& path) {
  if (path == kStandardStream) {
    return parse_csv(read_standard_input(), "standard input");
  }
  if (is_text_table(path)) {
    const CsvOptions options{.delimiter = path.ends_with(".tsv") || path.ends_with(".tsv.gz") ? '\t' : '\0'};
    if (!path.ends_with(".gz")) {
      return read_csv(path, options);
    }
    const MappedFile file(path);
    return parse_csv(unpack_gzip(file.bytes(), path), path, options);
  }
  Table table;
  table.source = path;
  if (path.ends_with(".npz")) {
    const NpzFile file(path);
    for (const std::string& name : file.names()) {
      add_array(name, file.load(name), table);
    }
  } else if (path.ends_with(".h5") || path.ends_with(".hdf5")) {
    const Hdf5File file(path);
    for (const std::string& name : file.names()) {
      if (file.is_dataset(name)) {  // groups, like the infos of experience files, are not columns
        add_array(name, file.load(name), table);
      }
    }
  } else {
    fail_in(path, "a table must end in {}; text may be packed, .csv.gz; - is standard input", kTableEndings);
  }
  check_names(table);
  return table;
}

}  // namespace dissent
