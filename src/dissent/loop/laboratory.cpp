#include "dissent/loop/laboratory.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

constexpr const char* kLabelled = "labelled.csv";
constexpr const char* kPool = "pool.csv";
constexpr const char* kTest = "test.csv";

bool exists(const std::string& path) { return std::filesystem::exists(path); }

std::string rows_text(const std::string& path, const Problem& data, const ProblemRows& rows) {
  std::vector<std::string> names = data.input_names;
  names.insert(names.end(), data.target_names.begin(), data.target_names.end());
  CsvText text(path, names);
  const std::size_t C = data.input_names.size();
  const std::size_t D = data.target_names.size();
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    for (std::size_t c = 0; c < C; ++c) {
      text.field(rows.inputs[row * C + c]);
    }
    for (std::size_t d = 0; d < D; ++d) {
      text.field(rows.targets[row * D + d]);
    }
    text.end_row();
  }
  return text.text();
}

bool holds(const std::string& path, std::string_view text) {
  const MappedFile file(path);
  return std::ranges::equal(file.bytes(), std::as_bytes(std::span(text)));
}

// Copies hold less than the tables they are made from, and replace nothing of anybody else's. Those that are there
// with the same bytes are of a beginning that was cut short.
void write_copies(const CampaignDirectory& directory, const TablePaths& tables, const Problem& data,
                  const Table& pool) {
  std::vector<std::pair<std::string, std::string>> copies;
  copies.emplace_back(directory.file(kLabelled), rows_text(directory.file(kLabelled), data, data.train));
  copies.emplace_back(directory.file(kPool), format_csv(pool));
  if (data.test.num_rows > 0) {
    copies.emplace_back(directory.file(kTest), rows_text(directory.file(kTest), data, data.test));
  }
  check(!tables.test.empty() || !exists(directory.file(kTest)),
        "{}: is there, but --test is not given; remove it, or give another directory", directory.file(kTest));
  for (const auto& [path, text] : copies) {
    for (const std::string* table : {&tables.labelled, &tables.pool, &tables.test}) {
      std::error_code ignored;
      check(table->empty() || !std::filesystem::equivalent(path, *table, ignored),
            "{}: would be replaced by the campaign's copy of a table; give another directory", *table);
    }
    check(!exists(path) || holds(path, text),
          "{}: is there and would be replaced by the campaign's copy of a table; move it, or give another directory",
          path);
  }
  for (const auto& [path, text] : copies) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
  }
}

