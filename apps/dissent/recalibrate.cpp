// dissent recalibrate: a model whose predicted spread fits held-out rows.
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/recalibration.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "dissent/table/read_table.hpp"
#include "fit_options.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct RecalibrateOptions {
  std::string model;
  std::string data;
  std::string output;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

void run_recalibrate(const RecalibrateOptions& options) {
  check_binary_output(options.output);
  Ensemble model = Ensemble::load(options.model);
  const Table table = read_table(options.data);
  std::vector<std::string> told;
  const EncodedRows rows = encoded_rows(table, model.table_encoding(), model.columns().targets, told);
  const auto& [num_rows, inputs, targets, row_numbers] = rows;
  warn_of_columns(told, options.quiet);
  check(num_rows >= kMinRecalibrationRows, "{}: has {}; at least {} are required to judge a spread", table.source,
        counted(num_rows, "row"), kMinRecalibrationRows);
  in_rows(row_numbers, [&] { model.check_rows(rows.inputs, table.source); });
  ThreadPool threads(options.threads);
  const Metrics before = evaluate(model, inputs, targets, &threads);
  const std::vector<double> factors = recalibrate(model, inputs, targets, &threads);
  const Metrics after = evaluate(model, inputs, targets, &threads);
  model.save(options.output);
  const std::vector<std::string>& names = model.columns().targets;
  if (options.json) {
    auto list = nlohmann::ordered_json::array();
    for (std::size_t d = 0; d < names.size(); ++d) {
      list.push_back({{"target", names[d]}, {"factor", factors[d]}});
    }
    const auto part = [](const Metrics& m) {
      return nlohmann::ordered_json{{"log_likelihood", m.log_likelihood},
                                    {"coverage_90", m.coverage_90},
                                    {"calibration_error", m.calibration_error}};
    };
    const nlohmann::ordered_json json{{"version", kVersion}, {"output", options.output}, {"rows", num_rows},
                                      {"factors", list},     {"before", part(before)},   {"after", part(after)}};
    print_json(json);
    return;
  }
  if (options.quiet) {
    return;
  }
  for (std::size_t d = 0; d < names.size(); ++d) {
    if (is_factor_limit(factors[d])) {
      fmt::print(stderr, "the spread of '{}' is off by a factor of 1000 or more; is it in the units of the model?\n",
                 names[d]);
    }
  }
  print_line("{}: spread of each target multiplied by", options.output);
  for (std::size_t d = 0; d < names.size(); ++d) {
    print_line("  {:<20} {:.4g}", names[d], factors[d]);
  }
  print_line("on {} rows: log_likelihood {:.4f} (before {:.4f}), coverage_90 {:.3f} ({:.3f})", num_rows,
             after.log_likelihood, before.log_likelihood, after.coverage_90, before.coverage_90);
}

}  // namespace

void add_recalibrate(Command& app) {
  Command& command = app.add("recalibrate", "Correct a model's predicted spread on rows it was not trained on",
                             "  dissent recalibrate y.model held_out.csv --output y2.model");
  const auto options = std::make_shared<RecalibrateOptions>();
  command.argument("MODEL", options->model, "Model file of 'dissent fit'");
  command.argument("HELD_OUT", options->data,
                   "Table with the model's inputs and targets: .csv, .tsv, .npz, .h5 or .hdf5");
  command.option("-o,--output", options->output, {.help = "The corrected model", .shown = "MODEL2"}, Need::kRequired);
  add_threads(command, options->threads);
  add_json(command, options->json);
  add_quiet(command, options->quiet);
  command.files([options] {
    return CommandFiles{.read = {options->model, options->data}, .written = {options->output}};
  });
  command.run([options] { run_recalibrate(*options); });
}

}  // namespace dissent::cli
