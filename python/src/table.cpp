// Tables with texts, dates and missing cells, as CSV, from and to the numbers that models compute with.
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

Table table_of(const std::string& text) { return parse_csv(text, "X", {.delimiter = ','}); }

py::object matrix_of(const TableEncoding& encoding, const Table& table, std::vector<std::string>* told) {
  return to_numpy(encoding.matrix(table, told), {table.num_rows, encoding.features().size()});
}

// How the columns become numbers, as text; the names of the features; the numbers [N, F]; and a line for each column
// that is no plain number.
py::tuple fit_table(const std::string& text, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& order) {
  const Table table = table_of(text);
  const FittedEncoding fitted = fit_encoding({.inputs = inputs, .order = {order}}, table);
  return py::make_tuple(format_encoding(fitted.encoding), fitted.encoding.features(),
                        matrix_of(fitted.encoding, table, nullptr), fitted.told);
}

// The numbers [N, F] for a model, and what its fit never saw.
py::tuple encode_table(const Ensemble& model, const std::string& text) {
  std::vector<std::string> told;
  const py::object matrix = matrix_of(model.table_encoding(), table_of(text), &told);
  return py::make_tuple(matrix, told);
}

}  // namespace

void bind_table(py::module_& module) {
  module.def("fit_table", &fit_table, py::arg("text"), py::arg("inputs"), py::arg("order"));
  module.def("encode_table", &encode_table, py::arg("model"), py::arg("text"));
}

}  // namespace dissent::python
