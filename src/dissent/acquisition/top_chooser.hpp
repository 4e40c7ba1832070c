// The best B rows, each scored by itself, none twice. Rows come in blocks of any size; memory holds one block and the
// best B.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/scorers.hpp"
#include "dissent/base/top_rows.hpp"

namespace dissent {

class TopChooser {
 public:
  // Acquisition, task and the task's model must outlive the chooser.
  TopChooser(const Acquisition& acquisition, const AcquisitionTask& task);

  // The next rows, [n][C], finite.
  void offer(std::span<const double> inputs);

  // Rows, scores and, if the method estimates it, epistemic. If there are fewer distinct rows than the batch, the best
  // copies follow.
  Choice finish() const;
  // The inputs of finish()'s rows, [B][C].
  std::vector<double> inputs() const;

  std::size_t num_rows() const { return num_rows_; }  // offered
  // The rows offered last, scored, in their order.
  std::span<const Ranked> scored() const { return scored_; }

 private:
  using Best = TopRows<Ranked, GoesBefore>;

  void take(const Ranked& row, std::span<const double> inputs);
  std::vector<Best::Entry> entries() const;  // of finish()
  std::span<double> inputs_of(std::size_t slot);
  // The slot of the row among the best that has these inputs, or Best::kNone.
  std::size_t twin(std::uint64_t digest, std::span<const double> inputs);

  const AcquisitionInfo& info_;
  const AcquisitionTask& task_;
  std::unique_ptr<RowScorer> scorer_;
  Best best_;
  std::size_t num_rows_ = 0;
  std::vector<Ranked> scored_;  // of the rows offered last
  // Of the best, by slot:
  std::vector<double> best_inputs_;  // [batch][C]
  std::vector<Ranked> best_rows_;
  std::unordered_multimap<std::uint64_t, std::size_t> slots_;  // by the digest of their inputs
  // Copies of the best, in case no other rows come.
  Best copies_;
  std::vector<double> copy_inputs_;  // [batch][C]
};

}  // namespace dissent
