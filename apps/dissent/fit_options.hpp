// The options of fitting, the same in every command that fits: fit, suggest, learn, ask and tell.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "dissent/base/field.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent::cli {

// Every field of FitOptions; `given` receives those that are typed.
void add_fit_options(Command& command, FitOptions& options, Values& given);
void add_column_options(Command& command, ColumnOptions& options, Need need);

// What was made of the columns of a table, a line each; `table`: standard output is one, so they go to standard error.
void say_columns(const std::vector<std::string>& told, bool quiet, bool table = false);
// What a table has that the model never saw, likewise, on standard error.
void warn_of_columns(const std::vector<std::string>& told, bool quiet);

// "epoch 40/200, loss 1.310, validation 1.402"
std::string loss_text(const FitProgress& progress);

// Where the loss of components diverged: a line on standard error, whatever else is printed. `when` precedes it.
void warn_diverged(const FitReport& report, const std::string& when = "");
// Where rows are few, or networks whose spread nothing corrects are much surer of their own rows than of others: a line
// each, likewise.
void warn_fit(const FitReport& report, const Ensemble& model, const TrainOptions& train);

// What the report warns of, and options of networks that were given where the fit chose a model that has none: a line
// each, likewise.
void warn_of_rows(const FitReport& report);
void warn_without_effect(const FitResult& result, const Values& given);
// Where a device was given and the model is none of networks, the only ones that it trains: a line on standard error.
void warn_of_device(Model model, const std::string& device);
// "model gp: ...", where the fit chose the kind; `table`: standard output is one, so it goes to standard error.
void say_choice(const FitReport& report, bool quiet, bool table = false);

// A bar of epochs, for FitControl::progress; it is wiped when the last copy of the function dies.
std::function<bool(const FitProgress&)> fit_bar(bool quiet);

}  // namespace dissent::cli
