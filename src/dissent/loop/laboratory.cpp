#include "dissent/loop/laboratory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "dissent/acquisition/reasons.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/canonical_cells.hpp"
#include "dissent/loop/far_answers.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/loop/status.hpp"
#include "dissent/table/own_columns.hpp"

namespace dissent {
namespace {

Table named_columns(const Table& table, const std::vector<std::string>& names) {
  Table part{table.source, table.num_rows, {}};
  for (const Column* column : table.find(names)) {
    part.columns.push_back(*column);
  }
  return part;
}

// Inputs, then targets.
Table learning_columns(const Table& table, const Problem& data) {
  std::vector<std::string> names = source_columns(data);
  names.insert(names.end(), data.target_names.begin(), data.target_names.end());
  return named_columns(table, names);
}

bool same_rules(const CampaignSettings& one, const CampaignSettings& other) {
  return one.cost == other.cost && one.require == other.require && one.exclude == other.exclude &&
         one.skip_outliers == other.skip_outliers;
}

// InputError, before anything is saved, if the conditions leave nothing to choose.
void check_any_left(const Campaign& campaign, const Problem& data, const std::string& where) {
  const std::size_t left = num_left(campaign, data);
  check_in(where, left == 0 || !open_rows(campaign, data).empty(),
           "no row may be chosen: none of the {} left in the pool meets the conditions", counted(left, "row"));
}

// Nothing was fitted and nothing was told.
bool is_fresh(const Campaign& campaign) {
  return campaign.rounds.empty() && campaign.chosen.empty() && campaign.extra.size() == 0 && !campaign.fitted;
}

bool same_data(const Campaign& campaign, const CampaignTables& tables) {
  try {
    return fingerprint(make_problem(tables, false, campaign.settings, campaign.encoding)) == campaign.data_fingerprint;
  } catch (const InputError&) {
    return false;
  }
}

bool same_rows(const ProblemRows& one, const ProblemRows& other) {
  return one.num_rows == other.num_rows && one.inputs == other.inputs && one.targets == other.targets;
}

// InputError that names the table in which the data differ from those that the campaign was begun with.
void check_tables(const Problem& begun, const Problem& given, const std::string& where) {
  check_in(where, begun.input_names == given.input_names && begun.target_names == given.target_names,
           "the campaign was begun with other data: with other `inputs` or `targets`; give the same, or begin another "
           "campaign");
  const std::pair<const char*, ProblemRows Problem::*> parts[] = {
      {"labelled", &Problem::train}, {"pool", &Problem::pool}, {"test", &Problem::test}, {"aim", &Problem::aim}};
  for (const auto& [name, part] : parts) {
    const bool had = (begun.*part).num_rows > 0;
    const bool has = (given.*part).num_rows > 0;
    check_in(where, same_rows(begun.*part, given.*part),
             "the campaign was begun with other data: with {} `{}`{}; give the same, or begin another campaign",
             !had  ? "no"
             : has ? "other rows in"
                   : "a table",
             name, had && !has ? ", and now there is none" : "");
  }
}

// Whether other tables are given for a campaign that never had a model.
bool begins_again(CampaignStore& store, const LaboratoryOptions& options) {
  if (!options.tables.labelled || !options.tables.pool) {
    return false;
  }
  const Campaign campaign = resume_campaign(store, Driver::kAsk);
  return is_fresh(campaign) && !same_data(campaign, options.tables);
}

}  // namespace

Laboratory::Laboratory(std::unique_ptr<CampaignStore> store, Campaign campaign, Problem data, Table pool)
    : store_(std::move(store)), campaign_(std::move(campaign)), data_(std::move(data)), pool_(std::move(pool)) {}

std::string Laboratory::own_column(const std::string& name) const {
  std::vector<std::string> theirs = data_.target_names;
  for (const Column& column : pool_.columns) {
    theirs.push_back(column.name);
  }
  return dissent::own_column(name, theirs);
}

Laboratory Laboratory::begin(std::unique_ptr<CampaignStore> store, const LaboratoryOptions& options) {
  CampaignSettings settings;
  set_fields(settings, options.settings);
  CampaignTables tables = options.tables;
  if (tables.pool) {
    tables.pool = without_targets(std::move(*tables.pool), tables.columns.targets);
  }
  Problem data = make_problem(tables, false, settings);
  Table pool = *tables.pool;
  settings.check_values();
  check_uses(settings.acquisition, data.aim.num_rows > 0, !data.cost.empty());
  check_candidates(settings.candidates, options.batch);
  check_batch(data, options.batch);
  store->hold();
  if (store->begun()) {
    check_in(store->name(), is_fresh(store->load()), "another process has just begun a campaign here");
    store->clear();
  }
  CampaignTables copies{learning_columns(*options.tables.labelled, data), pool, {}, {}};
  if (options.tables.test) {
    copies.test = learning_columns(*options.tables.test, data);
  }
  if (options.tables.aim) {
    copies.aim = named_columns(*options.tables.aim, source_columns(data));
  }
  store->save_data(copies);
  Campaign campaign = begin_campaign(data, std::move(settings), Driver::kAsk);
  store->save(campaign);
  Laboratory laboratory(std::move(store), std::move(campaign), std::move(data), std::move(pool));
  laboratory.began_ = true;
  return laboratory;
}

Laboratory Laboratory::resume(std::unique_ptr<CampaignStore> store, const LaboratoryOptions& options) {
  Campaign campaign = resume_campaign(*store, Driver::kAsk);
  check_in(
      store->name(), !options.tables.any() || options.tables.labelled.has_value(),
      "the campaign keeps its tables and columns; leave out `pool`, `test`, `aim`, `targets` and `inputs`, or give "
      "all again, `labelled` as well");
  const CampaignTables kept = kept_tables(*store, campaign);
  Problem data =
      make_problem(options.tables.any() ? options.tables : kept, false, campaign.settings, campaign.encoding);
  if (options.tables.any() && fingerprint(data) != campaign.data_fingerprint) {
    check_tables(make_problem(kept, false, campaign.settings, campaign.encoding), data, store->name());
  }
  check_same(campaign, data, store->name());
  store->write_tables(campaign, data);  // a kill may have come between the state and them
  Table pool = without_targets(*kept.pool, data.target_names);
  const CampaignSettings settings = changed_settings(campaign.settings, options.settings);
  settings.check_values();
  check_uses(settings.acquisition, data.aim.num_rows > 0, !settings.cost.empty());
  if (first_difference(campaign.settings.fit, settings.fit) != nullptr) {
    campaign.fitted.reset();  // the old model was fitted with other options
    campaign.settled.reset();
  }
  if (!same_rules(campaign.settings, settings)) {
    apply_settings(data, pool, settings);
    check_any_left(campaign, data, store->name());
    campaign.data_fingerprint = fingerprint(data);
  }
  campaign.settings = settings;
  return {std::move(store), std::move(campaign), std::move(data), std::move(pool)};
}

Laboratory Laboratory::open(std::unique_ptr<CampaignStore> store, const LaboratoryOptions& options) {
  if (store->begun() && !begins_again(*store, options)) {
    return resume(std::move(store), options);
  }
  check_in(store->name(), options.tables.any(),
           "no campaign was begun here; asking with `labelled`, `pool` and `targets` begins one");
  return begin(std::move(store), options);
}

Laboratory Laboratory::open(const std::string& path, const LaboratoryOptions& options) {
  return open(std::make_unique<CampaignDirectory>(path), options);
}

// Runs a step and saves the campaign; a failure leaves it as it was.
template <class Step>
void Laboratory::all_or_nothing(const Step& step) {
  const Campaign before = campaign_;
  store_->hold();  // before a fit that could not be saved
  try {
    step();
    store_->save(campaign_);
  } catch (...) {
    campaign_ = before;
    throw;
  }
  write_tables();
}

std::size_t Laboratory::ask(std::size_t batch, const FitControl& control, ScoreDevice* scores) {
  const std::size_t num_pending = campaign_.num_pending();
  const std::size_t num_open = open_rows(campaign_, data_).size();
  if (num_pending == 0) {
    check_any_left(campaign_, data_, name());
    check_in(name(), num_open > 0, "the pool is empty: every row of it has its answer{}",
             campaign_.num_dropped() > 0 ? ", or was dropped" : "");
  }
  check_candidates(campaign_.settings.candidates, batch);
  const std::size_t num_new = batch > num_pending ? std::min(batch - num_pending, num_open) : 0;
  all_or_nothing([&] {
    campaign_.settings.batch = batch;
    if (num_new > 0) {
      const Ensemble model = fitted_model(control);
      choose_rows(campaign_, data_, model, num_new, control.executor, scores);
      give_reasons(model, control.executor);
      for (ChosenRow& chosen : std::span(campaign_.chosen).last(num_new)) {
        chosen.asked = seconds_now();
      }
    }
  });
  return num_new;
}

// Gives reasons for all rows that wait, also those of earlier rounds: the model may be new. Scores are known only for
// the last round.
void Laboratory::give_reasons(const Ensemble& model, Executor* executor) {
  const std::vector<std::size_t> waiting = pending(campaign_);
  std::vector<std::size_t> rows;
  std::vector<double> scores;
  for (const std::size_t position : waiting) {
    const ChosenRow& row = campaign_.chosen[position];
    const bool is_new = row.round == campaign_.rounds.back().round;
    rows.push_back(row.row);
    scores.push_back(is_new ? row.score : std::numeric_limits<double>::quiet_NaN());
  }
  const ProblemRows labelled = labelled_rows(campaign_, data_);
  const std::vector<double> cost = data_.cost.empty() ? data_.cost : pick_rows(data_.cost, 1, rows);
  const std::vector<UsualRange> usual = usual_inputs(data_);
  std::vector<std::string> texts = reasons(model, pick_rows(data_.pool.inputs, data_.input_names.size(), rows),
                                           {.labelled = labelled.inputs,
                                            .cost = cost,
                                            .method = &campaign_.settings.acquisition.info(),
                                            .scores = scores,
                                            .aim = data_.aim.num_rows > 0,
                                            .usual = usual,
                                            .executor = executor});
  for (std::size_t k = 0; k < rows.size(); ++k) {
    campaign_.chosen[waiting[k]].why = std::move(texts[k]);
  }
}

Answers Laboratory::answers_in(const Table& table, bool unasked) const {
  const std::string row_column = own_column("row");
  const TableEncoding encoding = table_encoding(data_);
  const Table given = canonical_cells(table, encoding);
  const Table pool = canonical_cells(pool_, encoding);
  return unasked ? read_unasked(given, campaign_, data_, pool, row_column)
                 : read_answers(given, data_, pool, row_column);
}

std::vector<FarAnswer> Laboratory::tell(const Answers& answers, bool refit, const FitControl& control) {
  std::vector<FarAnswer> far;
  all_or_nothing([&] {
    const Campaign before = campaign_;
    take_answers(campaign_, data_, answers, seconds_now());
    const std::optional<Ensemble> model =
        before.fitted ? store_->load_model(before.model_fingerprint) : std::optional<Ensemble>();
    far = far_answers(before, data_, answers, model ? &*model : nullptr, control.executor);
    const bool labels_changed = answers.size() > 0 || (before.fitted && !campaign_.fitted);
    if (refit && labels_changed) {
      fitted_model(control);
    }
  });
  return far;
}

void Laboratory::abandon() {
  if (began_ && is_fresh(campaign_)) {
    store_->clear();
  }
}

Ensemble Laboratory::model(const FitControl& control) {
  const bool was_fitted = campaign_.fitted.has_value();
  Ensemble model = fitted_model(control);
  if (!was_fitted) {
    store_->save(campaign_);
    write_tables();
  }
  return model;
}

// The model from the store, or a fresh one fitted to all labelled rows and saved. Saving the state is left to the
// caller.
Ensemble Laboratory::fitted_model(const FitControl& control) {
  if (campaign_.fitted) {
    if (std::optional<Ensemble> model = store_->load_model(campaign_.model_fingerprint)) {
      return std::move(*model);
    }
  }
  FittedRound fitted = fit_round(campaign_, data_, control);
  store_->save_model(fitted.model);
  take_model(campaign_, fitted);
  last_fit_ = std::move(fitted.report);
  return std::move(fitted.model);
}

// The state is already saved, and stands even if the tables that repeat it cannot be written.
void Laboratory::write_tables() {
  try {
    store_->write_tables(campaign_, data_);
  } catch (const std::exception& error) {
    fail_system("{}; the campaign itself is saved, with this step, and the next command writes its tables again",
                error.what());
  }
}

}  // namespace dissent
