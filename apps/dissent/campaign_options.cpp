#include "campaign_options.hpp"

#include "options.hpp"

namespace dissent::cli {
namespace {

std::string candidates_check(const std::string& text) {
  return text == "all"                                  ? ""
         : whole_number(1, 1'000'000'000)(text).empty() ? ""
                                                        : "'" + text + "' is neither a whole number >= 1 nor 'all'";
}

}  // namespace

void add_table_options(CLI::App& command, TablePaths& tables) {
  const auto table = [&](const std::string& name, std::string& value, const std::string& text) {
    command.add_option(name, value, text)->option_text("FILE")->check(not_empty);
  };
  table("--labelled", tables.labelled, "Rows whose targets are known: .csv, .npz, .h5 or .hdf5");
  table("--pool", tables.pool, "Rows to choose from, with the same inputs");
  table("--test", tables.test, "Rows to measure each round's model on");
  add_column_options(command, tables.columns, false);
}

void add_choice_options(CLI::App& command, ChoiceOptions& options) {
  command.add_option("-a,--acquisition", options.acquisition, "How rows are chosen; 'dissent acquisitions' lists all")
      ->option_text("NAME=kl")
      ->check(not_empty);
  command.add_option("-b,--batch", options.batch, "Rows to choose at a time")
      ->option_text("B=10")
      ->check(whole_number(1, 1'000'000'000));
  command
      .add_option("--candidates", options.candidates,
                  "Rows drawn from the pool to choose among, or 'all'; by default what suits the method")
      ->option_text("N")
      ->check(candidates_check);
}

}  // namespace dissent::cli
