#include "score_summary.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"

namespace dissent::cli {
namespace {

using Json = nlohmann::ordered_json;  // writes what is not finite as null

std::vector<const char*> shown_columns(const ScoreShape& input) {
  if (input.space == Space::kBase) {
    return {"epistemic", "log_deficit"};
  }
  return {"epistemic", "aleatoric", "total", "log_deficit"};
}

// Columns of whole numbers: "refine_3_samples"
bool is_count(const std::string& name) { return name.ends_with("samples") || name.ends_with("undecided"); }

std::size_t position(const ScoreSummary& summary, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(summary.names, name) - summary.names.begin());
}

std::string outputs_text(const ScoreShape& input) {
  return input.num_classes > 0
             ? fmt::format("{} classes", input.num_classes)
             : fmt::format("{}, {} covariance", counted(input.num_outputs, "output"), input.full ? "full" : "diagonal");
}

// What refine reports about its work.
struct RefineWork {
  std::size_t inputs_sampled;
  double samples;
  std::size_t undecided;
};

RefineWork refine_work(const ScoreSummary& summary, const std::string& prefix) {
  const ColumnSummary& samples = summary.columns[position(summary, prefix + "samples")];
  const ColumnSummary& undecided = summary.columns[position(summary, prefix + "undecided")];
  return {samples.num_positive(), samples.sum(), undecided.num_positive()};
}

std::string estimator_text(const ScoreSummary& summary, std::size_t k) {
  const ScoreMethod& method = summary.methods[k];
  const std::string prefix = column_prefixes(summary.methods)[k];
  std::string text =
      fmt::format("\n{:<20}{:>13}{:>13}{:>13}   bound: {}\n", method.name, "min", "mean", "max", name_of(method.bound));
  for (const char* name : shown_columns(summary.input)) {
    const ColumnSummary& column = summary.columns[position(summary, prefix + name)];
    text += fmt::format("  {:<18}{:>13.6g}{:>13.6g}{:>13.6g}\n", name, column.min(), column.mean(), column.max());
  }
  if (method.ranks_inputs) {
    const RefineWork work = refine_work(summary, prefix);
    text += fmt::format("  {} of {} sampled, {:.0f} samples, {} undecided\n", work.inputs_sampled,
                        counted(summary.input.num_inputs, "input"), work.samples, work.undecided);
  }
  return text;
}

// All columns of a single estimator; only the epistemic ones of several, to fit a screen.
std::string top_text(const ScoreSummary& summary) {
  std::vector<std::size_t> shown;
  for (std::size_t k = 0; k < summary.names.size(); ++k) {
    const std::string& name = summary.names[k];
    if (summary.methods.size() == 1 || name.ends_with("_epistemic")) {
      shown.push_back(k);
    }
  }
  const auto width = [&](std::size_t k) { return std::max<std::size_t>(13, summary.names[k].size() + 2); };
  std::string text = fmt::format("\nmost uncertain, by log_deficit of {}:\n{:>12}", summary.methods[0].name, "index");
  for (const std::size_t k : shown) {
    text += fmt::format("{:>{}}", summary.names[k], width(k));
  }
  for (std::size_t n = 0; n < summary.top.index.size(); ++n) {
    text += fmt::format("\n{:>12}", summary.top.index[n]);
    for (const std::size_t k : shown) {
      text += fmt::format("{:>{}.6g}", summary.top.columns[k][n], width(k));
    }
  }
  return text + "\n";
}

Json column_json(const ColumnSummary& column) {
  return {{"min", column.min()}, {"mean", column.mean()}, {"max", column.max()}};
}

}  // namespace

void ColumnSummary::add(std::span<const double> values) {
  for (const double value : values) {
    sum_ += value;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    num_positive_ += value > 0 ? 1 : 0;
  }
  count_ += values.size();
}

std::string summary_text(const ScoreSummary& summary) {
  const ScoreShape& input = summary.input;
  std::string text = fmt::format("{}: {}, {}, {}\n", summary.input_name, counted(input.num_inputs, "input"),
                                 counted(input.num_components, "component"), outputs_text(input));
  text += fmt::format("entropy of the weights: {:.6g} nats, the most epistemic uncertainty there can be\n",
                      input.weights.entropy);
  if (input.num_inputs > 0) {
    for (std::size_t k = 0; k < summary.methods.size(); ++k) {
      text += estimator_text(summary, k);
    }
    text += top_text(summary);
    text +=
        "\nepistemic: nats by which the components disagree; 0: they say the same, and one more measurement there\n"
        "teaches little. aleatoric: entropy ";
    text += input.num_classes > 0 ? "of the class within the components.\n"
                                  : "of the noise within the components, below 0 where there is little noise.\n";
  }
  if (!summary.output_name.empty()) {
    text += fmt::format("wrote {}\n", summary.output_name);
  }
  return text;
}

Json summary_json(const ScoreSummary& summary) {
  const ScoreShape& input = summary.input;
  Json estimators = Json::array();
  const std::vector<std::string> prefixes = column_prefixes(summary.methods);
  for (std::size_t k = 0; k < summary.methods.size(); ++k) {
    const ScoreMethod& method = summary.methods[k];
    Json entry{{"name", method.name}, {"bound", name_of(method.bound)}};
    for (const char* name : shown_columns(input)) {
      entry[name] = column_json(summary.columns[position(summary, prefixes[k] + name)]);
    }
    if (method.ranks_inputs) {
      const RefineWork work = refine_work(summary, prefixes[k]);
      entry["inputs_sampled"] = work.inputs_sampled;
      entry["samples"] = static_cast<std::uint64_t>(work.samples);
      entry["undecided"] = work.undecided;
    }
    estimators.push_back(std::move(entry));
  }
  Json top = Json::array();
  for (std::size_t n = 0; n < summary.top.index.size(); ++n) {
    Json row{{"index", summary.top.index[n]}};
    for (std::size_t k = 0; k < summary.names.size(); ++k) {
      const double value = summary.top.columns[k][n];
      row[summary.names[k]] = is_count(summary.names[k]) ? Json(static_cast<std::uint64_t>(value)) : Json(value);
    }
    top.push_back(std::move(row));
  }
  Json result{{"version", kVersion},
              {"input", summary.input_name},
              {"num_inputs", input.num_inputs},
              {"num_components", input.num_components}};
  if (input.num_classes > 0) {
    result["num_classes"] = input.num_classes;
  } else {
    result["num_outputs"] = input.num_outputs;
    result["covariance"] = input.full ? "full" : "diagonal";
  }
  result["weights"] = input.weights.value;
  result["weights_entropy"] = input.weights.entropy;
  result["estimators"] = std::move(estimators);
  result["top"] = std::move(top);
  result["output"] = summary.output_name.empty() ? Json(nullptr) : Json(summary.output_name);
  return result;
}

}  // namespace dissent::cli
