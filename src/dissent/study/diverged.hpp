// Models that diverged: their metric is not finite. Leaving such runs out would flatter their method. So they count as
// the worst model of the task, of any method in any round: no better than before anything is learned.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "dissent/study/comparison.hpp"

namespace dissent {

class WorstValues {
 public:
  // Of the runs of one task.
  WorstValues(std::span<const StudyRun* const> runs, const MetricTraits& metric);

  // The metric of a model; NaN if none of the task is finite: then nothing is known, and nothing diverged.
  double of(const RoundRecord& record) const;
  bool diverged(const RoundRecord& record) const;

 private:
  const MetricTraits& metric_;
  double worst_ = std::numeric_limits<double>::quiet_NaN();
};

// Replaces each metric that is not finite with the worst of its task. Returns how many there were.
std::size_t count_as_worst(StudyResults& results, const MetricTraits& metric);

}  // namespace dissent
