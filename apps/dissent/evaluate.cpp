// dissent evaluate: how good a model is on rows whose targets are known.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

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

struct EvaluateOptions {
  std::string model;
  std::string data;
  int threads = 0;
  bool json = false;
};

void run_evaluate(const EvaluateOptions& options) {
  const Ensemble model = Ensemble::load(options.model);
  const Table table = read_table(options.data);
  std::vector<std::string> told;
  const EncodedRows rows = encoded_rows(table, model.table_encoding(), model.columns().targets, told);
  warn_of_columns(told, false);
  in_rows(rows.row_numbers, [&] { model.check_rows(rows.inputs, table.source); });
  ThreadPool threads(options.threads);
  const Metrics metrics = evaluate(model, rows.inputs, rows.targets, &threads);
  nlohmann::ordered_json json{{"version", kVersion}, {"rows", metrics.num_rows}};
  std::string text = fmt::format("{:<18} {}\n", "rows", metrics.num_rows);
  for (const Field<Metrics>& field : fields<Metrics>()) {
    if (field.type == FieldType::kNumber) {
      json[std::string(field.name)] = to_json(field.get(metrics));
      text += fmt::format("{:<18} {:.6g}\n", field.name, as_number(field.get(metrics)));
    }
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
