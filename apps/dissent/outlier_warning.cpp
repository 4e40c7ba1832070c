#include "outlier_warning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <optional>

#include "dissent/acquisition/reasons.hpp"
#include "dissent/loop/candidates.hpp"

namespace dissent::cli {

namespace {

// "1 row looks like an error (row 40: z 222)"
struct Outliers {
  std::size_t count = 0;
  std::vector<std::string> named = {};

  // Of rows [N][C] with these numbers.
  Outliers(std::span<const UsualRange> usual, const std::vector<std::string>& input_names,
           std::span<const std::size_t> rows, std::span<const double> inputs) {
    constexpr std::size_t kMostNamed = 3;
    const std::size_t C = input_names.size();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::span<const double> row = inputs.subspan(k * C, C);
      const std::optional<std::size_t> column = first_outlier(usual, row);
      count += column ? 1 : 0;
      if (column && count <= kMostNamed) {
        named.push_back(fmt::format("row {}: {} {}", rows[k], input_names[*column], short_number(row[*column])));
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

void warn_of_outliers(std::span<const UsualRange> usual, const std::vector<std::string>& input_names,
                      std::span<const std::size_t> rows, std::span<const double> inputs, bool asked) {
  const Outliers found(usual, input_names, rows, inputs);
  if (found.count > 0) {
    fmt::print(stderr, "{}; --skip-outliers leaves {}\n", found.text(""),
               asked              ? "out others like that"
               : found.count == 1 ? "it out"
                                  : "them out");
  }
}

void warn_of_aim(std::span<const double> aim, std::span<const double> others,
                 const std::vector<std::string>& input_names) {
  std::vector<std::size_t> rows(aim.size() / input_names.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const Outliers found(usual_inputs(others, aim, input_names.size()), input_names, rows, aim);
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
    warn_of_aim(data.aim.inputs, others, data.input_names);
  }
}

}  // namespace dissent::cli
