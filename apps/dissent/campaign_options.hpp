// What the commands of active learning share: tables in, the options of choosing, and settings that survive the
// program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "dissent/loop/learn.hpp"
#include "fit_options.hpp"

namespace dissent::cli {

struct TableOptions {
  std::string labelled;
  std::string pool;
  std::string test;
  ColumnOptions columns;

  bool any() const { return !labelled.empty() || !pool.empty() || !test.empty() || !columns.targets.empty(); }
};

struct ChoiceOptions {
  std::string acquisition = "kl";
  std::size_t batch = 10;
  std::string candidates;  // empty: as many as suit the method
};

void add_table_options(CLI::App& command, TableOptions& options);
void add_choice_options(CLI::App& command, ChoiceOptions& options);

// The tables as a Problem; `pool_labelled` says whether the pool must have the targets. InputErrors name the file.
Problem load_tables(const TableOptions& options, bool pool_labelled);

LearnOptions learn_options(const FitOptions& fit, const ChoiceOptions& choice);

// The fit options that were given, by name ("--epochs": "50"; a flag's value is empty), and back.
Settings given_fit_options(const CLI::App& command);
FitOptions fit_options_of(const Settings& settings);

// The InputError of a fit, with the source of its rows in place of the function's name.
[[noreturn]] void fail_fit(const std::string& source, const InputError& error);

}  // namespace dissent::cli
