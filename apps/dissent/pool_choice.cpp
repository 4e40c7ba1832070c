#include "pool_choice.hpp"

#include <algorithm>
#include <utility>

#include "dissent/base/error.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kRowsAtATime = 8192;

}  // namespace

PoolChoice::PoolChoice(PoolFile& pool, const CampaignSettings& settings, std::vector<std::string> input_names,
                       std::span<const double> labelled)
    : pool_(pool), settings_(settings), names_(std::move(input_names)) {
  pool_.check_columns(names_);
  usual_ = usual_inputs(inputs(rows_to_compare(pool.num_rows())), labelled, names_.size());
  leave_out(settings);
  check(settings.batch <= pool.num_rows(), "`batch`: {} rows are wanted; {} has {}", settings.batch, pool.source(),
        pool.num_rows());
  check(settings.batch <= num_open(), "`batch`: {} rows are wanted; {} of {} in {} may be chosen", settings.batch,
        num_open(), pool.num_rows(), pool.source());
}

void PoolChoice::leave_out(const CampaignSettings& settings) {
  const std::vector<std::string> looked_at = columns_of(settings);
  std::vector<std::uint8_t> is_left_out;
  if (!looked_at.empty()) {
    const Table& table = pool_.with_columns(looked_at);
    cost_ = settings.cost.empty() ? std::vector<double>() : label_costs(table, settings.cost);
    is_left_out = left_out(table, settings);
  }
  if (settings.skip_outliers) {
    is_left_out.resize(pool_.num_rows());
    const std::size_t C = names_.size();
    std::vector<double> block(kRowsAtATime * C);
    for (std::size_t begin = 0; begin < pool_.num_rows();) {
      const std::size_t count = read(begin, block);
      for (std::size_t k = 0; k < count; ++k) {
        is_left_out[begin + k] |= first_outlier(usual_, std::span(block).subspan(k * C, C)) ? 1 : 0;
      }
      begin += count;
    }
  }
  if (!is_left_out.empty()) {
    open_.emplace();
    for (std::size_t row = 0; row < is_left_out.size(); ++row) {
      if (is_left_out[row] == 0) {
        open_->push_back(row);
      }
    }
  }
}

void PoolChoice::check_by(const Ensemble& model) {
  pool_.set_check([this, &model](std::span<const double> rows, const PoolFile::RowNumber& row_of) {
    model.check_rows(rows, pool_.source(), row_of);
  });
}

// Reads open rows from `begin` on, as many as there is room for.
std::size_t PoolChoice::read(std::size_t begin, std::span<double> rows) const {
  const std::size_t end = std::min(num_open(), begin + rows.size() / names_.size());
  if (open_) {
    std::ranges::copy(inputs(std::span(*open_).subspan(begin, end - begin)), rows.begin());
  } else {
    pool_.read(names_, begin, end, rows);
  }
  return end - begin;
}

// Reports a bad row before anybody labels other rows.
void PoolChoice::check_all() const {
  std::vector<double> block(kRowsAtATime * names_.size());
  for (std::size_t begin = 0; begin < num_open();) {
    begin += read(begin, block);
  }
}

Choice PoolChoice::stream_all(const AcquisitionTask& task, bool quiet) const {
  Progress progress("score", num_open(), quiet);
  std::size_t at = 0;
  return choose_streaming(settings_.acquisition, task, [&](std::span<double> rows) {
    const std::size_t count = read(at, rows);
    at += count;
    progress.update(at);
    return count;
  });
}

Choice PoolChoice::choose(AcquisitionTask task, bool quiet) {
  const Acquisition& acquisition = settings_.acquisition;
  task.batch = settings_.batch;
  task.ranking = settings_.ranking;
  const std::size_t wanted =
      dissent::num_candidates(settings_.candidates, acquisition, task.model.num_outputs(), num_open());
  num_candidates_ = std::min(std::max(wanted, task.batch), num_open());
  Choice choice;
  if (num_candidates_ == num_open() && acquisition.streams() && cost_.empty()) {
    choice = stream_all(task, quiet);
    for (std::size_t& row : choice.rows) {
      row = row_of(row);
    }
    return choice;
  }
  check_all();
  const std::vector<std::size_t> candidates = draw_candidates(
      settings_.candidates, num_candidates_, num_open(), [this](std::size_t open) { return row_of(open); },
      task.stream);
  const std::vector<double> cost = costs(candidates);
  task.cost = cost;
  choice = dissent::choose(acquisition, task, inputs(candidates));
  for (std::size_t& row : choice.rows) {
    row = candidates[row];
  }
  return choice;
}

std::vector<double> PoolChoice::draw(std::size_t count, const Stream& stream) const {
  std::vector<std::size_t> rows = draw_candidates(num_open(), count, stream);
  for (std::size_t& row : rows) {
    row = row_of(row);
  }
  return inputs(rows);
}

std::vector<double> PoolChoice::costs(std::span<const std::size_t> rows) const {
  return cost_.empty() ? std::vector<double>() : pick_rows(cost_, 1, rows);
}

}  // namespace dissent::cli
