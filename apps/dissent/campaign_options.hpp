// What the commands of active learning share: tables in, the options of choosing, and settings that survive the
// program.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>

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

// Table::matrix, and an InputError for values that are not finite.
std::vector<double> finite_matrix(const Table& table, const std::vector<std::string>& names);

// The tables as a Problem; `pool_labelled` says whether the pool must have the targets. InputErrors name the file.
Problem load_tables(const TableOptions& options, bool pool_labelled);

LearnOptions learn_options(const FitOptions& fit, const ChoiceOptions& choice);

// The fit options that were given, by name ("--epochs": "50"; a flag's value is empty), and back.
Settings given_fit_options(const CLI::App& command);
FitOptions fit_options_of(const Settings& settings);

// One field of a table into a CsvText or CsvWriter.
template <class Writer>
void put_field(Writer& writer, const Column& column, std::size_t row) {
  if (std::ranges::binary_search(column.missing_rows, row)) {
    writer.missing();
  } else if (column.is_text()) {
    writer.field(std::string_view(column.text[row]));
  } else {
    writer.field(column.values[row]);
  }
}

// The InputError of a fit, with the source of its rows in place of the function's name.
[[noreturn]] void fail_fit(const std::string& source, const InputError& error);

}  // namespace dissent::cli
