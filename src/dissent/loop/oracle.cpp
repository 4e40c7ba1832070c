#include "dissent/loop/oracle.hpp"

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/canonical_cells.hpp"
#include "dissent/loop/row_match.hpp"
#include "dissent/loop/shown_rows.hpp"
#include "dissent/loop/subprocess.hpp"
#include "dissent/loop/tables.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

// An answer needs about 25 bytes per value; far more than that is no answer.
constexpr std::size_t kSpareBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxValueBytes = 1000;

}  // namespace

std::optional<std::vector<double>> TableOracle::label(const Problem& data, std::span<const std::size_t> rows) {
  return pick_rows(data.pool.targets, data.target_names.size(), rows);
}

std::optional<std::vector<double>> CommandOracle::label(const Problem& data, std::span<const std::size_t> rows) {
  CsvText question("oracle", shown_names(data));
  for (const std::size_t row : rows) {
    put_shown(question, data, row);
    question.end_row();
  }
  const std::string name = fmt::format("oracle '{}'", command_);
  const std::size_t num_values = rows.size() * data.target_names.size();
  const std::optional<std::string> answer = in_source(name, [&] {
    return run_command(command_, question.text(),
                       {.timeout_seconds = timeout_seconds_,
                        .max_output_bytes = kSpareBytes + kMaxValueBytes * num_values,
                        .stop = stop_});
  });
  if (!answer) {
    return std::nullopt;
  }
  const Table table = parse_csv(*answer, "the answer of " + name);
  const std::vector<double> targets = table.matrix(data.target_names);
  check_in(table.source, table.num_rows == rows.size(), "has {}; it was asked for {}", counted(table.num_rows, "row"),
           rows.size());
  const TableEncoding encoding = table_encoding(data);
  const Table asked = canonical_cells(parse_csv(question.text(), "the question"), encoding);
  const std::vector<std::size_t> lines =
      in_source(table.source, [&] { return match_rows(canonical_cells(table, encoding), asked); });
  return pick_rows(targets, data.target_names.size(), lines);
}

}  // namespace dissent
