#include "outlier_warning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "dissent/acquisition/reasons.hpp"

namespace dissent::cli {

void warn_of_outliers(std::span<const UsualRange> usual, const TableEncoding& encoding,
                      std::span<const std::size_t> rows, std::span<const double> inputs, bool asked) {
  constexpr std::size_t kMostNamed = 3;
  const std::size_t C = usual.size();
  std::size_t count = 0;
  std::vector<std::string> named;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::span<const double> row = inputs.subspan(k * C, C);
    const std::optional<std::size_t> column = first_outlier(usual, row);
    count += column ? 1 : 0;
    if (column && count <= kMostNamed) {
      const std::string text = encoding.cell_text(*column, row);
      named.push_back(fmt::format("row {}: {} {}", rows[k], encoding.columns[encoding.column_of(*column)].column,
                                  text.empty() ? short_number(row[*column]) : text));
    }
  }
  if (count == 0) {
    return;
  }
  if (count > kMostNamed) {
    named.emplace_back("...");
  }
  const bool one = count == 1;
  fmt::print(stderr, "{} ({}); --skip-outliers leaves {}\n",
             one ? "1 row looks like an error" : fmt::format("{} rows look like errors", count), fmt::join(named, "; "),
             asked ? "out others like that"
             : one ? "it out"
                   : "them out");
}

}  // namespace dissent::cli
