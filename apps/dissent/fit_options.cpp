#include "fit_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "progress.hpp"

namespace dissent::cli {

void add_column_options(Command& command, ColumnOptions& options, Need need) {
  command.names("-t,--targets", options.targets, {.help = "Columns to predict", .shown = "Y1,Y2"}, need);
  command.names("-i,--inputs", options.inputs,
                {.help = "Columns to predict from; all others by default", .shown = "X1,X2"});
  command.names("--ignore", options.ignore, {.help = "Columns to leave out", .shown = "Z1,Z2"});
  command.names("--id", options.ids,
                {.help = "Columns that identify rows: not inputs, copied to the output", .shown = "ID"});
  command.name_lists(
      "--order", options.order,
      {.help = "Categories from least to most, as 0, 1, 2, ...: cut=Fair,Good,Ideal", .shown = "COLUMN=A,B,C"});
}

void say_columns(const std::vector<std::string>& told, bool quiet, bool table) {
  for (std::size_t k = 0; k < told.size() && !quiet; ++k) {
    table ? fmt::print(stderr, "{}\n", told[k]) : print_line("{}", told[k]);
  }
}

void warn_of_columns(const std::vector<std::string>& told, bool quiet) { say_columns(told, quiet, true); }

void add_fit_options(Command& command, FitOptions& options, Values& given) {
  command.fields(options, given, "Fit options");
}

std::string loss_text(const FitProgress& progress) {
  if (std::isnan(progress.loss)) {  // a model that is fitted output by output
    return fmt::format("output {}/{}", progress.epoch, progress.epochs);
  }
  std::string text = fmt::format("epoch {}/{}, loss {:.3f}", progress.epoch, progress.epochs, progress.loss);
  return std::isnan(progress.validation_loss) ? text
                                              : text + fmt::format(", validation {:.3f}", progress.validation_loss);
}

void warn_diverged(const FitReport& report, const std::string& when) {
  if (!report.diverged.empty()) {
    fmt::print(stderr,
               "{}the loss of component{} {} diverged; the best parameters before that were kept; try a smaller "
               "--learning-rate\n",
               when, report.diverged.size() == 1 ? "" : "s", fmt::join(report.diverged, ", "));
  }
}

void warn_fit(const FitReport& report, const Ensemble& model, const TrainOptions& train) {
  constexpr std::size_t kFewRows = 10;
  constexpr double kFarApart = 1;  // nats per target
  const std::size_t enough = std::max(kFewRows, 2 * model.num_input_columns());
  if (report.num_rows < enough) {
    fmt::print(stderr, "{} for {}: too few to trust the model far; {} or more are advisable\n",
               counted(report.num_rows, "row"), counted(model.num_input_columns(), "input column"), enough);
  }
  const double apart = (report.validation_loss - report.loss) / static_cast<double>(model.num_outputs());
  if (apart > kFarApart && !(train.limit_certainty && train.calibrate_spread)) {
    fmt::print(stderr,
               "the loss is {:.2f} on rows trained on, {:.2f} on others: the networks overfit; more rows, or a larger "
               "--weight-decay, may help\n",
               report.loss, report.validation_loss);
  }
}

void warn_of_rows(const FitReport& report) {
  for (const std::string& warning : report.warnings) {
    fmt::print(stderr, "{}\n", warning);
  }
}

void warn_without_effect(const FitResult& result, const Values& given) {
  const Model model = result.model.options().model;
  std::vector<std::string> names;
  for (const auto& [name, value] : given) {
    if (!has_option(model, name)) {
      const Field<FitOptions>& field = *find_field<FitOptions>(name);
      names.push_back(option_name(field, field.get(FitOptions())));
    }
  }
  if (!names.empty()) {
    fmt::print(stderr, "{} had no effect: {} was chosen, which has no {}; --model names another\n",
               fmt::join(names, ", "), model_name(model), model_kind(model).has_network ? "flow" : "networks");
  }
}

void warn_of_device(Model model, const std::string& device) {
  if (device != "cpu" && model != Model::kAuto && !model_kind(model).has_network) {
    fmt::print(stderr, "{} is fitted on the CPU: --device {} trains networks alone\n", model_name(model), device);
  }
}

void say_choice(const FitReport& report, bool quiet, bool table) {
  if (quiet || report.choice.empty()) {
    return;
  }
  if (table) {
    fmt::print(stderr, "model {}\n", report.choice);
  } else {
    print_line("model {}", report.choice);
  }
}

std::function<bool(const FitProgress&)> fit_bar(bool quiet) {
  return [bar = std::make_shared<std::optional<Progress>>(), quiet](const FitProgress& state) {
    if (state.waiting) {
      return true;
    }
    if (!*bar) {
      bar->emplace("fit", state.epochs, quiet);
    }
    (*bar)->update(state.epoch, loss_text(state));
    return true;
  };
}

}  // namespace dissent::cli
