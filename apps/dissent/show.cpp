// dissent show: what is in a model file.
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "options.hpp"
#include "record_json.hpp"

namespace dissent::cli {
namespace {

struct ShowOptions {
  std::string model;
  bool json = false;
};

nlohmann::ordered_json columns_json(const std::vector<std::string>& names, const Scaling& scaling) {
  auto list = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < names.size(); ++k) {
    list.push_back({{"name", names[k]}, {"offset", scaling.offset[k]}, {"scale", scaling.scale[k]}});
  }
  return list;
}

void print_columns(std::string_view title, const std::vector<std::string>& names, const Scaling& scaling) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    print_line("{:<12} {} = {:.6g} + {:.6g} * scaled", k == 0 ? title : "", names[k], scaling.offset[k],
               scaling.scale[k]);
  }
}

// How columns of a table that are not plain numbers become inputs.
void print_encoding(const TableEncoding& encoding) {
  bool first = true;
  for (const ColumnCode& code : encoding.columns) {
    if (!code.is_plain()) {
      const std::string levels = code.levels.empty() ? "" : fmt::format(": {}", fmt::join(code.levels, ", "));
      print_line("{:<12} {}, {}{}{}{}", first ? "columns" : "", code.column, kind_name(code.kind), levels,
                 code.has_other ? ", other" : "", code.marks_missing ? "; missing cells are marked" : "");
      first = false;
    }
  }
}

// The names of the targets, with ln before those that were fitted by their logarithms.
std::vector<std::string> fitted_targets(const EnsembleColumns& columns) {
  std::vector<std::string> names = columns.targets;
  for (std::size_t d = 0; d < names.size(); ++d) {
    names[d] = (columns.is_log(d) ? "ln " : "") + names[d];
  }
  return names;
}

void check_no_table(const std::string& path) {
  for (const char* ending : {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".npz", ".h5", ".hdf5"}) {
    check(!path.ends_with(ending),
          "{}: is a table, not a model; 'dissent fit {} --targets NAME --output MODEL' makes a model of it", path,
          path);
  }
}

nlohmann::ordered_json model_json(const Ensemble& model) {
  nlohmann::ordered_json json{{"version", kVersion},
                              {"written_by", model.written_by()},
                              {"format_version", std::stoi(std::string(model.format_version()))},
                              {"recalibrated", !model.spread_factors().empty()},
                              {"spread_factors", model.spread_factors()}};
  json.update(json_of(model.options()));
  json["weights"] = model.weights().value;
  json["hidden"] = model.options().hidden_sizes();
  json["logarithms"] = model.columns().log_targets();
  json["parameters"] = model.parameters().size();
  if (!model.columns().encoding.empty()) {
    json["columns"] = nlohmann::ordered_json::parse(format_encoding(model.columns().encoding));
  }
  json["inputs"] = columns_json(model.columns().inputs, model.columns().input_scaling);
  json["targets"] = columns_json(model.columns().targets, model.columns().target_scaling);
  return json;
}

void print_model(const Ensemble& model) {
  const EnsembleOptions& given = model.options();
  print_line("{:<12} {}, {}, {}", "model", model_name(given.model), counted(model.num_components(), "component"),
             counted(model.parameters().size(), "parameter"));
  print_line("{:<12} format {}, written by dissent {}", "file", model.format_version(), model.written_by());
  print_line("{:<12} {}", "recalibrated",
             model.spread_factors().empty()
                 ? "no"
                 : fmt::format("yes, spread multiplied by {:.4g}", fmt::join(model.spread_factors(), ", ")));
  if (model_kind(given.model).has_network) {
    print_line("{:<12} hidden {}, masks {}, bootstrap {}, {}", "components", fmt::join(given.hidden_sizes(), ","),
               given.keep_probability < 1 ? fmt::format("keep {}", given.keep_probability) : "off",
               given.bootstrap ? "on" : "off",
               given.share_weights         ? "shared weights"
               : given.own_initial_weights ? "own initial weights"
                                           : "the same initial weights");
  }
  print_line("{:<12} {}", "weights", fmt::join(model.weights().value, ", "));
  if (model_kind(given.model).has_flow) {
    print_line("{:<12} {} of {} with {} to {}, conditioner {}", "flow", counted(given.num_flow_layers, "layer"),
               transform_name(given.transform.kind), counted(std::size_t(given.transform.num_bins), "bin"),
               given.transform.tail_bound, fmt::join(given.flow_hidden, ","));
  }
  print_line("{:<12} {}", "seed", given.seed);
  print_line("{:<12} {}", "scaling", scaling_name(given.scaling));
  print_encoding(model.columns().encoding);
  print_columns("inputs", model.columns().inputs, model.columns().input_scaling);
  print_columns("targets", fitted_targets(model.columns()), model.columns().target_scaling);
}

void run_show(const ShowOptions& options) {
  check_no_table(options.model);
  const Ensemble model = Ensemble::load(options.model);
  if (options.json) {
    print_json(model_json(model));
  } else {
    print_model(model);
  }
}

}  // namespace

void add_show(Command& app) {
  Command& command = app.add("show", "Describe a model file", "  dissent show y.model\n  dissent show y.model --json");
  const auto options = std::make_shared<ShowOptions>();
  command.argument("MODEL", options->model, "Model file of 'dissent fit'");
  add_json(command, options->json);
  command.run([options] { run_show(*options); });
}

}  // namespace dissent::cli
