#include "campaign_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/table/read_table.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

ProblemRows rows_of(const Table& table, const Problem& problem, bool with_targets) {
  check(table.num_rows > 0, "{}: has no rows", table.source);
  return {table.num_rows, finite_matrix(table, problem.input_names),
          with_targets ? finite_matrix(table, problem.target_names) : std::vector<double>()};
}

std::string candidates_check(const std::string& text) {
  return text == "all"                                  ? ""
         : whole_number(1, 1'000'000'000)(text).empty() ? ""
                                                        : "'" + text + "' is neither a whole number >= 1 nor 'all'";
}

}  // namespace

std::vector<double> finite_matrix(const Table& table, const std::vector<std::string>& names) {
  std::vector<double> values = table.matrix(names);
  for (std::size_t k = 0; k < values.size(); ++k) {
    check(std::isfinite(values[k]), "{}: row {} column '{}' is {}; numbers must be finite", table.source,
          k / names.size() + 1, names[k % names.size()], values[k]);
  }
  return values;
}

void add_table_options(CLI::App& command, TableOptions& options) {
  const auto table = [&](const std::string& name, std::string& value, const std::string& text) {
    command.add_option(name, value, text)->option_text("FILE")->check(not_empty);
  };
  table("--labelled", options.labelled, "Rows whose targets are known: .csv, .npz, .h5 or .hdf5");
  table("--pool", options.pool, "Rows to choose from, with the same inputs");
  table("--test", options.test, "Rows to measure each round's model on");
  add_column_options(command, options.columns, false);
}

void add_choice_options(CLI::App& command, ChoiceOptions& options) {
  command.add_option("-a,--acquisition", options.acquisition, "How rows are chosen; 'dissent acquisitions' lists all")
      ->option_text("NAME=kl");
  command.add_option("-b,--batch", options.batch, "Rows to choose at a time")
      ->option_text("B=10")
      ->check(whole_number(1, 1'000'000'000));
  command
      .add_option("--candidates", options.candidates,
                  "Rows drawn from the pool to choose among, or 'all'; by default what suits the method")
      ->option_text("N")
      ->check(candidates_check);
}

Problem load_tables(const TableOptions& options, bool pool_labelled) {
  check(!options.labelled.empty(), "--labelled is needed: a table of rows whose targets are known");
  check(!options.pool.empty(), "--pool is needed: a table of rows to choose from");
  check(!options.columns.targets.empty(), "--targets is needed: the columns to predict");
  const Table labelled = read_table(options.labelled);
  Problem problem;
  problem.name = options.labelled;
  problem.target_names = options.columns.targets;
  problem.input_names = options.columns.input_names(labelled);
  problem.train = rows_of(labelled, problem, true);
  const Table pool = read_table(options.pool);
  for (const std::string& name : problem.target_names) {
    check(!pool_labelled || pool.has(name),
          "{}: has no column '{}'; a pool without its targets needs --oracle COMMAND, or 'dissent ask' and 'tell'",
          options.pool, name);
  }
  problem.pool = rows_of(pool, problem, pool_labelled);
  if (!options.test.empty()) {
    problem.test = rows_of(read_table(options.test), problem, true);
  }
  return problem;
}

LearnOptions learn_options(const FitOptions& fit, const ChoiceOptions& choice) {
  LearnOptions options;
  options.ensemble = fit.ensemble();
  options.train = fit.train();
  options.acquisition = Acquisition::parse(choice.acquisition);
  options.batch = choice.batch;
  options.candidates = choice.candidates.empty()    ? 0
                       : choice.candidates == "all" ? kAllCandidates
                                                    : static_cast<std::size_t>(std::stoull(choice.candidates));
  return options;
}

Settings given_fit_options(const CLI::App& command) {
  Settings settings;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == kFitGroup && option->count() > 0) {
      const bool is_flag = option->get_expected_max() == 0;
      settings["--" + option->get_lnames().front()] =
          is_flag ? "" : fmt::format("{}", fmt::join(option->results(), ","));
    }
  }
  return settings;
}

FitOptions fit_options_of(const Settings& settings) {
  FitOptions options;
  CLI::App app;
  add_fit_options(app, options);
  std::vector<std::string> arguments;  // in reverse, as CLI11 takes them
  for (const auto& [name, value] : settings) {
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option != nullptr) {
      arguments.insert(arguments.begin(), name);
      if (!value.empty()) {
        arguments.insert(arguments.begin(), value);
      }
    }
  }
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    fail("the campaign's settings cannot be used: {}", error.what());
  }
  return options;
}

void fail_fit(const std::string& source, const InputError& error) {
  const std::string_view message = error.what();
  fail("{}: {}", source, message.starts_with("fit: ") ? message.substr(5) : message);
}

}  // namespace dissent::cli
