#include "dissent/report/model_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "dissent/base/names.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/report/model_charts.hpp"

namespace dissent::report {
namespace {

// A metric: its name in files and commands, its title for people, how to read it, and its place in Scores.
struct Metric {
  std::string_view name;
  std::string_view title;
  std::string_view meaning;
  double Scores::*value;
};
constexpr Metric kMetrics[] = {
    {"rmse", "RMSE", "Root mean square error, in the target's units", &Scores::rmse},
    {"mae", "MAE", "Mean absolute error, in the target's units", &Scores::mae},
    {"crps", "CRPS", "Error of the whole predicted distribution, in the target's units; smaller is better",
     &Scores::crps},
    {"coverage_50", "Coverage, 50%", "Share of values in the central 50% intervals; 0.5 is right",
     &Scores::coverage_50},
    {"coverage_90", "Coverage, 90%", "Share of values in the central 90% intervals; 0.9 is right",
     &Scores::coverage_90},
    {"coverage_95", "Coverage, 95%", "Share of values in the central 95% intervals; 0.95 is right",
     &Scores::coverage_95},
    {"calibration_error", "Calibration error", "Mean distance of the calibration from the right one; 0 is best",
     &Scores::calibration_error},
    {"sharpness", "Sharpness", "Mean predicted standard deviation, in the target's units", &Scores::sharpness},
};

TableBlock metrics_table(const HeldOut& held_out) {
  TableBlock table{.id = "metrics",
                   .title = fmt::format("On {} of {}", counted(held_out.num_rows, "row"), held_out.source)};
  if (held_out.num_targets > 1) {
    table.note = fmt::format("Over all {} targets; log-likelihood is that of all together.", held_out.num_targets);
  }
  for (const std::string& note : held_out.notes) {
    table.note += (table.note.empty() ? "" : " ") + note + ".";
  }
  table.grid.columns = {{"metric", "Metric"}, {"value", "Value"}, {"meaning", "What it is"}};
  const Scores all = scores(held_out);
  table.grid.rows.push_back(
      {"Log-likelihood", held_out.log_likelihood, "Mean of ln p(actual value) over rows, in nats; larger is better"});
  for (const Metric& metric : kMetrics) {
    table.grid.rows.push_back({metric.title, all.*metric.value, metric.meaning});
  }
  return table;
}

TableBlock target_table(const HeldOut& held_out, const std::vector<std::string>& targets) {
  TableBlock table{.id = "metrics-by-target", .title = "By target"};
  table.grid.columns = {{"target", "Target"}};
  for (const Metric& metric : kMetrics) {
    table.grid.columns.push_back({std::string(metric.name), std::string(metric.title)});
  }
  for (std::size_t d = 0; d < targets.size(); ++d) {
    const Scores one = scores(held_out, d);
    std::vector<Json> row{targets[d]};
    for (const Metric& metric : kMetrics) {
      row.emplace_back(one.*metric.value);
    }
    table.grid.rows.push_back(std::move(row));
  }
  return table;
}

KeyNumbers key_numbers(const HeldOut& held_out) {
  const Scores all = scores(held_out);
  return {{{"RMSE", fmt::format("{:.4g}", all.rmse), "root mean square error"},
           {"Log-likelihood", fmt::format("{:.4g}", held_out.log_likelihood), "nats per row"},
           {"CRPS", fmt::format("{:.4g}", all.crps), "of the whole distribution"},
           {"90% intervals hold", fmt::format("{:.1f}%", 100 * all.coverage_90), "of the values"}}};
}

TableBlock facts_table(const Ensemble& model) {
  const EnsembleOptions& given = model.options();
  const ModelKind& kind = model_kind(given.model);
  TableBlock table{.id = "model-facts", .title = "What it is"};
  table.grid.columns = {{"fact", "What"}, {"value", "Value"}};
  const auto add = [&](const char* fact, Json value) { table.grid.rows.push_back({fact, std::move(value)}); };
  add("kind", fmt::format("{}: {}", kind.name, kind.help));
  add("components", model.num_components());
  add("parameters", model.parameters().size());
  add("input columns", model.num_input_columns());
  add("targets", fmt::format("{}", fmt::join(model.columns().targets, ", ")));
  if (!model.columns().log_targets().empty()) {
    add("fitted by logarithm", fmt::format("{}", fmt::join(model.columns().log_targets(), ", ")));
  }
  if (kind.has_network) {
    add("hidden layers", fmt::format("{}", fmt::join(given.hidden_sizes(), ", ")));
  }
  if (kind.has_flow) {
    add("flow layers", given.num_flow_layers);
  }
  add("recalibrated", model.spread_factors().empty()
                          ? "no"
                          : fmt::format("spread times {:.4g}", fmt::join(model.spread_factors(), ", ")));
  add("input scaling", scaling_name(given.scaling));
  add("seed", fmt::format("{}", given.seed));
  add("written by", "dissent " + model.written_by());
  add("file format", std::string(model.format_version()));
  return table;
}

void add_ranges(Grid& grid, const HeldOut& held_out) {
  const std::size_t C = grid.rows.size();
  grid.columns.insert(grid.columns.end(), {{"least", "Held-out, least"}, {"mean", "Mean"}, {"greatest", "Greatest"}});
  for (std::size_t c = 0; c < C; ++c) {
    double least = held_out.inputs[c];
    double greatest = least;
    double sum = 0;
    for (std::size_t k = c; k < held_out.inputs.size(); k += C) {
      least = std::min(least, held_out.inputs[k]);
      greatest = std::max(greatest, held_out.inputs[k]);
      sum += held_out.inputs[k];
    }
    const double mean = sum / static_cast<double>(held_out.num_rows);
    grid.rows[c].insert(grid.rows[c].end(), {Json(least), Json(mean), Json(greatest)});
  }
}

TableBlock inputs_table(const Ensemble& model, const HeldOut* held_out) {
  TableBlock table{.id = "input-columns", .title = "Input columns"};
  table.note = "The model sees (value - offset) / scale.";
  table.grid.columns = {{"column", "Column"}, {"offset", "Offset"}, {"scale", "Scale"}};
  const EnsembleColumns& columns = model.columns();
  for (std::size_t c = 0; c < columns.inputs.size(); ++c) {
    table.grid.rows.push_back({columns.inputs[c], columns.input_scaling.offset[c], columns.input_scaling.scale[c]});
  }
  if (held_out != nullptr) {
    add_ranges(table.grid, *held_out);
  }
  return table;
}

}  // namespace

std::vector<Section> held_out_sections(const Ensemble& model, const HeldOut& held_out) {
  const std::vector<std::string>& targets = model.columns().targets;
  Section summary{"accuracy", "Accuracy", {key_numbers(held_out), parity_chart(held_out, targets)}};
  Section calibration{
      "calibration-section", "Calibration", {calibration_chart(held_out, targets), residual_chart(held_out, targets)}};
  Section doubt{"uncertainty-section", "Uncertainty", {uncertainty_chart(held_out)}};
  Section numbers{"metrics-section", "Metrics", {metrics_table(held_out)}};
  if (targets.size() > 1) {
    numbers.blocks.emplace_back(target_table(held_out, targets));
  }
  return {summary, calibration, doubt, numbers};
}

Section model_section(const Ensemble& model, const HeldOut* held_out) {
  return {"model", "The model", {facts_table(model), inputs_table(model, held_out)}};
}

Page model_page(const std::string& name, const Ensemble& model, const HeldOut* held_out) {
  const std::string targets = model.num_outputs() <= 3 ? fmt::format("{}", fmt::join(model.columns().targets, ", "))
                                                       : counted(model.num_outputs(), "target");
  Page page{.title = "Model " + std::filesystem::path(name).filename().string(),
            .subtitle = fmt::format("{} of {} from {}", model_name(model.options().model), targets,
                                    counted(model.num_input_columns(), "input column"))};
  if (held_out != nullptr) {
    page.subtitle += fmt::format(", on {} of {}", counted(held_out->num_rows, "row"), held_out->source);
    page.sections = held_out_sections(model, *held_out);
  }
  page.sections.push_back(model_section(model, held_out));
  return page;
}

}  // namespace dissent::report
