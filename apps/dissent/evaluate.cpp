// dissent evaluate: how good a model is on rows whose targets are known.
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/table/read_table.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct EvaluateOptions {
  std::string model;
  std::string data;
  int threads = 0;
  bool json = false;
};

constexpr std::array<std::pair<const char*, double Metrics::*>, 8> kMetrics{{
    {"rmse", &Metrics::rmse},
    {"rmse_paper", &Metrics::rmse_paper},
    {"mae", &Metrics::mae},
    {"log_likelihood", &Metrics::log_likelihood},
    {"crps", &Metrics::crps},
    {"coverage_90", &Metrics::coverage_90},
    {"calibration_error", &Metrics::calibration_error},
    {"sharpness", &Metrics::sharpness},
}};

void run_evaluate(const EvaluateOptions& options) {
  const Ensemble model = Ensemble::load(options.model);
  const Table table = read_table(options.data);
  check(table.num_rows > 0, "{}: has no rows", table.source);
  const std::vector<double> inputs = table.matrix(model.columns().inputs);
  const std::vector<double> targets = table.matrix(model.columns().targets);
  model.check_rows(inputs, table.source);
  ThreadPool threads(options.threads);
  const Metrics metrics = evaluate(model, inputs, targets, &threads);
  if (options.json) {
    nlohmann::ordered_json json{{"version", kVersion}, {"rows", metrics.num_rows}};
    for (const auto& [name, value] : kMetrics) {
      json[name] = metrics.*value;
    }
    print_json(json);
    return;
  }
  print_line("{:<18} {}", "rows", metrics.num_rows);
  for (const auto& [name, value] : kMetrics) {
    print_line("{:<18} {:.6g}", name, metrics.*value);
  }
}

}  // namespace

void add_evaluate(Command& app) {
  Command& command = app.add("evaluate", "Measure a fitted ensemble on rows whose targets are known",
                             "  dissent evaluate y.model test.csv\n"
                             "  dissent evaluate y.model test.csv --json");
  const auto options = std::make_shared<EvaluateOptions>();
  command.argument("MODEL", options->model, "Model file of 'dissent fit'");
  command.argument("TEST", options->data, "Table with the model's inputs and targets: .csv, .npz, .h5 or .hdf5");
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.run([options] { run_evaluate(*options); });
}

}  // namespace dissent::cli
