#include "campaign_options.hpp"

#include "dissent/base/parse.hpp"

namespace dissent::cli {
namespace {

constexpr std::uint64_t kMostRows = 1'000'000'000;

void check_candidates_text(const std::string& text) {
  const std::uint64_t count = parse_whole(text).value_or(0);
  check_argument(text == "all" || text == "paper" || (count >= 1 && count <= kMostRows), "candidates", text,
                 "it must be a whole number from 1 to {}, all or paper", kMostRows);
}

}  // namespace

void add_table_options(Command& command, TablePaths& tables) {
  command.option("--labelled", tables.labelled,
                 {.help = "Rows whose targets are known: .csv, .npz, .h5 or .hdf5", .shown = "FILE"});
  command.option("--pool", tables.pool, {.help = "Rows to choose from, with the same inputs", .shown = "FILE"});
  command.option("--test", tables.test, {.help = "Rows to measure each round's model on", .shown = "FILE"});
  add_column_options(command, tables.columns, Need::kOptional);
}

void add_choice_options(Command& command, ChoiceOptions& options) {
  command.option("-a,--acquisition", options.acquisition,
                 {.help = "How rows are chosen; 'dissent acquisitions' lists all", .shown = "NAME=kl"});
  command.option("-b,--batch", options.batch,
                 {.help = "Rows to choose at a time", .shown = "B", .least = 1, .most = kMostRows});
  command.option(
      "--candidates",
      {.help = "Rows drawn from the pool to choose among, 'all' or 'paper'; by default what suits the method",
       .shown = "N"},
      [&options](const std::string& text) {
        check_candidates_text(text);
        options.candidates = text;
      });
  command.option(
      "--ranking", options.ranking,
      {.help = find_field<CampaignSettings>("ranking")->traits.help, .shown = "NAME=deficit", .names = ranking_names});
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
  return given;
}

std::string_view model_name_of(const Campaign& campaign) {
  return model_name(campaign.settled ? campaign.settled->model : campaign.settings.fit.ensemble.model);
}

}  // namespace dissent::cli
