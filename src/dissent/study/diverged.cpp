#include "dissent/study/diverged.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dissent {

WorstValues::WorstValues(std::span<const StudyRun* const> runs, const MetricTraits& metric) : metric_(metric) {
  for (const StudyRun* run : runs) {
    for (const RoundRecord& record : run->rounds) {
      const double value = record.*metric.member;
      const bool worse = metric.less_is_better ? value > worst_ : value < worst_;
      if (std::isfinite(value) && (std::isnan(worst_) || worse)) {
        worst_ = value;
      }
    }
  }
}

double WorstValues::of(const RoundRecord& record) const {
  const double value = record.*metric_.member;
  return std::isfinite(value) ? value : worst_;
}

bool WorstValues::diverged(const RoundRecord& record) const {
  return !std::isfinite(record.*metric_.member) && !std::isnan(worst_);
}

std::size_t count_as_worst(StudyResults& results, const MetricTraits& metric) {
  std::map<std::pair<std::string, std::string>, std::vector<StudyRun*>> tasks;
  for (StudyRun& run : results.runs) {
    tasks[{run.problem, run.model}].push_back(&run);
  }
  std::size_t num_diverged = 0;
  for (const auto& [task, runs] : tasks) {
    const WorstValues worst(std::vector<const StudyRun*>(runs.begin(), runs.end()), metric);
    for (StudyRun* run : runs) {
      for (RoundRecord& record : run->rounds) {
        num_diverged += worst.diverged(record);
        record.*metric.member = worst.of(record);
      }
    }
  }
  return num_diverged;
}

}  // namespace dissent
