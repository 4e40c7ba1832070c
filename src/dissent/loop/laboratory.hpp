// Laboratory: a campaign whose labels come from people or laboratories, over days: they are asked, and tell.
//
// Its store keeps copies of the tables, so that later only the store is needed.
//
// Each step is saved before it returns; one that fails leaves the campaign as it was, here and in the store. One
// exception: if the state was saved but the tables that repeat it cannot be written, the step counts, and the
// SystemError says so.
//
// Until the first model is fitted there is nothing to lose: opening such a campaign with other tables begins again with
// them.
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
  CampaignTables tables = {};  // to begin with; to open a campaign, the same ones may be given again
  Values settings = {};        // fields of CampaignSettings; they replace the defaults, or the campaign's from now on
  std::size_t batch = 1;       // a campaign is not begun with fewer rows in the pool
};

class Laboratory {
 public:
  // Opens the campaign, or begins one from the tables; the path is that of a CampaignDirectory.
  static Laboratory open(std::unique_ptr<CampaignStore> store, const LaboratoryOptions& options);
  static Laboratory open(const std::string& path, const LaboratoryOptions& options);

  // Chooses rows so that `batch` wait for their targets: those that wait already count, and the pool may end. Fits a
  // model if there is none. Returns how many are new. InputError if none waits and none may be chosen.
  // `scores` helps to choose (LearnControl::scores); null: this processor.
  std::size_t ask(std::size_t batch, const FitControl& control = {}, ScoreDevice* scores = nullptr);

  // Reads answers from a table and checks them against the rows that were asked for: by 'row' and, if it has them, the
  // inputs. If `unasked`, reads rows that nobody asked for, by their inputs.
  Answers answers_in(const Table& table, bool unasked = false) const;

  // Takes all answers or none; InputError for a row that was never asked for or already has its answer. `refit` fits a
  // fresh model; otherwise the next ask() does. Answers that look like mistakes are taken, and returned.
  std::vector<FarAnswer> tell(const Answers& answers, bool refit, const FitControl& control = {});

  // Removes the campaign if this object began it and it has no model yet: for data that cannot be fitted. The object
  // must not be used after that.
  void abandon();

  // The model of the rows labelled so far; fitted and saved if need be.
  Ensemble model(const FitControl& control = {});

  std::string name() const { return store_->name(); }  // of the store
  const Campaign& campaign() const { return campaign_; }
  const Problem& data() const { return data_; }
  const Table& pool() const { return pool_; }  // every column but the targets
  // The names of 'row' and 'why' in tables to fill in: with underscores if the pool or a target has such a name.
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
  bool began_ = false;  // this object began the campaign
};

}  // namespace dissent
