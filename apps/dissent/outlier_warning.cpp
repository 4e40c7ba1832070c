#include "outlier_warning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <optional>

#include "dissent/acquisition/reasons.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/tables.hpp"

namespace dissent::cli {

namespace {

// "1 row looks like an error (row 40: z 222)"
struct Outliers {
  std::size_t count = 0;
  std::vector<std::string> named = {};

  // `inputs` [N][C] are those of the rows with the numbers `rows`.
  Outliers(std::span<const UsualRange> usual, const TableEncoding& encoding, std::span<const std::size_t> rows,
           std::span<const double> inputs) {
    constexpr std::size_t kMostNamed = 3;
    const std::size_t C = usual.size();
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
    if (count > kMostNamed) {
      named.emplace_back("...");
    }
  }

  // `of`: "", or " of the aim"
  std::string text(std::string_view of) const {
    return fmt::format("{} ({})",
                       count == 1 ? fmt::format("1 row{} looks like an error", of)
                                  : fmt::format("{} rows{} look like errors", count, of),
                       fmt::join(named, "; "));
  }
};

}  // namespace

void warn_of_outliers(std::span<const UsualRange> usual, const TableEncoding& encoding,
                      std::span<const std::size_t> rows, std::span<const double> inputs, bool asked) {
  const Outliers found(usual, encoding, rows, inputs);
  if (found.count > 0) {
    fmt::print(stderr, "{}; --skip-outliers leaves {}\n", found.text(""),
               asked              ? "out others like that"
               : found.count == 1 ? "it out"
                                  : "them out");
  }
}

void warn_of_aim(std::span<const double> aim, std::span<const double> others, const TableEncoding& encoding) {
  const std::size_t C = encoding.features().size();
  std::vector<std::size_t> rows(aim.size() / C);
  std::iota(rows.begin(), rows.end(), std::size_t{1});  // as in the file, since nothing else names them
  const Outliers found(usual_inputs(others, aim, C), encoding, rows, aim);
  if (found.count > 0) {
    fmt::print(stderr, "{}; take {} out unless predictions are needed there\n", found.text(" of the aim"),
               found.count == 1 ? "it" : "them");
  }
}

void warn_of_aim(const Problem& data) {
  if (data.aim.num_rows > 0) {
    std::vector<double> others =
        pick_rows(data.pool.inputs, data.input_names.size(), rows_to_compare(data.pool.num_rows));
    others.insert(others.end(), data.train.inputs.begin(), data.train.inputs.end());
    warn_of_aim(data.aim.inputs, others, table_encoding(data));
  }
}

}  // namespace dissent::cli
