// dissent predict: what a model predicts at new inputs, in the table's own units; and its mixture, for `dissent score`.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/acquisition/uncertainty.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/mixture/mixture_file.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/own_columns.hpp"
#include "dissent/table/read_table.hpp"
#include "fit_options.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kChunkRows = 1024;

struct PredictOptions {
  std::string model;
  std::string inputs;
  std::vector<double> quantiles{0.05, 0.95};
  std::string estimator = "kl";
  std::string output;
  std::string mixture;
  std::vector<std::string> ids;
  int threads = 0;
  std::uint64_t seed = 0;
  bool json = false;
  bool quiet = false;
};

// The id columns that are given, or else those that the model was fitted with and the table has.
Table id_columns(const PredictOptions& options, const Ensemble& model, const Table& table) {
  Table ids{table.source, table.num_rows, {}};
  const std::vector<std::string>& names = options.ids.empty() ? model.columns().encoding.ids : options.ids;
  for (const std::string& name : names) {
    if (!options.ids.empty() || table.has(name)) {
      ids.columns.push_back(table.column(name));
    }
  }
  return ids;
}

std::vector<std::string> column_names(const Ensemble& model, const PredictOptions& options) {
  std::vector<std::string> names{"index"};
  for (const std::string& target : model.columns().targets) {
    names.push_back(target + "_mean");
    names.push_back(target + "_stddev");
    for (const double quantile : options.quantiles) {
      names.push_back(fmt::format("{}_q{}", target, quantile));
    }
  }
  names.insert(names.end(), {"epistemic", "aleatoric", "total", "log_deficit"});
  return names;
}

// The names of the index, the ids and the predictions, in this order.
std::vector<std::string> with_ids(std::vector<std::string> own, const Table& ids) {
  std::vector<std::string> theirs;
  for (const Column& column : ids.columns) {
    theirs.push_back(column.name);
  }
  own = own_columns(std::move(own), theirs);
  own.insert(own.begin() + 1, theirs.begin(), theirs.end());
  return own;
}

void write_rows(CsvWriter& writer, std::size_t first, const Table& ids, const Summary& summary,
                const Uncertainty& uncertainty, std::size_t num_outputs) {
  const std::size_t num_quantiles = summary.quantile.size() / summary.mean.size();
  for (std::size_t n = 0; n < uncertainty.size(); ++n) {
    writer.field(first + n);
    for (const Column& column : ids.columns) {
      put_cell(writer, column, first + n);
    }
    for (std::size_t k = n * num_outputs; k < (n + 1) * num_outputs; ++k) {
      writer.field(summary.mean[k]);
      writer.field(summary.stddev[k]);
      for (std::size_t q = 0; q < num_quantiles; ++q) {
        writer.field(summary.quantile[k * num_quantiles + q]);
      }
    }
    writer.field(uncertainty.epistemic[n]);
    writer.field(uncertainty.aleatoric[n]);
    writer.field(uncertainty.total[n]);
    writer.field(uncertainty.log_deficit[n]);
    writer.end_row();
  }
}

void write_table(const PredictOptions& options, const Ensemble& model, const Table& ids, std::span<const double> inputs,
                 const Mixture<double>& mixture, Executor& executor) {
  const Estimator estimator = parse_estimator(options.estimator);
  check(!estimator.info->ranks_inputs,
        "--estimator: {} ranks inputs against each other; use it in 'dissent score' on the --mixture",
        estimator.info->name);
  CsvWriter writer(options.output, with_ids(column_names(model, options), ids));
  Progress progress("predict", mixture.num_inputs, options.quiet || options.json);
  const std::size_t C = model.num_input_columns();
  const std::size_t size = model.num_components() * model.num_outputs();
  for (std::size_t begin = 0; begin < mixture.num_inputs; begin += kChunkRows) {
    const std::size_t end = std::min(mixture.num_inputs, begin + kChunkRows);
    Mixture<double> part = Mixture<double>::diagonal(end - begin, model.num_components(), model.num_outputs());
    std::copy_n(mixture.mean.begin() + static_cast<std::ptrdiff_t>(begin * size), part.mean.size(), part.mean.begin());
    std::copy_n(mixture.stddev.begin() + static_cast<std::ptrdiff_t>(begin * size), part.stddev.size(),
                part.stddev.begin());
    const Summary summary = summarise(model, inputs.subspan(begin * C, (end - begin) * C), part,
                                      {.quantiles = options.quantiles, .executor = &executor});
    const UncertaintyOptions wanted{.estimator = estimator, .estimate = {&executor, options.seed, begin}};
    write_rows(writer, begin, ids, summary, uncertainty(part.view().weighted(model.weights()), summary, wanted),
               model.num_outputs());
    progress.update(end);
  }
  writer.commit();
}

