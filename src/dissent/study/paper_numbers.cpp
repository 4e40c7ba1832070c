#include "dissent/study/paper_numbers.hpp"

#include <algorithm>

#include "dissent/study/comparison_parts.hpp"
#include "dissent/study/paper_data.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

constexpr std::string_view kOurs[] = {"kl", "bhattacharyya"};
constexpr double kLevel = 0.05;

Table paper_table(std::string_view name) {
  return parse_csv(embedded_paper_table(name), fmt::format("data/paper/{}.csv", name));
}

std::size_t whole(const Table& table, std::string_view column, std::size_t row) {
  return static_cast<std::size_t>(table.column(column).finite_number(row));
}

std::vector<PaperPoint> read_points(std::string_view name) {
  const Table table = paper_table(name);
  std::vector<PaperPoint> points;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const Column& highlight = table.column("highlight");
    points.push_back({.model = table.column("model").text[row],
                      .metric = table.column("metric").text[row],
                      .problem = table.column("problem").text[row],
                      .after = whole(table, "batch", row),
                      .method = table.column("method").text[row],
                      .mean = table.column("mean").finite_number(row),
                      .stddev = table.column("stddev").finite_number(row),
                      .level = highlight.is_missing(row) ? 0 : highlight.finite_number(row)});
  }
  return points;
}

// One item per row.
template <class Item, class Make>
std::vector<Item> read_items(std::string_view name, const Make& make) {
  const Table table = paper_table(name);
  std::vector<Item> items;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    items.push_back(make(table, row));
  }
  return items;
}

bool is_ours(const PaperPoint& point) { return std::ranges::find(kOurs, point.method) != std::end(kOurs); }

Moments moments_of(const PaperPoint& point) { return {point.mean, point.stddev, kPaperSeeds}; }

}  // namespace

std::string_view paper_source() {
  return "L. Berry and D. Meger, \"Epistemic Uncertainty Estimation in Regression Ensemble Models with Pairwise "
         "Epistemic Estimators\", NeurIPS 2025";
}

const std::vector<PaperPoint>& paper_curves() {
  static const std::vector<PaperPoint> points = read_points("curves");
  return points;
}

const std::vector<PaperPoint>& paper_main_table() {
  static const std::vector<PaperPoint> points = read_points("main_table");
  return points;
}

const PaperPoint* find_paper_point(std::string_view model, std::string_view metric, std::string_view problem,
                                   std::size_t after, std::string_view method) {
  const auto found = std::ranges::find_if(paper_curves(), [&](const PaperPoint& point) {
    return point.model == model && point.metric == metric && point.problem == problem && point.after == after &&
           point.method == method;
  });
  return found == paper_curves().end() ? nullptr : &*found;
}

const PaperPoint* paper_point_of(const Comparison& comparison, const TaskComparison& task, const MethodCurve& curve,
                                 std::size_t after) {
  return task.find_acquisition(curve.acquisition) == &curve
             ? find_paper_point(task.model, comparison.metric->paper, task.problem, after, curve.acquisition)
             : nullptr;
}

ContrastFamily paper_contrasts(const std::vector<PaperPoint>& table, std::string_view model, std::string_view metric,
                               std::string_view problem, std::size_t after) {
  std::vector<PaperPoint> points;
  std::ranges::copy_if(table, std::back_inserter(points), [&](const PaperPoint& point) {
    return point.model == model && point.metric == metric && point.problem == problem && point.after == after;
  });
  const bool less_is_better = find_metric(metric).less_is_better;
  ContrastFamily family{.after = after};
  for (const PaperPoint& ours : points) {
    for (const PaperPoint& theirs : points) {
      if (is_ours(ours) && !is_ours(theirs)) {
        family.contrasts.push_back(
            welch_contrast(ours.method, moments_of(ours), theirs.method, moments_of(theirs), less_is_better));
      }
    }
  }
  correct(family, less_is_better, kLevel);
  return family;
}

const std::vector<PaperRuntime>& paper_runtimes() {
  static const auto items = read_items<PaperRuntime>("runtimes", [](const Table& table, std::size_t row) {
    return PaperRuntime{table.column("model").text[row], table.column("method").text[row],
                        table.column("problem").text[row], table.column("minutes").finite_number(row)};
  });
  return items;
}

const std::vector<PaperEnsembleSize>& paper_ensemble_sizes() {
  static const auto items = read_items<PaperEnsembleSize>("ensemble_sizes", [](const Table& table, std::size_t row) {
    return PaperEnsembleSize{table.column("method").text[row], whole(table, "components", row),
                             table.column("rmse").finite_number(row)};
  });
  return items;
}

const std::vector<PaperSpearman>& paper_spearman() {
  static const auto items = read_items<PaperSpearman>("spearman", [](const Table& table, std::size_t row) {
    return PaperSpearman{table.column("model").text[row], table.column("problem").text[row],
                         table.column("kl").finite_number(row), table.column("bhattacharyya").finite_number(row)};
  });
  return items;
}

const std::vector<PaperMatchedSamples>& paper_matched_samples() {
  static const auto items = read_items<PaperMatchedSamples>("matched_samples", [](const Table& table, std::size_t row) {
    return PaperMatchedSamples{table.column("problem").text[row], whole(table, "outputs", row),
                               whole(table, "samples", row)};
  });
  return items;
}

}  // namespace dissent
