#include "dissent/report/campaign_view.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/report/pool_check.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent::report {
namespace {

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

bool has_numbers(const Table& table, const std::string& name) {
  return table.has(name) && !table.column(name).is_text() && table.column(name).missing_rows.empty();
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::size_t> chosen_numbers(const Campaign& campaign) {
  std::vector<std::size_t> rows;
  for (const ChosenRow& chosen : campaign.chosen) {
    rows.push_back(chosen.row);
  }
  return rows;
}

// The copies that a campaign with people keeps.
void read_copies(CampaignView& view, const CampaignDirectory& directory) {
  KeptCampaign kept = read_kept(directory);
  view.status = status_of(kept.campaign, &kept.data);
  view.campaign = std::move(kept.campaign);
  const std::vector<std::size_t> rows = chosen_numbers(view.campaign);
  view.input_names = std::move(kept.data.input_names);
  view.chosen = pick_rows(kept.data.pool.inputs, view.num_inputs(), rows);
  view.chosen_columns = picked_rows(kept.pool, rows);
  view.start = std::move(kept.data.train.inputs);
  view.pool = std::move(kept.data.pool.inputs);
  if (kept.data.test.num_rows > 0) {
    view.test = read_table(kept.data.test.source);
  }
}

// The inputs of a campaign that keeps no tables. Without an encoding they are columns of `table`: those of numbers
// without gaps that the model knows and that do not merely tell rows apart.
std::vector<std::string> input_names(const CampaignView& view, const Table& table) {
  const TableEncoding& encoding = view.campaign.encoding;
  if (!encoding.columns.empty()) {
    return encoding.features();
  }
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    const bool known = !view.model || has_name(view.model->columns().inputs, column.name);
    if (known && has_numbers(table, column.name) && !has_name(encoding.ids, column.name)) {
      names.push_back(column.name);
    }
  }
  return names;
}

std::vector<double> inputs_of(const CampaignView& view, const Table& table) {
  const TableEncoding& encoding = view.campaign.encoding;
  return encoding.columns.empty() ? table.matrix(view.input_names) : encoding.matrix(table);
}

// chosen.csv has fields of the choice, columns of the pool, targets. Returns the columns of the pool.
Table read_chosen(const std::string& path, std::size_t num_targets) {
  Table table = read_csv(path);
  const std::size_t before = field_names<ChosenRow>().size();
  check_in(path, table.columns.size() > before + num_targets, "has no input columns");
  table.columns.resize(table.columns.size() - num_targets);
  table.columns.erase(table.columns.begin(), table.columns.begin() + static_cast<std::ptrdiff_t>(before));
  return table;
}

void take_pool(CampaignView& view, const Table& pool) {
  const std::vector<std::size_t> rows = chosen_numbers(view.campaign);
  for (const std::size_t row : rows) {
    check_in(pool.source, row < pool.num_rows, "has {} rows, but the campaign chose row {}, from 0; give its pool",
             pool.num_rows, row);
  }
  view.pool = inputs_of(view, pool);
  view.chosen = pick_rows(view.pool, view.num_inputs(), rows);
  view.status.pool = pool.num_rows;
  view.status.left = pool.num_rows - rows.size();
}

// A campaign with an oracle, which keeps no copies of its tables.
void read_choices(CampaignView& view, const CampaignDirectory& directory, const std::optional<Table>& pool) {
  view.status = status_of(view.campaign, nullptr);
  const std::string path = directory.file("chosen.csv");
  if (exists(path)) {
    view.chosen_columns = read_chosen(path, view.campaign.num_targets);
    view.input_names = input_names(view, view.chosen_columns);
    view.chosen = inputs_of(view, view.chosen_columns);
    if (pool) {
      check_pool(*pool, view.chosen_columns, view.chosen_columns.columns, view.campaign);
    }
  } else if (pool && view.model) {
    view.input_names = input_names(view, *pool);
  }
  if (pool && view.num_inputs() > 0) {
    take_pool(view, *pool);
  }
}

}  // namespace

CampaignView read_campaign(const std::string& directory, const std::optional<Table>& pool) {
  const CampaignDirectory store(directory);
  check_in(directory, store.begun(), "has no campaign; learn or ask begins one");
  CampaignView view{.name = directory, .campaign = store.load()};
  const bool keeps_tables = view.campaign.driver == Driver::kAsk;
  check_in(directory, !keeps_tables || !pool, "keeps a copy of its pool; `pool` is for a campaign of learn");
  if (keeps_tables) {
    read_copies(view, store);
  }
  if (view.campaign.fitted) {
    view.model = store.load_model(view.campaign.model_fingerprint);
  }
  if (!keeps_tables) {
    read_choices(view, store, pool);
  }
  return view;
}

}  // namespace dissent::report
