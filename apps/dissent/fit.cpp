// dissent fit: fits an ensemble to a table and writes a model file.
//
// With --checkpoint a file keeps the state until the model is written. Ctrl-C then saves it and ends the program as an
// interrupt does; a kill loses a few seconds of work. The same command continues from there and gives the same model.
#include "dissent/ensemble/fit.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/device/device.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "dissent/table/read_table.hpp"
#include "fit_options.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "record_json.hpp"

namespace dissent::cli {
namespace {

struct FitArguments {
  std::string data;
  ColumnOptions columns;
  FitOptions fit;
  Values given_fit;
  std::string output;
  std::string checkpoint;
  double checkpoint_every = 5;
  int threads = 0;
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;
};

// The loss on rows not trained on. Rows outside a component's bootstrap sample are new to the component, but not to a
// flow that all components share. If these rows set the spreads afterwards, the loss has changed and is left out.
std::string judged_text(const Ensemble& model, const FitReport& report, const TrainOptions& train) {
  const bool set_by_it =
      train.limit_certainty && train.calibrate_spread && model_kind(model.options().model).has_network;
  if (std::isnan(report.validation_loss) || set_by_it) {
    return "";
  }
  return report.num_validation_rows > 0
             ? fmt::format(", held out {:.4f}", report.validation_loss)
             : fmt::format(", out of bag {:.4f}{}", report.validation_loss,
                           model_kind(model.options().model).has_flow ? " (of rows that others trained on)" : "");
}

// "epoch 300" or "epochs 25 to 225"
std::string kept_text(const std::vector<std::size_t>& epochs) {
  const auto [least, most] = std::ranges::minmax(epochs);
  return least == most ? fmt::format("epoch {}", most) : fmt::format("epochs {} to {}", least, most);
}

void print_fit(const FitArguments& arguments, const FitResult& result, const std::vector<std::string>& told,
               double seconds) {
  const FitReport& report = result.report;
  const Ensemble& model = result.model;
  if (arguments.json) {
    const nlohmann::ordered_json json{{"version", kVersion},
                                      {"output", arguments.output},
                                      {"model", model_name(model.options().model)},
                                      {"choice", report.choice},
                                      {"logarithms", model.columns().log_targets()},
                                      {"components", model.num_components()},
                                      {"inputs", model.columns().inputs},
                                      {"columns", told},
                                      {"targets", model.columns().targets},
                                      {"rows", report.num_rows},
                                      {"validation_rows", report.num_validation_rows},
                                      {"epochs", report.epochs},
                                      {"epochs_run", report.epochs_run},
                                      {"loss", report.loss},
                                      {"validation_loss", report.validation_loss},
                                      {"stopped_early", report.stopped_early},
                                      {"resumed_epoch", report.resumed_epoch},
                                      {"kept_epochs", report.kept_epochs},
                                      {"restarted", report.restarted},
                                      {"diverged", report.diverged},
                                      {"warnings", report.warnings},
                                      {"seed", arguments.fit.ensemble.seed},
                                      {"options", json_of(arguments.fit)},
                                      {"seconds", seconds}};
    print_json(json);
    return;
  }
  if (!arguments.quiet) {
    print_line("{}: {} of {}, {}, {}", arguments.output, model_name(model.options().model),
               counted(model.num_components(), "component"), counted(model.num_input_columns(), "input"),
               counted(model.num_outputs(), "target"));
    if (!report.choice.empty()) {
      print_line("model {}", report.choice);
    }
    if (const std::vector<std::string> names = model.columns().log_targets(); !names.empty()) {
      print_line("fitted by their logarithms: {}", fmt::join(names, ", "));
    }
    const bool networks = model_kind(model.options().model).has_network;
    print_line("{}, {} held out; {} of {}{}{}{}, {:.1f} s", counted(report.num_rows, "row"), report.num_validation_rows,
               report.epochs_run, counted(report.epochs, networks ? "epoch" : "output"),
               report.stopped_early ? " (stopped early)" : "",
               networks ? fmt::format(", {} kept", kept_text(report.kept_epochs)) : "",
               report.resumed_epoch > 0 ? fmt::format(", resumed at {}", report.resumed_epoch) : "", seconds);
    print_line("loss {:.4f} nats per row{}", report.loss, judged_text(model, report, arguments.fit.train));
  }
}

void fit_rows(const FitArguments& arguments, const TrainingRows& rows, const std::vector<std::string>& told,
              Device* device) {
  ThreadPool threads(arguments.threads);
  std::optional<Interrupt> interrupt;
  if (!arguments.checkpoint.empty()) {
    interrupt.emplace();
  }
  std::unique_ptr<Progress> progress;
  const auto show = [&](const FitProgress& state) {
    if (state.waiting) {
      return !interrupt || !interrupt->noted();
    }
    if (!progress) {
      progress = std::make_unique<Progress>("fit", state.epochs, arguments.quiet || arguments.json);
    }
    progress->update(state.epoch, loss_text(state));
    return !interrupt || !interrupt->noted();
  };
  const auto start = std::chrono::steady_clock::now();
  const FitResult result = fit(arguments.fit.ensemble, arguments.fit.train, rows,
                               {.executor = &threads,
                                .progress = show,
                                .checkpoint = arguments.checkpoint,
                                .checkpoint_seconds = arguments.checkpoint_every,
                                .device = fits_of(device)});
  progress.reset();
  if (result.report.interrupted) {
    fmt::print(stderr, "stopped after epoch {} of {}; the same command goes on from {}\n", result.report.epochs_run,
               result.report.epochs, arguments.checkpoint);
    Interrupt::end_program();
  }
  result.model.save(arguments.output);
  if (!arguments.checkpoint.empty()) {
    std::filesystem::remove(arguments.checkpoint);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  warn_diverged(result.report);
  warn_fit(result.report, result.model, arguments.fit.train);
  warn_of_rows(result.report);
  warn_without_effect(result, arguments.given_fit);
  warn_of_device(result.model.options().model, arguments.device);
  print_fit(arguments, result, told, elapsed.count());
}

void run_fit(const FitArguments& arguments) {
  arguments.fit.check_values();  // before the work
  check_given(arguments.fit.ensemble.model, arguments.given_fit);
  check_binary_output(arguments.output);
  if (!arguments.checkpoint.empty()) {
    check_writable(arguments.checkpoint);
  }
  const std::shared_ptr<Device> device = open_device(arguments.device);
  const Table table = read_table(arguments.data);
  check(table.num_rows > 0, "{}: has no rows", table.source);
  table.find(arguments.columns.targets);
  FittedEncoding fitted = fit_encoding(arguments.columns, table);
  const EncodedRows rows = encoded_rows(table, fitted.encoding, arguments.columns.targets, fitted.told);
  say_columns(fitted.told, arguments.quiet || arguments.json);
  format_encoding(fitted.encoding);  // an encoding that cannot be written fails before the work
  fit_rows(arguments,
           {fitted.encoding.features(), arguments.columns.targets, rows.inputs, rows.targets, table.source,
            fitted.encoding.kept(), rows.row_numbers},
           fitted.told, device.get());
}

}  // namespace

void add_fit(Command& app) {
  Command& command = app.add("fit", "Fit an ensemble that knows what it does not know to a table",
                             "  dissent fit data.csv --targets y --output y.model\n"
                             "  dissent fit data.npz --targets y1,y2 --inputs a,b --model pne --output y.model\n"
                             "  dissent fit data.csv --targets y --preset paper --output y.model");
  const auto arguments = std::make_shared<FitArguments>();
  command.argument("DATA", arguments->data, "Table: .csv, .tsv, .npz, .h5 or .hdf5");
  add_column_options(command, arguments->columns, Need::kRequired);
  command.option("-o,--output", arguments->output, {.help = "The model file to write", .shown = "MODEL"},
                 Need::kRequired);
  add_fit_options(command, arguments->fit, arguments->given_fit);
  command.option("--checkpoint", arguments->checkpoint,
                 {.help = "Where to keep the state until done; resumed if it exists", .shown = "FILE"});
  command.option("--checkpoint-every", arguments->checkpoint_every,
                 {.help = "Seconds between checkpoints, at least", .shown = "S", .least = 0});
  add_threads(command, arguments->threads);
  add_device(command, arguments->device);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.files([arguments] {
    return CommandFiles{.read = {arguments->data}, .written = {arguments->output, arguments->checkpoint}};
  });
  command.run([arguments] { run_fit(*arguments); });
}

}  // namespace dissent::cli
