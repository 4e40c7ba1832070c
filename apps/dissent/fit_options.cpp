#include "fit_options.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "options.hpp"

namespace dissent::cli {

EnsembleOptions FitOptions::ensemble() const {
  EnsembleOptions options;
  options.model = model_from_name(model);
  options.num_components = components;
  options.hidden = hidden;
  options.keep_probability = no_masks ? 1 : 0.5;
  options.bootstrap = !no_bootstrap;
  options.own_initial_weights = !same_weights;
  options.share_weights = share_weights;
  options.weights = weights;
  options.scaling = scaling_from_name(scaling);
  options.seed = seed;
  options.check_values();
  return options;
}

TrainOptions FitOptions::train() const {
  TrainOptions options = training_preset(preset);
  options.epochs = epochs.value_or(options.epochs);
  options.batch_size = batch_size.value_or(options.batch_size);
  options.learning_rate = learning_rate.value_or(options.learning_rate);
  options.validation = validation.value_or(options.validation);
  options.check_values();
  return options;
}

std::vector<std::string> ColumnOptions::input_names(const Table& table) const {
  for (const std::string& name : targets) {
    check(std::ranges::count(targets, name) == 1, "--targets: '{}' is given twice", name);
  }
  const auto is_target = [&](const std::string& name) { return std::ranges::find(targets, name) != targets.end(); };
  std::vector<std::string> names = inputs;
  if (names.empty()) {
    for (const Column& column : table.columns) {
      if (!is_target(column.name)) {
        names.push_back(column.name);
      }
    }
    check(!names.empty(), "{}: every column is a target; at least one must be left as input", table.source);
  }
  for (const std::string& name : names) {
    check(std::ranges::count(names, name) == 1, "--inputs: '{}' is given twice", name);
    check(!is_target(name), "--inputs: '{}' is a target as well; a column is one or the other", name);
  }
  return names;
}

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

void add_fit_options(CLI::App& command, FitOptions& options) {
  const auto add = [&](const std::string& name, auto& value, const std::string& text, const std::string& shown) {
    return command.add_option(name, value, text)->option_text(shown)->group(kFitGroup);
  };
  const auto list = [&](const std::string& name, auto& values, const std::string& text, const std::string& shown) {
    return add(name, values, text, shown)->delimiter(',')->allow_extra_args(false);
  };
  const auto flag = [&](const std::string& name, bool& value, const std::string& text) {
    command.add_flag(name, value, text)->group(kFitGroup);
  };
  add("-m,--model", options.model, "flow: any shape of noise. pne: Gaussian noise", "NAME=flow");
  add("-c,--components", options.components, "Members of the ensemble", "M=5")->check(whole_number(1, 10'000));
  list("--weights", options.weights, "Weights of the components; uniform by default", "W1,W2");
  list("--hidden", options.hidden, "Hidden units per layer; 40,40 for flow and 50,50,50 for pne", "H1,H2")
      ->check(whole_number(1, 100'000));
  add("--scaling", options.scaling, "Of columns: minmax, standard or none", "NAME=minmax");
  flag("--no-masks", options.no_masks, "Without each component's fixed dropout mask");
  flag("--no-bootstrap", options.no_bootstrap, "Train every component on the same rows");
  flag("--same-weights", options.same_weights, "Begin all components with the same weights");
  flag("--share-weights", options.share_weights,
       "One set of weights for all components, which differ by their masks alone");
  add("--preset", options.preset, "Training: default, or paper (6000 epochs of Adam at 5e-4)", "NAME=default");
  add("--epochs", options.epochs, "Passes over the rows", "E")->check(whole_number(1));
  add("--batch-size", options.batch_size, "Rows per step; 0: all", "B")->check(whole_number(0));
  add("--learning-rate", options.learning_rate, "Of the first step", "R");
  add("--validation", options.validation, "Share of the rows held out; 0 trains on every row", "SHARE=0.1");
  add_seed(command, options.seed)->group(kFitGroup);
}

std::string loss_text(const FitProgress& progress) {
  std::string text = fmt::format("epoch {}/{}, loss {:.3f}", progress.epoch, progress.epochs, progress.loss);
  return std::isnan(progress.validation_loss) ? text
                                              : text + fmt::format(", validation {:.3f}", progress.validation_loss);
}

}  // namespace dissent::cli
