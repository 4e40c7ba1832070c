#include "dissent/loop/oracle.hpp"

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

// An answer needs about 25 bytes a value; what is far beyond is no answer.
constexpr std::size_t kSpareBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxValueBytes = 1000;

}  // namespace

std::optional<std::vector<double>> TableOracle::label(const Problem& data, std::span<const std::size_t> rows) {
  return pick_rows(data.pool.targets, data.target_names.size(), rows);
}

std::optional<std::vector<double>> CommandOracle::label(const Problem& data, std::span<const std::size_t> rows) {
  const std::size_t C = data.input_names.size();
  CsvText question("oracle", data.input_names);
  for (const std::size_t row : rows) {
    for (std::size_t c = 0; c < C; ++c) {
      question.field(data.pool.inputs[row * C + c]);
    }
    question.end_row();
  }
  const std::size_t D = data.target_names.size();
  std::vector<double> targets;
  try {
    const std::optional<std::string> answer =
        run_command(command_, question.text(),
                    {.timeout_seconds = timeout_seconds_,
                     .max_output_bytes = kSpareBytes + kMaxValueBytes * rows.size() * D,
                     .stop = stop_});
    if (!answer) {
      return std::nullopt;
    }
    const Table table = parse_csv(*answer, "its answer");
    targets = table.matrix(data.target_names);
    check(table.num_rows == rows.size(), "its answer has {}; it was asked for {}", counted(table.num_rows, "row"),
          rows.size());
  } catch (const InputError& error) {
    fail("oracle {}", std::string_view(error.what()).starts_with('\'')
                          ? error.what()
                          : fmt::format("'{}': {}", command_, error.what()));
  }
  for (std::size_t k = 0; k < targets.size(); ++k) {
    check(std::isfinite(targets[k]), "oracle '{}': its answer has {} in row {} column '{}'; labels must be finite",
          command_, targets[k], k / D + 1, data.target_names[k % D]);
  }
  return targets;
}

}  // namespace dissent
