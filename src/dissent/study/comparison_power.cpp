// What tests paired by seed can find with the seeds there are.
#include <algorithm>
#include <map>

#include "dissent/base/names.hpp"
#include "dissent/statistics/significance.hpp"
#include "dissent/study/comparison_parts.hpp"

namespace dissent {

Power power_of(std::string scope, std::size_t num_pairs, std::size_t num_tests, double level) {
  Power power{.scope = std::move(scope), .num_pairs = num_pairs, .num_tests = num_tests};
  power.least_p = least_paired_p(num_pairs);
  power.needed_p = level / static_cast<double>(std::max<std::size_t>(num_tests, 1));
  power.reachable = power.least_p <= power.needed_p;
  while (least_paired_p(power.pairs_needed) > power.needed_p) {
    ++power.pairs_needed;
  }
  power.effect =
      num_pairs > 1 ? detectable_effect(num_pairs, power.needed_p) : std::numeric_limits<double>::quiet_NaN();
  const std::string seeds = counted(num_pairs, "seed");
  const std::string tests = counted(num_tests, "test");
  if (power.reachable) {
    power.sentence = fmt::format(
        "{}: {} can clear Holm over {}: the least p of a sign flip is {:.2g}, the first step needs {:.2g}. A mean "
        "difference of {:.2f} standard deviations is found there 4 times out of 5, by a t-test.",
        power.scope, seeds, tests, power.least_p, power.needed_p, power.effect);
  } else {
    power.sentence = fmt::format(
        "{}: {} cannot clear Holm over {}: the least p of a sign flip is {:.2g}, the first step needs {:.2g}. It takes "
        "{} seeds, so a tie there says nothing.",
        power.scope, seeds, tests, power.least_p, power.needed_p, power.pairs_needed);
  }
  return power;
}

std::vector<Power> powers_of(const TaskList& tasks, double level) {
  std::map<std::size_t, std::size_t> tests_of;  // by the most seeds of a problem: the most tests of one
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t total = 0;
  for (const TaskComparison* task : tasks) {
    std::size_t pairs = 0;
    std::size_t tests = 0;  // with seeds in common: there is no test without
    for (const PairedContrast& contrast : task->by_area) {
      if (contrast.num_pairs > 0) {
        pairs = std::max(pairs, contrast.num_pairs);
        fewest = std::min(fewest, contrast.num_pairs);
        ++tests;
      }
    }
    if (tests > 0) {
      tests_of[pairs] = std::max(tests_of[pairs], tests);
      total += tests;
    }
  }
  std::vector<Power> list;
  std::size_t most = 0;
  for (const auto& [pairs, tests] : tests_of) {
    const std::string own = tests_of.size() > 1 ? fmt::format(", with {}", counted(pairs, "seed")) : "";
    list.push_back(power_of("one problem alone" + own, pairs, tests, level));
    most = std::max(most, tests);
  }
  if (total > most) {
    const std::size_t pairs = tests_of.rbegin()->first;
    const std::string range = fewest < pairs ? fmt::format(", with {} to {} seeds", fewest, pairs) : "";
    list.push_back(
        power_of(fmt::format("all {} together{}", counted(tasks.size(), "problem"), range), pairs, total, level));
  }
  return list;
}

}  // namespace dissent