// The tables of a campaign that exists: its copies, in which the targets are the last columns.
TablePaths copied_tables(const CampaignDirectory& directory, const Campaign& campaign) {
  TablePaths tables;
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

void put_choice(Settings& settings, const std::string& acquisition, const std::string& candidates) {
  if (!acquisition.empty()) {
    settings["--acquisition"] = Acquisition::parse(acquisition).text();
  }
  if (!candidates.empty()) {
    settings["--candidates"] = candidates_text(candidates);
  }
}

// Rows of the table whose targets are all empty are not answered yet; one that is half filled in is a mistake.
std::vector<std::size_t> answered_rows(const Table& table, const std::vector<std::string>& targets) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const auto is_missing = [&](const std::string& name) {
      return std::ranges::binary_search(table.column(name).missing_rows, row);
    };
    const auto num_missing = static_cast<std::size_t>(std::ranges::count_if(targets, is_missing));
    check(num_missing == 0 || num_missing == targets.size(),
          "{}: row {} of the file has some of its targets and not all; fill in {}, or none of them", table.source,
          row + 1, fmt::join(targets, ", "));
    if (num_missing == 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

double number_at(const Table& table, const std::string& name, std::size_t row) {
  const Column& column = table.column(name);
  check(!column.is_text(), "{}: column '{}' row {} is text ('{}'); a number is required", table.source, name,
        column.first_text_row.value_or(0) + 1, column.is_text() ? column.text[*column.first_text_row] : "");
  return column.values[row];
}

// The number of a pool row is a whole one.
std::size_t row_at(const Table& table, std::size_t line) {
  check(!std::ranges::binary_search(table.column("row").missing_rows, line),
        "{}: row {} of the file has its targets, but its 'row' is empty; it says which row of the pool they are of",
        table.source, line + 1);
  const double number = number_at(table, "row", line);
  check(number >= 0 && number < 1e15 && number == std::floor(number), "{}: row {} was never asked for", table.source,
        number);
  return static_cast<std::size_t>(number);
}

void take_answers(Campaign& campaign, const Problem& data, const Answers& answers) {
  std::map<std::size_t, std::size_t> position_of;
  for (std::size_t k = 0; k < campaign.chosen.size(); ++k) {
    position_of[campaign.chosen[k].row] = k;
  }
  const std::size_t D = campaign.num_targets;
  check(answers.targets.size() == answers.rows.size() * D, "{}: {} target values for {} rows of {}", answers.source,
        answers.targets.size(), answers.rows.size(), D);
  const Campaign before = campaign;
  for (std::size_t k = 0; k < answers.rows.size(); ++k) {
    const auto found = position_of.find(answers.rows[k]);
    check(found != position_of.end(), "{}: row {} was never asked for", answers.source, answers.rows[k]);
    try {
      tell(campaign, found->second, std::span(answers.targets).subspan(k * D, D));
    } catch (const InputError& error) {
      fail("{}: {}", answers.source, error.what());
    }
  }
  try {
    check_labels(before, data, fit_settings(before.settings).ensemble().scaling, answers.rows, answers.targets);
  } catch (const InputError& error) {
    fail("{}: {}", answers.source, error.what());
  }
}

}  // namespace

Answers read_answers(const Table& table, const std::vector<std::string>& target_names) {
  check(table.has("row"), "{}: has no column 'row'; answers carry the row numbers of 'dissent ask'", table.source);
  Answers answers{table.source, {}, {}};
  std::map<std::size_t, std::size_t> line_of;
  for (const std::size_t line : answered_rows(table, target_names)) {
    const std::size_t row = row_at(table, line);
    const auto [first, is_new] = line_of.try_emplace(row, line);
    check(is_new, "{}: rows {} and {} of the file both answer row {} of the pool; a row is told once", table.source,
          first->second + 1, line + 1, row);
    answers.rows.push_back(row);
    for (const std::string& name : target_names) {
      answers.targets.push_back(number_at(table, name, line));
    }
  }
  check(!answers.rows.empty(), "{}: no row has its targets filled in ({})", table.source,
        fmt::join(target_names, ", "));
  return answers;
}

Laboratory::Laboratory(CampaignDirectory directory, Campaign campaign, Problem data, Table pool)
    : directory_(std::move(directory)),
      campaign_(std::move(campaign)),
      data_(std::move(data)),
      pool_(std::move(pool)) {}

std::vector<std::string> Laboratory::files(const std::string& path) {
  std::vector<std::string> files = CampaignDirectory::files(path);
  for (const char* name : {kLabelled, kPool, kTest}) {
    files.push_back(path + "/" + name);
  }
  return files;
}

Laboratory Laboratory::begin(const std::string& path, const LaboratoryOptions& options) {
  Problem data = load_tables(options.tables, false);
  Table pool = without_targets(read_table(options.tables.pool), data);
  Settings settings = options.fit;
  put_choice(settings, options.acquisition.empty() ? "kl" : options.acquisition, options.candidates);
  settings["command"] = "ask";
  check_candidates(learn_options(settings).candidates, options.batch);  // says now what is wrong with them
  check(options.batch <= data.pool.num_rows, "--batch: {} rows are wanted; the pool has {}", options.batch,
        data.pool.num_rows);
  CampaignDirectory directory(path);
  check(!directory.begun(), "{}: another process has just begun a campaign here", path);
  write_copies(directory, options.tables, data, pool);
  Campaign campaign = begin_campaign(data, settings);
  directory.save(campaign);
  return {std::move(directory), std::move(campaign), std::move(data), std::move(pool)};
}

Laboratory Laboratory::open(const std::string& path, const LaboratoryOptions& options) {
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
  check(!options.tables.any() || !options.tables.labelled.empty(),
        "{}: the campaign keeps its tables and columns; leave out --pool, --test, --targets and --inputs, or give all "
        "again, --labelled as well",
        path);
  Problem data = load_tables(options.tables.any() ? options.tables : copied_tables(directory, campaign), false);
  check_same(campaign, data, path);
  directory.write_tables(campaign, data);  // a kill may have come between the state and them
  Table pool = without_targets(read_table(directory.file(kPool)), data);
  for (const auto& [name, value] : options.fit) {
    if (!same_fit_setting(name, campaign.settings, options.fit)) {
      campaign.fitted.reset();  // the model there was made by other rules
    }
    campaign.settings[name] = value;
  }
  put_choice(campaign.settings, options.acquisition, options.candidates);
  learn_options(campaign.settings);  // says now what is wrong with them, before they are kept
  return {std::move(directory), std::move(campaign), std::move(data), std::move(pool)};
}

std::size_t Laboratory::ask(std::size_t batch, const FitControl& control) {
  const std::size_t num_pending = campaign_.num_pending();
  const std::size_t num_open = data_.pool.num_rows - campaign_.chosen.size();
  check(num_open + num_pending > 0, "{}: the pool is empty: every row of it has its answer", path());
  const LearnOptions options = learn_options(campaign_.settings);
  check_candidates(options.candidates, batch);
  const std::size_t num_new = batch > num_pending ? std::min(batch - num_pending, num_open) : 0;
  const Campaign before = campaign_;
  try {
    if (num_new > 0) {
      const Ensemble model = fitted_model(control);
      choose_rows(campaign_, data_, options, model, num_new, control.executor);
    }
    directory_.save(campaign_);
  } catch (...) {
    campaign_ = before;
    throw;
  }
  write_tables();
  return num_new;
}

void Laboratory::tell(const Answers& answers, bool refit, const FitControl& control) {
  const Campaign before = campaign_;
  try {
    take_answers(campaign_, data_, answers);
    if (refit) {
      fitted_model(control);
    }
    directory_.save(campaign_);
  } catch (...) {
    campaign_ = before;
    throw;
  }
  write_tables();
}

Ensemble Laboratory::model(const FitControl& control) {
  const bool was_fitted = campaign_.fitted.has_value();
  Ensemble model = fitted_model(control);
  if (!was_fitted) {
    directory_.save(campaign_);
    write_tables();
  }
  return model;
}

// From the directory, or a fresh one on all that is labelled, saved beside the state; that is left to the caller.
Ensemble Laboratory::fitted_model(const FitControl& control) {
  if (campaign_.fitted) {
    if (std::optional<Ensemble> model = directory_.load_model(*campaign_.fitted)) {
      return std::move(*model);
    }
  }
  FittedRound fitted = fit_round(campaign_, data_, learn_options(campaign_.settings), control);
  directory_.save_model(fitted.model);
  campaign_.fitted = fitted.record;
  last_fit_ = std::move(fitted.report);
  return std::move(fitted.model);
}

// The state is saved by now, and stands whatever becomes of the tables that repeat it.
void Laboratory::write_tables() {
  try {
    directory_.write_tables(campaign_, data_);
  } catch (const std::exception& error) {
    fail_system("{}; the campaign itself is saved, with this step, and the next command writes its tables again",
                error.what());
  }
}

}  // namespace dissent
