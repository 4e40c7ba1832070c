#include "suggest_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "campaign_options.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/own_columns.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kComparedRows = 1000;  // of the pool, for the sentence on what drove the choice
constexpr double kHardlyMore = 1.2;          // times the pool's disagreement

// 50000 -> "50,000"
std::string with_commas(std::size_t number) {
  constexpr std::size_t kGroup = 3;
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > kGroup; end -= kGroup) {
    text.insert(end - kGroup, ",");
  }
  return text;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Disagreement and noise of rows by the same measure, whatever chose them.
Choice measured(AcquisitionTask task, std::span<const double> inputs) {
  task.batch = inputs.size() / task.model.num_input_columns();
  task.aim = {};
  return choose(Acquisition::parse("random"), task, inputs);
}

// "7 of 10 lie outside the labelled range of 'x'", for the input with the most; empty if there are none.
std::string outside_text(const Ensemble& model, std::span<const double> chosen, std::span<const double> labelled) {
  const std::size_t C = model.num_input_columns();
  std::size_t most = 0;
  std::size_t column = 0;
  for (std::size_t c = 0; c < C && !labelled.empty(); ++c) {
    double low = labelled[c];
    double high = labelled[c];
    for (std::size_t k = c; k < labelled.size(); k += C) {
      low = std::min(low, labelled[k]);
      high = std::max(high, labelled[k]);
    }
    std::size_t outside = 0;
    for (std::size_t k = c; k < chosen.size(); k += C) {
      outside += chosen[k] < low || chosen[k] > high ? 1 : 0;
    }
    if (outside > most) {
      most = outside;
      column = c;
    }
  }
  return most == 0 ? ""
                   : fmt::format("; {} of {} {} outside the labelled range of '{}'", most, chosen.size() / C,
                                 most == 1 ? "lies" : "lie",
                                 model.table_encoding().columns[model.table_encoding().column_of(column)].column);
}

std::vector<std::string> output_names(const Table& pool) {
  std::vector<std::string> names;
  for (const Column& column : pool.columns) {
    names.push_back(column.name);
  }
  const std::vector<std::string> own = own_columns({"row", "score", "epistemic", "aleatoric", "why"}, names);
  names.insert(names.begin(), own.front());
  names.insert(names.end(), own.begin() + 1, own.end());
  return names;
}

template <class Writer>
void put_suggested(Writer& writer, const Suggestion& suggestion) {
  const Choice& choice = suggestion.choice;
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    writer.field(choice.rows[k]);
    for (const Column& column : suggestion.rows.columns) {
      put_cell(writer, column, k);
    }
    writer.field(choice.scores[k]);
    writer.field(choice.epistemic[k]);
    writer.field(choice.aleatoric[k]);
    writer.field(std::string_view(suggestion.why[k]));
    writer.end_row();
  }
}

}  // namespace

std::string choice_sentence(const CampaignSettings& settings, const AcquisitionTask& task, const PoolChoice& pool,
                            const Choice& choice) {
  const Acquisition& acquisition = settings.acquisition;
  const std::string per_cost = settings.cost.empty() ? "" : " per cost";
  const bool conditions = pool.has_conditions();
  const std::vector<double> chosen = pool.inputs(choice.rows);
  const Choice ours = measured(task, chosen);
  const Choice usual = measured(task, pool.draw(kComparedRows, task.stream));
  const double disagreement = mean(ours.epistemic);
  const double of_pool = mean(usual.epistemic);
  const std::string numbers =
      fmt::format("{:.3g} nats on average where {} {:.3g} (noise: {:.3g} against {:.3g}){}", disagreement,
                  conditions ? "the rows that may be chosen have" : "the pool has", of_pool, mean(ours.aleatoric),
                  mean(usual.aleatoric), outside_text(task.model, chosen, task.training.inputs));
  if (!acquisition.info().uses_model) {
    return "Drawn at random; the components disagree about these rows by " + numbers + ".";
  }
  const bool hardly_more = disagreement <= kHardlyMore * of_pool;
  const std::string finding =
      hardly_more
          ? fmt::format("components disagree about these rows hardly more than about {}",
                        conditions ? "the others that may be chosen" : "the rest of the pool")
          : fmt::format("components disagree about these rows {:.1f} times as much as usual", disagreement / of_pool);
  if (acquisition.info().uses_aim) {
    const std::string_view aim = !task.aim.empty() ? "at the aim"
                                 : conditions      ? "for the rows that may be chosen"
                                                   : "for the pool";
    return fmt::format("Chosen because their labels tell most{} about predictions {}; {}: {}.", per_cost, aim, finding,
                       numbers);
  }
  if (!acquisition.info().estimates || !per_cost.empty()) {
    return fmt::format("Chosen by {}{} ({}); the {}: {}.", acquisition.text(), per_cost, acquisition.info().summary,
                       finding, numbers);
  }
  return fmt::format("{} {}: {}.", hardly_more ? "The" : "Chosen because the", finding, numbers);
}

std::string among_text(std::size_t num_rows, std::size_t num_candidates, bool conditions) {
  const std::string drawn =
      num_candidates < num_rows ? fmt::format(" ({} drawn to choose among)", with_commas(num_candidates)) : "";
  return fmt::format("{} {}{}{}", with_commas(num_rows), num_rows == 1 ? "row" : "rows",
                     conditions ? " that may be chosen" : "", drawn);
}

std::size_t num_common(const Choice& one, const Choice& other) {
  return static_cast<std::size_t>(std::ranges::count_if(
      one.rows, [&](std::size_t row) { return std::ranges::find(other.rows, row) != other.rows.end(); }));
}

void write_suggestion(const std::string& output, const Suggestion& suggestion) {
  if (output == "-") {
    CsvText text("standard output", output_names(suggestion.rows));
    put_suggested(text, suggestion);
    print(text.text());
    return;
  }
  CsvWriter writer(output, output_names(suggestion.rows));
  put_suggested(writer, suggestion);
  writer.commit();
}

void print_suggestion(const std::string& output, const Suggestion& suggestion) {
  const std::size_t count = suggestion.choice.rows.size();
  std::string text = suggestion.sentence + "\n";
  if (suggestion.stable_rows) {
    text += fmt::format("Another fit would choose {} of these {}.\n", *suggestion.stable_rows, counted(count, "row"));
  }
  if (output == "-") {
    fmt::print(stderr, "{}", text);
    return;
  }
  print_line("{}: {} of {}", output, count, suggestion.among);
  print(text);
}

void print_suggestion_json(const std::string& output, const Suggestion& suggestion) {
  const Choice& choice = suggestion.choice;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    rows.push_back({{"row", choice.rows[k]},
                    {"score", choice.scores[k]},
                    {"epistemic", choice.epistemic[k]},
                    {"aleatoric", choice.aleatoric[k]},
                    {"why", suggestion.why[k]}});
  }
  nlohmann::ordered_json stable;
  if (suggestion.stable_rows) {
    stable = *suggestion.stable_rows;
  }
  print_json({{"version", kVersion},
              {"acquisition", suggestion.acquisition},
              {"model", suggestion.model},
              {"candidates", suggestion.num_candidates},
              {"rows", rows},
              {"reason", suggestion.sentence},
              {"stable_rows", stable},
              {"seed", suggestion.seed},
              {"output", output}});
}

}  // namespace dissent::cli
