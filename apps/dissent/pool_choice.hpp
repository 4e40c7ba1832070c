// One choice from a pool that is a file: the rows that may be chosen, those drawn to choose among, and the best of
// them. A file that can be read block by block is, where the method allows it, so that it may be larger than memory.
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
  // What the settings leave of the pool. InputError for columns that it does not have, for values that are no finite
  // numbers where they are looked at, and when fewer rows are left than a batch has.
  PoolChoice(PoolFile& pool, const CampaignSettings& settings, std::vector<std::string> input_names,
             std::span<const double> labelled);

  const std::vector<UsualRange>& usual() const { return usual_; }
  std::size_t num_open() const { return open_ ? open_->size() : pool_.num_rows(); }
  bool has_conditions() const { return open_.has_value(); }
  std::size_t num_candidates() const { return num_candidates_; }  // of the last choice

  // From now on rows are checked by the model when they are read.
  void check_by(const Ensemble& model);

  // As the first round of a campaign chooses, with rows of the pool in place of candidates. Every row that may be
  // chosen is checked. The batch is that of the settings; aim and cost of the task are left to this.
  Choice choose(AcquisitionTask task, bool quiet);

  // The inputs of rows of the pool; of `count` at random among those that may be chosen; costs of rows, if any.
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
  std::optional<std::vector<std::size_t>> open_;  // rows that may be chosen; none: all
  std::size_t num_candidates_ = 0;
};

}  // namespace dissent::cli
