#include "fit_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "dissent/base/error.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

constexpr const char* kFitGroup = "Fit options";  // the help lists them under a heading of their own

const Field<FitOptions>& field_of(const std::string& flag) {
  std::string name = flag;
  std::ranges::replace(name, '-', '_');
  for (const Field<FitOptions>& field : fields<FitOptions>()) {
    if (field.traits.flag.empty() ? field.name == name : field.traits.flag == flag) {
      return field;
    }
  }
  fail("'{}' is not an option of a fit", flag);
}

// "-m,--model" -> "--model"
std::string long_name(const std::string& names) { return names.substr(names.find("--")); }

}  // namespace

void add_column_options(CLI::App& command, ColumnOptions& options, bool required) {
  command.add_option("-t,--targets", options.targets, "Columns to predict")
      ->option_text("Y1,Y2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required(required);
  command.add_option("-i,--inputs", options.inputs, "Columns to predict from; all others by default")
      ->option_text("X1,X2")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_fit_options(CLI::App& command, FitSettings& settings) {
  const auto add = [&](const std::string& names, const std::string& text, const std::string& shown) {
    const auto set = [&settings, name = long_name(names)](const std::string& value) {
      try {
        settings.set(name, value);
      } catch (const InputError& error) {
        throw CLI::ValidationError(error.what());
      }
    };
    command.add_option_function<std::string>(names, set, text)->option_text(shown)->group(kFitGroup);
  };
  const auto flag = [&](const std::string& name, const std::string& text) {
    const auto set = [&settings, name] { settings.set(name, ""); };
    command.add_flag_callback(name, set, text)->group(kFitGroup);
  };
  add("-m,--model", "flow: any shape of noise. pne: Gaussian noise", "NAME=flow");
  add("-c,--components", "Members of the ensemble", "M=5");
  add("--weights", "Weights of the components; uniform by default", "W1,W2");
  add("--hidden", "Hidden units per layer; 40,40 for flow and 50,50,50 for pne", "H1,H2");
  add("--scaling", "Of columns: minmax, standard or none", "NAME=minmax");
  add("--keep-probability", "Of a hidden unit under a component's fixed mask", "P=0.5");
  flag("--no-masks", "Without each component's fixed dropout mask");
  flag("--no-bootstrap", "Train every component on the same rows");
  flag("--same-weights", "Begin all components with the same weights");
  flag("--share-weights", "One set of weights for all components, which differ by their masks alone");
  add("--flow-hidden", "Hidden units per layer of the flow's network", "H1,H2=20,20");
  add("--flow-layers", "Coupling layers of the flow", "L=1");
  add("--preset", "Training: default, or paper (6000 epochs of Adam at 5e-4)", "NAME=default");
  add("--epochs", "Passes over the rows", "E");
  add("--batch-size", "Rows per step; 0: all", "B");
  add("--learning-rate", "Of the first step", "R");
  add("--validation", "Share of the rows held out; 0 trains on every row", "SHARE=0.1");
  add("--seed", "Seed of everything random; the same seed gives the same results", "S=0");
}

Values given_fit_options(const CLI::App& command) {
  Values given;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == kFitGroup && option->count() > 0) {
      const Field<FitOptions>& field = field_of(option->get_lnames().front());
      given[std::string(field.name)] = field.type == FieldType::kSwitch
                                           ? Value(!std::get<bool>(field.get(FitOptions())))
                                           : parse_value(field, fmt::format("{}", fmt::join(option->results(), ",")));
    }
  }
  return given;
}

std::string loss_text(const FitProgress& progress) {
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

std::function<bool(const FitProgress&)> fit_bar(bool quiet) {
  return [bar = std::make_shared<std::optional<Progress>>(), quiet](const FitProgress& state) {
    if (!*bar) {
      bar->emplace("fit", state.epochs, quiet);
    }
    (*bar)->update(state.epoch, loss_text(state));
    return true;
  };
}

}  // namespace dissent::cli
