// The best B rows by a score of their own: random, variance, the pairwise estimates and Monte Carlo. Rows come in
// blocks of any size; memory holds one block and the best B.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/sampled.hpp"

namespace dissent {

class TopChooser {
 public:
  // The task's model must outlive the chooser.
  TopChooser(const Acquisition& acquisition, const AcquisitionTask& task);

  // The next rows, [n][C], finite.
  void offer(std::span<const double> inputs);

  // InputError when fewer rows than the batch were offered.
  Choice finish() const;

  // The rows offered last, scored, in their order.
  std::span<const Ranked> scored() const { return scored_; }

 private:
  void score(std::span<const double> inputs, std::size_t first_row, std::span<Ranked> rows, Mixture<float>& base) const;

  Acquisition acquisition_;
  AcquisitionTask task_;
  std::optional<SampleNoise> noise_;  // of Monte Carlo
  ChosenRatios no_ratios_;
  TopRows best_;
  std::size_t num_rows_ = 0;
  std::vector<Mixture<float>> base_;  // of each thread
  std::vector<Ranked> scored_;        // of the rows offered last
  std::vector<double> best_inputs_;   // [batch][C], by slot
};

// Fills what `choice` does not have yet: epistemic by kl, and aleatoric where the task asks for it. `inputs`: [B][C],
// of the chosen.
void describe(const AcquisitionTask& task, std::span<const double> inputs, Choice& choice);

}  // namespace dissent
