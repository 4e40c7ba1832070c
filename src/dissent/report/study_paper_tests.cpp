// The paper's own tests, repeated from its printed means and deviations after 100 batches: for flows those of its main
// table, for other models those of the appendix.
#include <algorithm>
#include <tuple>

#include "dissent/report/study_paper.hpp"
#include "dissent/report/study_view.hpp"
#include "dissent/study/paper_numbers.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kLastBatch = 100;
constexpr const char* kMetric = "rmse";

// The baseline that a method of the paper is hardest to tell from, or that is better than it.
const Contrast& hardest(const ContrastFamily& family, const std::string& ours) {
  const auto rank = [&](const Contrast& contrast) {
    return std::tuple(contrast.ours == ours, contrast.outcome == Outcome::kWorse, contrast.adjusted);
  };
  return *std::ranges::max_element(family.contrasts, {}, rank);
}

void add_task(const std::string& problem, const std::string& model, Grid& grid) {
  const std::vector<PaperPoint>& table = model == "flow" ? paper_main_table() : paper_curves();
  const ContrastFamily family = paper_contrasts(table, model, kMetric, problem, kLastBatch);
  std::vector<std::string> methods;
  for (const Contrast& contrast : family.contrasts) {
    methods.push_back(contrast.ours);
  }
  for (const std::string& ours : distinct(methods)) {
    const Contrast& contrast = hardest(family, ours);
    grid.rows.push_back({problem, model, ours, contrast.baseline, contrast.difference, contrast.adjusted,
                         family.better_than_all(ours) ? "yes" : "no"});
  }
}

}  // namespace

std::optional<TableBlock> paper_tests(const StudyResults& results) {
  TableBlock table{.id = "paper-tests",
                   .title = "The paper's own tests",
                   .note =
                       "RMSE after 100 batches, from its printed means and deviations of ten seeds: each of its "
                       "methods against the baseline that it is hardest to tell from, by Welch's test corrected by "
                       "Holm over all ten tests of the problem."};
  table.grid.columns = {{"problem", "Problem"},
                        {"model", "Model"},
                        {"method", "Method"},
                        {"baseline", "Hardest"},
                        {"difference", "Difference"},
                        {"adjusted", "Adjusted p"},
                        {"separated", "Better than every baseline"}};
  const StudyNames names = study_names(results);
  for (const std::string& model : names.models) {
    for (const std::string& problem : names.problems) {
      add_task(problem, model, table.grid);
    }
  }
  return table.grid.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

}  // namespace dissent::report
