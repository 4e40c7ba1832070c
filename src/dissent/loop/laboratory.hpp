// Laboratory: a campaign whose labels come from people or laboratories, over days: they are asked, and tell.
//
// Its directory holds copies of the tables beside the files of every campaign, so that later there is need of nothing
// but the directory:
//   labelled.csv  input columns, then targets
//   pool.csv      every column of the pool, so that names and notes reach the people who measure
//   test.csv      as labelled.csv, where one was given
//
// Each step is saved before it returns; one that fails leaves the campaign as it was, here and on disk. Only where
// rounds.csv and chosen.csv cannot be written after the state was, the step counts: the SystemError says so.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/loop/tables.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct LaboratoryOptions {
  TablePaths tables = {};        // to begin with; to open a campaign they may be given again if they are the same
  std::string acquisition = {};  // empty: kl to begin with, else the campaign's own
  std::string candidates = {};   // "all" or a number; empty: as many as suit the method, else the campaign's own
  Settings fit = {};             // options of FitSettings that replace those of the campaign from now on
  std::size_t batch = 1;         // a campaign is not begun with fewer rows in the pool
};

// Targets [n][D] of pool rows, as they come from `source`, which messages name.
struct Answers {
  std::string source;
  std::vector<std::size_t> rows;
  std::vector<double> targets;
};

// A table with the columns 'row' and the targets; others are ignored, and so are rows whose targets are all missing.
// InputError for a row that has some of its targets or is answered twice, and for a table without any answer.
Answers read_answers(const Table& table, const std::vector<std::string>& target_names);

class Laboratory {
 public:
  // Paths that belong to a campaign in this directory; no output may have one of them.
  static std::vector<std::string> files(const std::string& path);

  // Opens the campaign, or begins one from the tables.
  static Laboratory open(const std::string& path, const LaboratoryOptions& options);

  // Chooses rows so that `batch` wait for their targets: those that wait already count, and the pool may end. Fits a
  // model if there is none. How many are new; InputError when every row of the pool has its targets.
  std::size_t ask(std::size_t batch, const FitControl& control = {});

  // All or nothing; InputError for a row that was never asked for or has its answer. `refit` fits a fresh model,
  // otherwise the next ask() does.
  void tell(const Answers& answers, bool refit, const FitControl& control = {});

  // Of the rows labelled so far; fitted, and saved, if need be.
  Ensemble model(const FitControl& control = {});

  const std::string& path() const { return directory_.path(); }
  const Campaign& campaign() const { return campaign_; }
  const Problem& data() const { return data_; }
  const Table& pool() const { return pool_; }                             // every column but the targets
  const std::optional<FitReport>& last_fit() const { return last_fit_; }  // none before the first fit by this object
  std::size_t num_labelled() const { return data_.train.num_rows + campaign_.chosen.size() - campaign_.num_pending(); }

 private:
  Laboratory(CampaignDirectory directory, Campaign campaign, Problem data, Table pool);
  static Laboratory begin(const std::string& path, const LaboratoryOptions& options);
  Ensemble fitted_model(const FitControl& control);
  void write_tables();

  CampaignDirectory directory_;
  Campaign campaign_;
  Problem data_;
  Table pool_;
  std::optional<FitReport> last_fit_;
};

}  // namespace dissent
