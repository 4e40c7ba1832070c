#include "campaign_options.hpp"

#include "dissent/base/parse.hpp"

namespace dissent::cli {
namespace {

constexpr std::uint64_t kMostRows = 1'000'000'000;

void check_candidates_text(const std::string& text) {
  const std::uint64_t count = parse_whole(text).value_or(0);
  check_argument(text == "all" || (count >= 1 && count <= kMostRows), "candidates", text,
                 "it must be a whole number from 1 to {}, or all", kMostRows);
}

}  // namespace

void add_table_options(Command& command, TablePaths& tables) {
  command.option("--labelled", tables.labelled,
                 {.help = "Rows whose targets are known: .csv, .npz, .h5 or .hdf5", .shown = "FILE"});
  command.option("--pool", tables.pool, {.help = "Rows to choose from, with the same inputs", .shown = "FILE"});
  command.option("--test", tables.test, {.help = "Rows to measure each round's model on", .shown = "FILE"});
  add_column_options(command, tables.columns, Need::kOptional);
}

void add_choice_options(Command& command, ChoiceOptions& options) {
  command.option("-a,--acquisition", options.acquisition,
                 {.help = "How rows are chosen; 'dissent acquisitions' lists all",
                  .shown = options.acquisition.empty() ? "NAME=kl" : "NAME"});
  command.option("-b,--batch", options.batch,
                 {.help = "Rows to choose at a time", .shown = "B", .least = 1, .most = kMostRows});
  command.option(
      "--candidates",
      {.help = "Rows drawn from the pool to choose among, or 'all'; by default what suits the method", .shown = "N"},
      [&options](const std::string& text) {
        check_candidates_text(text);
        options.candidates = text;
      });
}

}  // namespace dissent::cli
