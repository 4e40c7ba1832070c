#include "campaign_options.hpp"

#include <utility>

#include "dissent/base/parse.hpp"

namespace dissent::cli {
namespace {

constexpr std::uint64_t kMostRows = 1'000'000'000;

void check_candidates_text(const std::string& text) {
  const std::string_view number = text.starts_with("nested:") ? std::string_view(text).substr(7) : text;
  const std::uint64_t count = parse_whole(number).value_or(0);
  check_argument(text == "all" || text == "paper" || (count >= 1 && count <= kMostRows), "candidates", text,
                 "it must be a whole number from 1 to {}, all, paper or nested:N", kMostRows);
}

std::string_view help_of(std::string_view setting) { return find_field<CampaignSettings>(setting)->traits.help; }

}  // namespace

void add_table_options(Command& command, TablePaths& tables) {
  command.option("--labelled", tables.labelled,
                 {.help = "Rows whose targets are known: .csv, .tsv, .npz, .h5 or .hdf5", .shown = "FILE"});
  command.option("--pool", tables.pool, {.help = "Rows to choose from, with the same inputs", .shown = "FILE"});
  command.option("--test", tables.test, {.help = "Rows to measure each round's model on", .shown = "FILE"});
  add_aim_option(command, tables.aim);
  add_column_options(command, tables.columns, Need::kOptional);
}

void add_aim_option(Command& command, std::string& path) {
  command.option("--aim", path,
                 {.help = "Inputs where predictions will be needed; rows are chosen for those", .shown = "FILE"});
}

void add_choice_options(Command& command, ChoiceOptions& options) {
  const std::string usual = fmt::format("NAME={}", default_acquisition());
  command.option("-a,--acquisition", options.acquisition,
                 {.help = "How rows are chosen; 'dissent acquisitions' lists all", .shown = usual});
  command.option("-b,--batch", options.batch,
                 {.help = "Rows to choose at a time", .shown = "B", .least = 1, .most = kMostRows});
  command.option("--candidates", {.help = help_of("candidates"), .shown = "N"}, [&options](const std::string& text) {
    check_candidates_text(text);
    options.candidates = text;
  });
  command.option("--ranking", options.ranking,
                 {.help = help_of("ranking"), .shown = "NAME=deficit", .names = ranking_names});
  command.text("--cost", options.cost, {.help = help_of("cost"), .shown = "COLUMN"});
  command.texts("--require", options.require, {.help = help_of("require"), .shown = "COND"});
  command.texts("--exclude", options.exclude, {.help = help_of("exclude"), .shown = "COND"});
  command.either_flag("skip-outliers", options.skip_outliers, help_of("skip_outliers"));
}

Values given_settings(const ChoiceOptions& choice, const Values& given_fit) {
  Values given = given_fit;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) {
      given[name] = text;
    }
  };
  add("acquisition", choice.acquisition);
  add("candidates", choice.candidates);
  add("ranking", choice.ranking);
  if (choice.cost) {
    given["cost"] = *choice.cost;
  }
  for (const auto& [name, conditions] :
       {std::pair("require", &choice.require), std::pair("exclude", &choice.exclude)}) {
    if (!conditions->empty()) {
      given[name] = fmt::format("{}", fmt::join(*conditions, ","));
    }
  }
  if (choice.skip_outliers) {
    given["skip_outliers"] = *choice.skip_outliers;
  }
  return given;
}

std::string none_allowed_text(std::size_t num_left) {
  return num_left == 1 ? "the 1 row left does not meet the conditions"
                       : fmt::format("no further row of the {} left meets the conditions", num_left);
}

std::string_view model_name_of(const Campaign& campaign) {
  return model_name(campaign.settled ? campaign.settled->model : campaign.settings.fit.ensemble.model);
}

}  // namespace dissent::cli
