#include "score_weights.hpp"

#include <optional>
#include <vector>

#include "dissent/array/npy.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/table/csv.hpp"

namespace dissent::cli {
namespace {

std::vector<double> read_csv_column(const std::string& path) {
  const Table table = read_csv(path);
  check_in(path, table.columns.size() == 1, "has {} columns; weights are one column with a header, a row per component",
           table.columns.size());
  const std::vector<std::string> names{table.columns[0].name};
  return table.matrix(names);
}

std::vector<double> read_array(const std::string& path) {
  const Array array = read_npy(path);
  check_in(path, array.shape().size() == 1, "has shape {}; weights must be [M]", shape_text(array.shape()));
  return array.to<double>();
}

std::vector<double> parse_list(const std::string& text) {
  std::vector<double> weights;
  for (const std::string_view field : split(text)) {
    const std::optional<double> value = parse_number(field);
    check(value.has_value(),
          "`weights`: '{}' is not a number; give one per component, as in 0.5,0.3,0.2, or a .npy or .csv file", field);
    weights.push_back(*value);
  }
  return weights;
}

}  // namespace

Weights read_weights(const std::string& text, std::size_t num_components) {
  const std::vector<double> given = text.ends_with(".csv")   ? read_csv_column(text)
                                    : text.ends_with(".npy") ? read_array(text)
                                                             : parse_list(text);
  check(!given.empty(), "`weights`: there are none; give one per component");
  return Weights::from(given, num_components);
}

}  // namespace dissent::cli