nlohmann::ordered_json name_or_null(const std::string& name) {
  return name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(name);
}

void run_predict(const PredictOptions& options) {
  check(!options.output.empty() || !options.mixture.empty(),
        "there is nothing to write; give --output OUT.csv, --mixture OUT.npz or both");
  if (!options.output.empty()) {
    check_csv_output(options.output);
  }
  check(!options.json || options.output != "-", "--json and --output - both write to standard output");
  check(options.mixture.empty() || options.mixture.ends_with(".npz"), "--mixture: '{}' must end in .npz",
        options.mixture);
  for (const double quantile : options.quantiles) {
    check(std::ranges::count(options.quantiles, quantile) == 1, "--quantiles: {} is given twice", quantile);
  }
  for (const std::string& name : {options.output, options.mixture}) {
    if (!name.empty() && name != "-") {
      check_writable(name);
    }
  }
  const Ensemble model = Ensemble::load(options.model);
  const Table table = read_table(options.inputs);
  check(table.num_rows > 0, "{}: has no rows", table.source);
  std::vector<std::string> told;
  const std::vector<double> inputs = model.table_encoding().matrix(table, &told);
  warn_of_columns(told, options.quiet);
  model.check_rows(inputs, table.source);
  ThreadPool threads(options.threads);
  const Mixture<double> mixture = model.predict(inputs, &threads);
  if (!options.output.empty()) {
    write_table(options, model, id_columns(options, model, table), inputs, mixture, threads);
  }
  if (!options.mixture.empty()) {
    write_mixture(options.mixture, mixture);
  }
  if (options.json) {
    const nlohmann::ordered_json json{{"version", kVersion},
                                      {"rows", mixture.num_inputs},
                                      {"components", mixture.num_components},
                                      {"targets", model.columns().targets},
                                      {"output", name_or_null(options.output)},
                                      {"mixture", name_or_null(options.mixture)}};
    print_json(json);
  } else if (!options.quiet) {
    for (const std::string& name : {options.output, options.mixture}) {
      if (!name.empty() && name != "-") {
        print_line("{}: {}", name, counted(mixture.num_inputs, "row"));
      }
    }
  }
}

}  // namespace

void add_predict(Command& app) {
  Command& command =
      app.add("predict", "Predict with a fitted ensemble: mean, stddev, quantiles and uncertainty",
              "  dissent predict y.model new.csv --output predictions.csv\n"
              "  dissent predict y.model pool.csv --mixture pool.npz && dissent score pool.npz --top 10");
  const auto options = std::make_shared<PredictOptions>();
  command.argument("MODEL", options->model, "Model file of 'dissent fit'");
  command.argument("INPUTS", options->inputs,
                   "Table with the model's input columns: .csv, .tsv, .npz, .h5 or .hdf5; - is standard input");
  command.option("--quantiles", options->quantiles,
                 {.help = "Quantiles of each target, between 0 and 1", .shown = "Q", .above = 0, .below = 1});
  command.option("-e,--estimator", options->estimator,
                 {.help = "Of the epistemic uncertainty; see 'dissent estimators'", .shown = "NAME"});
  command.option("-o,--output", options->output,
                 {.help = "Predictions, in the table's units; - is standard output", .shown = "OUT.csv"});
  command.names("--id", options->ids,
                {.help = "Columns to pass on to the output; those of the model by default", .shown = "ID"});
  command.option("--mixture", options->mixture, {.help = "The components, for 'dissent score'", .shown = "OUT.npz"});
  add_threads(command, options->threads);
  add_seed(command, options->seed);
  add_json(command, options->json);
  add_quiet(command, options->quiet);
  command.files([options] {
    return CommandFiles{.read = {options->model, options->inputs}, .written = {options->output, options->mixture}};
  });
  command.run([options] { run_predict(*options); });
}

}  // namespace dissent::cli
