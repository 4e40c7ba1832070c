// Laboratory: a campaign whose labels come from people or laboratories, over days: they are asked, and tell.
//
// Its store keeps copies of the tables, so that later there is need of nothing but the store.
//
// Each step is saved before it returns; one that fails leaves the campaign as it was, here and in the store. Only where
// the tables that repeat the state cannot be written after it was saved, the step counts: the SystemError says so.
//
// Until the first model is fitted there is nothing to lose: whoever opens such a campaign with other tables begins
// again with them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "dissent/loop/answers.hpp"
#include "dissent/loop/campaign_store.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/loop/tables.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct LaboratoryOptions {
  CampaignTables tables = {};  // to begin with; to open a campaign they may be given again if they are the same
  Values settings = {};        // fields of CampaignSettings, in place of the defaults or of the campaign's from now on
  std::size_t batch = 1;       // a campaign is not begun with fewer rows in the pool
};

class Laboratory {
 public:
  // Opens the campaign, or begins one from the tables; the path is that of a CampaignDirectory.
  static Laboratory open(std::unique_ptr<CampaignStore> store, const LaboratoryOptions& options);
  static Laboratory open(const std::string& path, const LaboratoryOptions& options);

  // Chooses rows so that `batch` wait for their targets: those that wait already count, and the pool may end. Fits a
  // model if there is none. How many are new; InputError when none waits and none may be chosen.
  // `scores` helps to choose (LearnControl::scores); null: this processor.
  std::size_t ask(std::size_t batch, const FitControl& control = {}, ScoreDevice* scores = nullptr);

  // Answers in a table, checked against the rows that were asked for: by 'row' and, where it has them, the inputs. Or,
  // if `unasked`, rows that nobody asked for, by their inputs.
  Answers answers_in(const Table& table, bool unasked = false) const;

  // All or nothing; InputError for a row that was never asked for or has its answer. `refit` fits a fresh model,
  // otherwise the next ask() does. Answers that look like mistakes are taken, and returned.
  std::vector<FarAnswer> tell(const Answers& answers, bool refit, const FitControl& control = {});

  // Removes the campaign if this object began it and it has no model yet: for data that cannot be fitted. Nothing else
  // may be done with the object then.
  void abandon();

  // Of the rows labelled so far; fitted, and saved, if need be.
  Ensemble model(const FitControl& control = {});

  std::string name() const { return store_->name(); }  // of the store
  const Campaign& campaign() const { return campaign_; }
  const Problem& data() const { return data_; }
  const Table& pool() const { return pool_; }  // every column but the targets
  // What 'row' and 'why' are called in tables to fill in: with underscores where the pool or a target is called so.
  std::string own_column(const std::string& name) const;
  const std::optional<FitReport>& last_fit() const { return last_fit_; }  // none before the first fit by this object
  std::size_t num_labelled() const { return data_.train.num_rows + campaign_.num_told(); }

 private:
  Laboratory(std::unique_ptr<CampaignStore> store, Campaign campaign, Problem data, Table pool);
  static Laboratory begin(std::unique_ptr<CampaignStore> store, const LaboratoryOptions& options);
  static Laboratory resume(std::unique_ptr<CampaignStore> store, const LaboratoryOptions& options);
  template <class Step>
  void all_or_nothing(const Step& step);
  Ensemble fitted_model(const FitControl& control);
  void give_reasons(const Ensemble& model, Executor* executor);
  void write_tables();

  std::unique_ptr<CampaignStore> store_;
  Campaign campaign_;
  Problem data_;
  Table pool_;
  std::optional<FitReport> last_fit_;
  bool began_ = false;  // the campaign, which was not there before
};

}  // namespace dissent
