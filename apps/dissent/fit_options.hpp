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

// An option for every field of FitOptions; `given` receives the typed ones.
void add_fit_options(Command& command, FitOptions& options, Values& given);
void add_column_options(Command& command, ColumnOptions& options, Need need);

// Prints what was made of a table's columns, a line each. `table`: standard output is a table, so print to standard
// error.
void say_columns(const std::vector<std::string>& told, bool quiet, bool table = false);
// The same for what a table has that the model never saw, on standard error.
void warn_of_columns(const std::vector<std::string>& told, bool quiet);

// "epoch 40/200, loss 1.310, validation 1.402"
std::string loss_text(const FitProgress& progress);

// Warns of components whose loss diverged: a line on standard error, whatever else is printed. `when` precedes it.
void warn_diverged(const FitReport& report, const std::string& when = "");
// The same if rows are few, or if networks are much surer of their own rows than of others and nothing corrects their
// spread: a line each.
void warn_fit(const FitReport& report, const Ensemble& model, const TrainOptions& train);

// The same for the report's warnings, a line each, and for given options of networks or of the flow if the fit chose a
// model without them: one line.
void warn_of_rows(const FitReport& report);
void warn_without_effect(const FitResult& result, const Values& given);
// Warns if a device was given but the model has no networks, which are all that a device trains: a line on standard
// error.
void warn_of_device(Model model, const std::string& device);
// "model gp: ..." if the fit chose the kind. `table`: standard output is a table, so print to standard error.
void say_choice(const FitReport& report, bool quiet, bool table = false);

// A bar of epochs, for FitControl::progress; it is wiped when the last copy of the function dies.
std::function<bool(const FitProgress&)> fit_bar(bool quiet);

}  // namespace dissent::cli
