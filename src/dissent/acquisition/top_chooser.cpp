#include "dissent/acquisition/top_chooser.hpp"

#include <algorithm>
#include <utility>

#include "dissent/acquisition/distinct_rows.hpp"

namespace dissent {

TopChooser::TopChooser(const Acquisition& acquisition, const AcquisitionTask& task)
    : info_(acquisition.info()),
      task_(task),
      scorer_(info_.scorer(acquisition, task)),
      best_(task.batch, GoesBefore{task.stream}),
      best_inputs_(task.batch * task.model.num_input_columns()),
      best_rows_(task.batch),
      copies_(task.batch, GoesBefore{task.stream}),
      copy_inputs_(best_inputs_.size()) {}

void TopChooser::offer(std::span<const double> inputs) {
  const std::size_t C = task_.model.num_input_columns();
  scored_.assign(inputs.size() / C, {});
  for_blocks(task_.executor, scored_.size(), scorer_->block_rows(),
             [&](std::size_t begin, std::size_t end, std::size_t thread) {
               const std::span<Ranked> rows = std::span(scored_).subspan(begin, end - begin);
               for (std::size_t k = 0; k < rows.size(); ++k) {
                 rows[k].row = num_rows_ + begin + k;
               }
               scorer_->score(inputs.subspan(begin * C, rows.size() * C), rows, thread);
             });
  for (std::size_t k = 0; k < scored_.size(); ++k) {
    if (!task_.cost.empty()) {
      scored_[k].score = scored_[k].second / task_.cost[scored_[k].row];
    }
    take(scored_[k], inputs.subspan(k * C, C));
  }
  num_rows_ += scored_.size();
}

void TopChooser::take(const Ranked& row, std::span<const double> inputs) {
  if (!best_.wants(row)) {
    return;
  }
  const std::uint64_t digest = row_digest(inputs);
  if (const std::size_t slot = twin(digest, inputs); slot != Best::kNone) {
    Ranked behind = row;
    if (goes_before(task_.stream, row, best_rows_[slot])) {
      best_.replace(slot, row);
      std::swap(behind, best_rows_[slot]);
    }
    if (const std::size_t copy = copies_.offer(behind); copy != Best::kNone) {
      std::ranges::copy(inputs, copy_inputs_.begin() + static_cast<std::ptrdiff_t>(copy * inputs.size()));
    }
    return;
  }
  const bool full = slots_.size() == task_.batch;
  const std::size_t slot = best_.offer(row);
  if (full) {  // the slot was the worst row's
    const auto [begin, end] = slots_.equal_range(row_digest(inputs_of(slot)));
    slots_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == slot; }));
  }
  slots_.emplace(digest, slot);
  std::ranges::copy(inputs, inputs_of(slot).begin());
  best_rows_[slot] = row;
}

std::span<double> TopChooser::inputs_of(std::size_t slot) {
  const std::size_t C = task_.model.num_input_columns();
  return std::span(best_inputs_).subspan(slot * C, C);
}

std::size_t TopChooser::twin(std::uint64_t digest, std::span<const double> inputs) {
  const auto [begin, end] = slots_.equal_range(digest);
  const auto found =
      std::find_if(begin, end, [&](const auto& entry) { return same_row(inputs, inputs_of(entry.second)); });
  return found == end ? Best::kNone : found->second;
}

std::vector<TopChooser::Best::Entry> TopChooser::entries() const {
  std::vector<Best::Entry> all = best_.sorted();
  const std::vector<Best::Entry> copies = copies_.sorted();
  const std::size_t missing = std::min(task_.batch - all.size(), copies.size());
  all.insert(all.end(), copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(missing));
  return all;
}

Choice TopChooser::finish() const {
  Choice choice;
  for (const Best::Entry& entry : entries()) {
    choice.rows.push_back(entry.row.row);
    choice.scores.push_back(entry.row.score);
    if (info_.estimates) {
      choice.epistemic.push_back(entry.row.second);
    }
  }
  return choice;
}

std::vector<double> TopChooser::inputs() const {
  const std::size_t C = task_.model.num_input_columns();
  const std::size_t num_distinct = slots_.size();
  std::vector<double> all;
  for (const Best::Entry& entry : entries()) {
    const std::vector<double>& from = all.size() / C < num_distinct ? best_inputs_ : copy_inputs_;
    const auto row = from.begin() + static_cast<std::ptrdiff_t>(entry.slot * C);
    all.insert(all.end(), row, row + static_cast<std::ptrdiff_t>(C));
  }
  return all;
}

}  // namespace dissent
