// Turns tables with texts, dates and missing cells, given as CSV, into the numbers that models compute with.
#include <algorithm>
#include <utility>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

// `texts` are the columns that are text whatever they hold.
Table table_of(const std::string& text, std::vector<std::string> texts) {
  return parse_csv(text, "X", {.delimiter = ',', .text_columns = std::move(texts)});
}

py::object matrix_of(const TableEncoding& encoding, const Table& table, std::vector<std::string>* told) {
  return to_numpy(encoding.matrix(table, told), {table.num_rows, encoding.features().size()});
}

// How the columns become numbers, as text; the names of the columns and of the features; the numbers [N, F]; and a line
// for each column that is not a plain number or is left out.
py::tuple fit_table(const std::string& text, const std::vector<std::string>& texts,
                    const std::vector<std::string>& order) {
  const Table table = table_of(text, texts);
  const FittedEncoding fitted = fit_encoding({.order = {order}}, table);
  return py::make_tuple(format_encoding(fitted.encoding), fitted.encoding.sources(), fitted.encoding.features(),
                        matrix_of(fitted.encoding, table, nullptr), fitted.told);
}

// The numbers [N, F] for a model, and what its fit never saw. Texts of digits are numbers if the model has numbers
// there.
py::tuple encode_table(const Ensemble& model, const std::string& text, const std::vector<std::string>& texts) {
  const TableEncoding& encoding = model.table_encoding();
  std::vector<std::string> levelled;
  for (const ColumnCode& code : encoding.columns) {
    const bool has_levels = code.kind == ColumnKind::kCategory || code.kind == ColumnKind::kOrdered;
    if (has_levels && std::ranges::find(texts, code.column) != texts.end()) {
      levelled.push_back(code.column);
    }
  }
  std::vector<std::string> told;
  const py::object matrix = matrix_of(encoding, table_of(text, levelled), &told);
  return py::make_tuple(matrix, told);
}

}  // namespace

void bind_table(py::module_& module) {
  module.def("fit_table", &fit_table, py::arg("text"), py::arg("texts"), py::arg("order"));
  module.def("encode_table", &encode_table, py::arg("model"), py::arg("text"), py::arg("texts"));
}

}  // namespace dissent::python
