// The options of fitting, the same in every command that fits: fit, suggest, learn, ask and tell.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "dissent/base/field.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/fit_settings.hpp"
#include "dissent/table/column_options.hpp"

namespace dissent::cli {

void add_fit_options(CLI::App& command, FitSettings& settings);
void add_column_options(CLI::App& command, ColumnOptions& options, bool required);

// The fit options that were given, by the names of their fields.
Values given_fit_options(const CLI::App& command);

// "epoch 40/200, loss 1.310, validation 1.402"
std::string loss_text(const FitProgress& progress);

// Where the loss of components diverged: a line on standard error, whatever else is printed. `when` precedes it.
void warn_diverged(const FitReport& report, const std::string& when = "");

// A bar of epochs, for FitControl::progress; it is wiped when the last copy of the function dies.
std::function<bool(const FitProgress&)> fit_bar(bool quiet);

}  // namespace dissent::cli
