#include "dissent/report/campaign_view.hpp"

#include <algorithm>
#include <filesystem>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/report/pool_check.hpp"
#include "dissent/table/csv.hpp"

namespace dissent::report {
namespace {

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

bool has_numbers(const Table& table, const std::string& name) {
  return table.has(name) && !table.column(name).is_text() && table.column(name).missing_rows.empty();
}

// Those of `columns` that hold numbers alone in both tables.
std::vector<std::string> number_columns(std::span<const Column> columns, const Table& one, const Table& other) {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (has_numbers(one, column.name) && has_numbers(other, column.name)) {
      names.push_back(column.name);
    }
  }
  return names;
}

// Inputs as the campaign's models see them. Where they are plain columns, only those of numbers without gaps: the
// tables may have others beside the inputs.
void choose_inputs(CampaignView& view, std::span<const Column> columns, const Table& one, const Table& other) {
  const TableEncoding& encoding = view.campaign.encoding;
  view.input_names = encoding.columns.empty() ? number_columns(columns, one, other) : encoding.features();
  if (encoding.columns.empty() && view.model) {
    const std::vector<std::string>& known = view.model->columns().inputs;
    std::erase_if(view.input_names,
                  [&](const std::string& name) { return std::ranges::find(known, name) == known.end(); });
  }
}

std::vector<double> inputs_of(const CampaignView& view, const Table& table) {
  const TableEncoding& encoding = view.campaign.encoding;
  return encoding.columns.empty() ? table.matrix(view.input_names) : encoding.matrix(table);
}

void take_pool(CampaignView& view, const Table& pool) {
  view.pool = inputs_of(view, pool);
  view.num_pool = pool.num_rows;
  view.chosen.clear();
  for (const ChosenRow& chosen : view.campaign.chosen) {
    check_in(pool.source, chosen.row < pool.num_rows,
             "has {} rows, but the campaign chose row {}, from 0; give its pool", pool.num_rows, chosen.row);
    const auto from = view.pool.begin() + static_cast<std::ptrdiff_t>(chosen.row * view.num_inputs());
    view.chosen.insert(view.chosen.end(), from, from + static_cast<std::ptrdiff_t>(view.num_inputs()));
  }
}

// The copies that a campaign with people keeps; targets are the last columns.
void read_copies(CampaignView& view, const CampaignDirectory& directory) {
  const CampaignTables tables = directory.load_data();
  const std::span<const Column> columns = tables.labelled->columns;
  check_in(tables.labelled->source, columns.size() > view.campaign.num_targets, "has no input columns");
  choose_inputs(view, columns.first(columns.size() - view.campaign.num_targets), *tables.labelled, *tables.pool);
  view.start = inputs_of(view, *tables.labelled);
  view.num_start = tables.labelled->num_rows;
  view.test = tables.test;
  take_pool(view, *tables.pool);
}

// chosen.csv: fields of the choice, inputs, targets.
void read_chosen(CampaignView& view, const CampaignDirectory& directory, const std::optional<Table>& pool) {
  const std::string path = directory.file("chosen.csv");
  if (!exists(path)) {
    return;
  }
  const Table table = read_csv(path);
  const std::size_t before = field_names<ChosenRow>().size();
  check_in(path, table.columns.size() > before + view.campaign.num_targets, "has no input columns");
  const std::span<const Column> inputs =
      std::span(table.columns).subspan(before, table.columns.size() - before - view.campaign.num_targets);
  if (pool) {
    check_pool(*pool, table, inputs, view.campaign);
  }
  choose_inputs(view, inputs, table, pool.value_or(table));
  view.chosen = inputs_of(view, table);
  if (pool) {
    take_pool(view, *pool);
  }
}

}  // namespace

CampaignView read_campaign(const std::string& directory, const std::optional<Table>& pool) {
  const CampaignDirectory store(directory);
  check_in(directory, store.begun(), "has no campaign; learn or ask begins one");
  CampaignView view{.name = directory, .campaign = store.load()};
  if (!view.campaign.rounds.empty()) {
    view.num_start = view.campaign.rounds.front().labelled;
  }
  if (view.campaign.fitted) {
    view.model = store.load_model(view.campaign.model_fingerprint);
  }
  if (exists(store.file("pool.csv"))) {
    read_copies(view, store);
  } else {
    read_chosen(view, store, pool);
  }
  return view;
}

}  // namespace dissent::report
