// One choice from a pool that is a file: finds the rows that may be chosen, draws the candidates and picks the best of
// them. If the file and the method allow it, the file is read block by block and may be larger than memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/table/pool_file.hpp"

namespace dissent::cli {

class PoolChoice {
 public:
  // Keeps the rows of the pool that the settings allow. InputError for a column that the pool does not have, for a
  // value that is looked at but is not a finite number, and if fewer rows are left than a batch has.
  PoolChoice(PoolFile& pool, const CampaignSettings& settings, std::vector<std::string> input_names,
             std::span<const double> labelled);

  const std::vector<UsualRange>& usual() const { return usual_; }
  std::size_t num_open() const { return open_ ? open_->size() : pool_.num_rows(); }
  bool has_conditions() const { return open_.has_value(); }
  std::size_t num_candidates() const { return num_candidates_; }  // in the last choice

  // From now on the model checks rows when they are read.
  void check_by(const Ensemble& model);

  // Chooses as the first round of a campaign does, but returns rows of the pool instead of candidates. Checks every row
  // that may be chosen. Batch and ranking are those of the settings. Leave the task's cost empty: this sets it.
  Choice choose(AcquisitionTask task, bool quiet);

  // The inputs of given rows; those of `count` random rows that may be chosen; the costs of given rows, if there are
  // any.
  std::vector<double> inputs(std::span<const std::size_t> rows) const { return pool_.pick(names_, rows); }
  std::vector<double> draw(std::size_t count, const Stream& stream) const;
  std::vector<double> costs(std::span<const std::size_t> rows) const;

 private:
  void leave_out(const CampaignSettings& settings);
  std::size_t row_of(std::size_t k) const { return open_ ? (*open_)[k] : k; }
  std::size_t read(std::size_t begin, std::span<double> rows) const;
  void check_all() const;
  Choice stream_all(const AcquisitionTask& task, bool quiet) const;

  PoolFile& pool_;
  const CampaignSettings& settings_;
  std::vector<std::string> names_;
  std::vector<UsualRange> usual_;
  std::vector<double> cost_;                      // of every row, or empty
  std::optional<std::vector<std::size_t>> open_;  // rows that may be chosen; no value: all
  std::size_t num_candidates_ = 0;
};

}  // namespace dissent::cli
