#include "ask_tell.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/read_table.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

constexpr const char* kLabelled = "labelled.csv";
constexpr const char* kPool = "pool.csv";
constexpr const char* kTest = "test.csv";

bool exists(const std::string& path) { return std::filesystem::exists(path); }

void write_rows(const std::string& path, const Problem& data, const ProblemRows& rows) {
  std::vector<std::string> names = data.input_names;
  names.insert(names.end(), data.target_names.begin(), data.target_names.end());
  CsvWriter writer(path, names);
  const std::size_t C = data.input_names.size();
  const std::size_t D = data.target_names.size();
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    for (std::size_t c = 0; c < C; ++c) {
      writer.field(rows.inputs[row * C + c]);
    }
    for (std::size_t d = 0; d < D; ++d) {
      writer.field(rows.targets[row * D + d]);
    }
    writer.end_row();
  }
  writer.commit();
}

// Copies hold less than the tables they are made from, and replace nothing of anybody else's.
void check_copies(const CampaignDirectory& directory, const TableOptions& tables) {
  for (const char* name : {kLabelled, kPool, kTest}) {
    for (const std::string* table : {&tables.labelled, &tables.pool, &tables.test}) {
      std::error_code ignored;
      check(table->empty() || !std::filesystem::equivalent(directory.file(name), *table, ignored),
            "{}: would be replaced by the campaign's copy of a table; give another directory", *table);
    }
  }
  check(!tables.test.empty() || !exists(directory.file(kTest)),
        "{}: is there, but --test is not given; remove it, or give another directory", directory.file(kTest));
}

void write_copies(const CampaignDirectory& directory, const Problem& data, const Table& pool) {
  write_rows(directory.file(kLabelled), data, data.train);
  write_csv(directory.file(kPool), pool);
  if (data.test.num_rows > 0) {
    write_rows(directory.file(kTest), data, data.test);
  }
}

// The tables of a campaign that exists: its copies, in which the targets are the last columns.
TableOptions copied_tables(const CampaignDirectory& directory, const Campaign& campaign) {
  TableOptions tables;
  tables.labelled = directory.file(kLabelled);
  tables.pool = directory.file(kPool);
  tables.test = exists(directory.file(kTest)) ? directory.file(kTest) : "";
  const Table labelled = read_table(tables.labelled);
  check(labelled.columns.size() > campaign.num_targets, "{}: has {} columns; the campaign has {} targets",
        tables.labelled, labelled.columns.size(), campaign.num_targets);
  for (std::size_t k = 0; k < labelled.columns.size(); ++k) {
    const bool is_input = k + campaign.num_targets < labelled.columns.size();
    (is_input ? tables.columns.inputs : tables.columns.targets).push_back(labelled.columns[k].name);
  }
  return tables;
}

// A pool's own targets, if it has such columns, are not looked at and not passed on.
Table without_targets(Table table, const Problem& data) {
  std::erase_if(table.columns, [&](const Column& column) {
    return std::ranges::find(data.target_names, column.name) != data.target_names.end();
  });
  check(!table.has("row"), "{}: has a column 'row', the name of the row numbers in the answers; rename it",
        table.source);
  return table;
}

void put_choice(Settings& settings, const ChoiceOptions& choice, bool acquisition_given) {
  if (acquisition_given) {
    settings["--acquisition"] = Acquisition::parse(choice.acquisition).text();
  }
  if (!choice.candidates.empty()) {
    settings["--candidates"] = choice.candidates;
  }
}

LaboratoryCampaign begin(const std::string& path, const LaboratoryOptions& options) {
  Problem data = load_tables(options.tables, false);
  Table pool = without_targets(read_table(options.tables.pool), data);
  Settings settings = options.given_fit;
  put_choice(settings, options.choice, true);
  settings["command"] = "ask";
  fit_options_of(settings).ensemble();  // says now what is wrong with them
  fit_options_of(settings).train();
  check(options.choice.batch <= data.pool.num_rows, "--batch: {} rows are wanted; the pool has {}",
        options.choice.batch, data.pool.num_rows);
  CampaignDirectory directory(path);
  check(!directory.begun(), "{}: another process has just begun a campaign here", path);
  check_copies(directory, options.tables);
  write_copies(directory, data, pool);
  Campaign campaign = begin_campaign(data, settings);
  directory.save(campaign);
  return {std::move(directory), std::move(campaign), std::move(data), std::move(pool)};
}

}  // namespace

LaboratoryCampaign open_laboratory(const std::string& path, const LaboratoryOptions& options) {
  if (!exists(path + "/state.safetensors")) {
    check(options.tables.any(),
          "{}: no campaign was begun here; 'dissent ask {} --labelled L.csv --pool P.csv "
          "--targets y' begins one",
          path, path);
    return begin(path, options);
  }
  CampaignDirectory directory(path);
  Campaign campaign = directory.load();
  const auto command = campaign.settings.find("command");
  check(command != campaign.settings.end() && command->second == "ask",
        "{}: the campaign was begun by 'dissent learn', and only that can go on with it", path);
  Problem data = load_tables(options.tables.any() ? options.tables : copied_tables(directory, campaign), false);
  check_same(campaign, data, path);
  directory.write_tables(campaign, data);  // a kill may have come between the state and them
  Table pool = without_targets(read_table(directory.file(kPool)), data);
  for (const auto& [name, value] : options.given_fit) {
    const auto [entry, is_new] = campaign.settings.try_emplace(name, value);
    if (is_new || entry->second != value) {
      entry->second = value;
      campaign.fitted.reset();  // the model there was made by other rules
    }
  }
  put_choice(campaign.settings, options.choice, options.acquisition_given);
  return {std::move(directory), std::move(campaign), std::move(data), std::move(pool)};
}

LearnOptions learn_options(const Campaign& campaign) {
  const auto setting = [&](const char* name) {
    const auto found = campaign.settings.find(name);
    return found == campaign.settings.end() ? std::string() : found->second;
  };
  ChoiceOptions choice;
  choice.acquisition = setting("--acquisition");
  choice.candidates = setting("--candidates");
  return learn_options(fit_options_of(campaign.settings), choice);
}

Ensemble refit(LaboratoryCampaign& laboratory, ThreadPool& pool, bool quiet) {
  std::unique_ptr<Progress> progress;
  const auto show = [&](const FitProgress& state) {
    if (!progress) {
      progress = std::make_unique<Progress>("fit", state.epochs, quiet);
    }
    progress->update(state.epoch, loss_text(state));
    return true;
  };
  try {
    FittedRound fitted =
        fit_round(laboratory.campaign, laboratory.data, learn_options(laboratory.campaign), {&pool, show});
    laboratory.directory.save_model(fitted.model);
    laboratory.campaign.fitted = fitted.record;
    return std::move(fitted.model);
  } catch (const InputError& error) {
    fail_fit(laboratory.directory.path(), error);
  }
}

}  // namespace dissent::cli
