// dissent fit: an ensemble from a table, into a model file.
//
// With --checkpoint the state is kept in a file until the model is written. Ctrl-C then saves it and ends the program
// as an interrupt does; a kill loses a few seconds of work. The same command goes on from there, to the same model.
#include "dissent/ensemble/fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "dissent/table/read_table.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

struct FitOptions {
  std::string data;
  std::vector<std::string> targets;
  std::vector<std::string> inputs;
  std::string model = "flow";
  std::size_t components = 5;
  std::vector<std::size_t> hidden;
  std::vector<double> weights;
  std::string scaling = "minmax";
  bool no_masks = false;
  bool no_bootstrap = false;
  bool same_weights = false;
  bool share_weights = false;
  std::string preset = "default";
  std::optional<std::size_t> epochs;
  std::optional<std::size_t> batch_size;
  std::optional<double> learning_rate;
  std::optional<double> validation;
  std::string output;
  std::string checkpoint;
  double checkpoint_every = 5;
  int threads = 0;
  std::uint64_t seed = 0;
  bool json = false;
  bool quiet = false;
};

EnsembleOptions ensemble_options(const FitOptions& options) {
  EnsembleOptions ensemble;
  ensemble.model = model_from_name(options.model);
  ensemble.num_components = options.components;
  ensemble.hidden = options.hidden;
  ensemble.keep_probability = options.no_masks ? 1 : 0.5;
  ensemble.bootstrap = !options.no_bootstrap;
  ensemble.own_initial_weights = !options.same_weights;
  ensemble.share_weights = options.share_weights;
  ensemble.weights = options.weights;
  ensemble.scaling = scaling_from_name(options.scaling);
  ensemble.seed = options.seed;
  return ensemble;
}

TrainOptions train_options(const FitOptions& options) {
  TrainOptions train = training_preset(options.preset);
  train.epochs = options.epochs.value_or(train.epochs);
  train.batch_size = options.batch_size.value_or(train.batch_size);
  train.learning_rate = options.learning_rate.value_or(train.learning_rate);
  train.validation = options.validation.value_or(train.validation);
  return train;
}

// Those asked for, or every column that is not a target.
std::vector<std::string> input_columns(const FitOptions& options, const Table& table) {
  std::vector<std::string> names = options.inputs;
  if (names.empty()) {
    for (const Column& column : table.columns) {
      if (std::ranges::find(options.targets, column.name) == options.targets.end()) {
        names.push_back(column.name);
      }
    }
    check(!names.empty(), "{}: every column is a target; at least one must be left as input", table.source);
  }
  for (const std::string& name : names) {
    check(std::ranges::count(names, name) == 1, "--inputs: '{}' is given twice", name);
    check(std::ranges::find(options.targets, name) == options.targets.end(),
          "--inputs: '{}' is a target as well; a column is one or the other", name);
  }
  return names;
}

std::string loss_text(const FitProgress& progress) {
  std::string text = fmt::format("epoch {}/{}, loss {:.3f}", progress.epoch, progress.epochs, progress.loss);
  return std::isnan(progress.validation_loss) ? text
                                              : text + fmt::format(", validation {:.3f}", progress.validation_loss);
}

void print_report(const FitOptions& options, const FitResult& result, double seconds) {
  const FitReport& report = result.report;
  const Ensemble& model = result.model;
  if (options.json) {
    const nlohmann::ordered_json json{{"output", options.output},
                                      {"model", options.model},
                                      {"components", options.components},
                                      {"inputs", model.columns().inputs},
                                      {"targets", model.columns().targets},
                                      {"rows", report.num_rows},
                                      {"validation_rows", report.num_validation_rows},
                                      {"epochs", report.epochs},
                                      {"epochs_run", report.epochs_run},
                                      {"loss", report.loss},
                                      {"validation_loss", report.validation_loss},
                                      {"stopped_early", report.stopped_early},
                                      {"resumed_epoch", report.resumed_epoch},
                                      {"diverged", report.diverged},
                                      {"seed", options.seed},
                                      {"seconds", seconds}};
    print_line("{}", json.dump(2));
    return;
  }
  if (!options.quiet) {
    print_line("{}: {} of {} component{}, {} input{}, {} target{}", options.output, options.model, options.components,
               options.components == 1 ? "" : "s", model.num_inputs(), model.num_inputs() == 1 ? "" : "s",
               model.num_outputs(), model.num_outputs() == 1 ? "" : "s");
    print_line("{} rows, {} held out; {} of {} epochs{}{}, {:.1f} s", report.num_rows, report.num_validation_rows,
               report.epochs_run, report.epochs, report.stopped_early ? " (stopped early)" : "",
               report.resumed_epoch > 0 ? fmt::format(", resumed at {}", report.resumed_epoch) : "", seconds);
    print_line("loss {:.4f} nats per row{}", report.loss,
               report.num_validation_rows > 0 ? fmt::format(", held out {:.4f}", report.validation_loss) : "");
  }
  if (!report.diverged.empty()) {
    print_line(
        "the loss of component{} {} diverged; the best parameters before that were kept; try a smaller "
        "--learning-rate",
        report.diverged.size() == 1 ? "" : "s", fmt::join(report.diverged, ", "));
  }
}

