// dissent evaluate: how good a model is on rows whose targets are known.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "dissent/table/read_table.hpp"
#include "fit_options.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kMostShown = 30;  // targets

struct EvaluateOptions {
  std::string model;
  std::string data;
  int threads = 0;
  bool json = false;
};

// Metrics of a single target: it has no density of its own, and rmse_paper takes a root over all targets of a row.
bool is_by_target(const Field<Metrics>& field) {
  return field.type == FieldType::kNumber && field.name != "log_likelihood" && field.name != "rmse_paper";
}

// The names of the metrics, and below them a line for each target.
std::string target_text(const std::vector<std::string>& names, const std::vector<Metrics>& metrics) {
  std::size_t width = std::string_view("target").size();
  for (const std::string& name : names) {
    width = std::max(width, name.size());
  }
  std::string text = fmt::format("\n{:<{}}", "target", width);
  for (const Field<Metrics>& field : fields<Metrics>()) {
    text += is_by_target(field) ? fmt::format("  {:>11}", field.name) : "";
  }
  for (std::size_t d = 0; d < names.size(); ++d) {
    text += fmt::format("\n{:<{}}", names[d], width);
    for (const Field<Metrics>& field : fields<Metrics>()) {
      const std::size_t column = std::max<std::size_t>(11, field.name.size());
      text += is_by_target(field) ? fmt::format("  {:>{}.6g}", as_number(field.get(metrics[d])), column) : "";
    }
  }
  return text + "\n";
}

nlohmann::ordered_json target_json(const std::vector<std::string>& names, const std::vector<Metrics>& metrics) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t d = 0; d < names.size(); ++d) {
    for (const Field<Metrics>& field : fields<Metrics>()) {
      if (is_by_target(field)) {
        json[names[d]][std::string(field.name)] = to_json(field.get(metrics[d]));
      }
    }
  }
  return json;
}

void run_evaluate(const EvaluateOptions& options) {
  const Ensemble model = Ensemble::load(options.model);
  const Table table = read_table(options.data);
  std::vector<std::string> told;
  const EncodedRows rows = encoded_rows(table, model.table_encoding(), model.columns().targets, told);
  warn_of_columns(told, false);
  in_rows(rows.row_numbers, [&] { model.check_rows(rows.inputs, table.source); });
  ThreadPool threads(options.threads);
  const std::vector<std::string>& names = model.columns().targets;
  std::vector<Metrics> by_target;
  const Metrics metrics = evaluate(model, rows.inputs, rows.targets, &threads, &by_target);
  nlohmann::ordered_json json{{"version", kVersion}, {"rows", metrics.num_rows}};
  std::string text = fmt::format("{:<18} {}\n", "rows", metrics.num_rows);
  for (const Field<Metrics>& field : fields<Metrics>()) {
    if (field.type == FieldType::kNumber) {
      json[std::string(field.name)] = to_json(field.get(metrics));
      text += fmt::format("{:<18} {:.6g}\n", field.name, as_number(field.get(metrics)));
    }
  }
  json["targets"] = target_json(names, by_target);
  if (names.size() > 1) {
    text += names.size() <= kMostShown ? target_text(names, by_target) : "\n--json has those of each target\n";
  }
  options.json ? print_json(json) : print(text);
}

}  // namespace

void add_evaluate(Command& app) {
  Command& command = app.add("evaluate", "Measure a fitted ensemble on rows whose targets are known",
                             "  dissent evaluate y.model test.csv\n"
                             "  dissent evaluate y.model test.csv --json");
  const auto options = std::make_shared<EvaluateOptions>();
  command.argument("MODEL", options->model, "Model file of 'dissent fit'");
  command.argument("TEST", options->data, "Table with the model's inputs and targets: .csv, .tsv, .npz, .h5 or .hdf5");
  add_threads(command, options->threads);
  add_json(command, options->json);
  command.run([options] { run_evaluate(*options); });
}

}  // namespace dissent::cli