void fit_rows(const FitOptions& options, const TrainingRows& rows) {
  ThreadPool pool(options.threads);
  std::optional<Interrupt> interrupt;
  if (!options.checkpoint.empty()) {
    interrupt.emplace();
  }
  std::unique_ptr<Progress> progress;
  const auto show = [&](const FitProgress& state) {
    if (!progress) {
      progress = std::make_unique<Progress>("fit", state.epochs, options.quiet || options.json);
    }
    progress->update(state.epoch, loss_text(state));
    return !interrupt || !interrupt->requested();
  };
  const auto start = std::chrono::steady_clock::now();
  const FitResult result = fit(ensemble_options(options), train_options(options), rows,
                               {.pool = &pool,
                                .progress = show,
                                .checkpoint = options.checkpoint,
                                .checkpoint_seconds = options.checkpoint_every});
  progress.reset();
  if (result.report.interrupted) {
    fmt::print(stderr, "stopped after epoch {} of {}; the same command goes on from {}\n", result.report.epochs_run,
               result.report.epochs, options.checkpoint);
    interrupt->end_program();
    return;
  }
  result.model.save(options.output);
  if (!options.checkpoint.empty()) {
    std::filesystem::remove(options.checkpoint);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(options, result, elapsed.count());
}

void run_fit(const FitOptions& options) {
  ensemble_options(options).check_values();
  train_options(options).check_values();
  for (const std::string& name : options.targets) {
    check(std::ranges::count(options.targets, name) == 1, "--targets: '{}' is given twice", name);
  }
  check_writable(options.output);
  if (!options.checkpoint.empty()) {
    check_writable(options.checkpoint);
  }
  const Table table = read_table(options.data);
  const std::vector<double> targets = table.matrix(options.targets);
  const std::vector<std::string> input_names = input_columns(options, table);
  const std::vector<double> inputs = table.matrix(input_names);
  check(table.num_rows > 0, "{}: has no rows", table.source);
  try {
    fit_rows(options, {input_names, options.targets, inputs, targets});
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    if (!options.checkpoint.empty() && message.starts_with(options.checkpoint)) {
      throw;
    }
    fail("{}: {}", table.source, message.starts_with("fit: ") ? message.substr(5) : message);
  }
}

}  // namespace

void add_fit(CLI::App& app) {
  CLI::App* command = add_command(app, "fit", "Fit an ensemble that knows what it does not know to a table",
                                  "  dissent fit data.csv --targets y --output y.model\n"
                                  "  dissent fit data.npz --targets y1,y2 --inputs a,b --model pne --output y.model\n"
                                  "  dissent fit data.csv --targets y --preset paper --validation 0 --output y.model");
  const auto options = std::make_shared<FitOptions>();
  const auto list = [&](const std::string& name, auto& values, const std::string& text) {
    return command->add_option(name, values, text)->delimiter(',')->allow_extra_args(false);
  };
  command->add_option("DATA", options->data, "Table: .csv, .npz, .h5 or .hdf5")->option_text(" ")->required();
  list("-t,--targets", options->targets, "Columns to predict")->option_text("Y1,Y2")->required();
  list("-i,--inputs", options->inputs, "Columns to predict from; all others by default")->option_text("X1,X2");
  command->add_option("-o,--output", options->output, "The model file to write")
      ->option_text("MODEL")
      ->required()
      ->check(not_empty);
  command->add_option("-m,--model", options->model, "flow: any shape of noise. pne: Gaussian noise")
      ->option_text("NAME=flow");
  command->add_option("-c,--components", options->components, "Members of the ensemble")
      ->option_text("M=5")
      ->check(whole_number(1, 10'000));
  list("--weights", options->weights, "Weights of the components; uniform by default")->option_text("W1,W2");
  list("--hidden", options->hidden, "Hidden units per layer; 40,40 for flow and 50,50,50 for pne")
      ->option_text("H1,H2")
      ->check(whole_number(1, 100'000));
  command->add_option("--scaling", options->scaling, "Of columns: minmax, standard or none")
      ->option_text("NAME=minmax");
  command->add_flag("--no-masks", options->no_masks, "Without each component's fixed dropout mask");
  command->add_flag("--no-bootstrap", options->no_bootstrap, "Train every component on the same rows");
  command->add_flag("--same-weights", options->same_weights, "Begin all components with the same weights");
  command->add_flag("--share-weights", options->share_weights,
                    "One set of weights for all components, which differ by their masks alone");
  command->add_option("--preset", options->preset, "Training: default, or paper (6000 epochs of Adam at 5e-4)")
      ->option_text("NAME=default");
  command->add_option("--epochs", options->epochs, "Passes over the rows")->option_text("E")->check(whole_number(1));
  command->add_option("--batch-size", options->batch_size, "Rows per step; 0: all")
      ->option_text("B")
      ->check(whole_number(0));
  command->add_option("--learning-rate", options->learning_rate, "Of the first step")->option_text("R");
  command->add_option("--validation", options->validation, "Share of the rows held out; 0 trains on every row")
      ->option_text("SHARE=0.1");
  command->add_option("--checkpoint", options->checkpoint, "Where the state is kept until done; resumed if it is there")
      ->option_text("FILE")
      ->check(not_empty);
  command->add_option("--checkpoint-every", options->checkpoint_every, "Seconds between checkpoints, at least")
      ->option_text("S=5")
      ->check(number_from(0));
  add_threads(*command, options->threads);
  add_seed(*command, options->seed);
  add_json(*command, options->json);
  add_quiet(*command, options->quiet);
  command->callback([options] { run_fit(*options); });
}

}  // namespace dissent::cli
