// The numbers of the paper's tables, built in from data/paper/*.csv: L. Berry and D. Meger, "Epistemic Uncertainty
// Estimation in Regression Ensemble Models with Pairwise Epistemic Estimators", NeurIPS 2025.
//
// Methods are named as acquisitions without their parameter: random, batchbald, badge, bait, mc, kl, bhattacharyya.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/study/comparison.hpp"

namespace dissent {

// How the paper is cited, in one line.
std::string_view paper_source();
constexpr std::size_t kPaperSeeds = 10;
constexpr std::size_t kPaperRounds = 100;
constexpr std::size_t kPaperEpochs = 6000;
constexpr std::size_t kPaperSamples = 5000;  // of Monte Carlo

// Mean and deviation of ten seeds.
struct PaperPoint {
  std::string model;   // "flow", "pne"
  std::string metric;  // "rmse", "log_likelihood"
  std::string problem;
  std::size_t after = 0;  // batches of 10 rows: 10, 25, 50, 100
  std::string method;
  double mean = 0;
  double stddev = 0;
  double level = 0;  // that its colour stands for: 0.05, 0.01, 0.001; 0: none
};

// The learning curves of the appendix; and the main table, of flows after 100 batches, which has other numbers for MC
// on Pendulum and Hopper.
const std::vector<PaperPoint>& paper_curves();
const std::vector<PaperPoint>& paper_main_table();

// Null if the tables of the appendix have none.
const PaperPoint* find_paper_point(std::string_view model, std::string_view metric, std::string_view problem,
                                   std::size_t after, std::string_view method);

// The paper's point for a study's method. Null for variants and, among several parameters, for all but the largest: the
// paper has none of them.
const PaperPoint* paper_point_of(const Comparison& comparison, const TaskComparison& task, const MethodCurve& curve,
                                 std::size_t after);

// The paper's own tests, from its printed means and deviations: Welch's, of kl and bhattacharyya against the others,
// corrected by Holm. Empty if it has no numbers.
ContrastFamily paper_contrasts(const std::vector<PaperPoint>& table, std::string_view model, std::string_view metric,
                               std::string_view problem, std::size_t after);

struct PaperRuntime {
  std::string model;
  std::string method;
  std::string problem;
  double minutes = 0;  // of a whole run
};
const std::vector<PaperRuntime>& paper_runtimes();

struct PaperEnsembleSize {
  std::string method;
  std::size_t components = 0;
  double rmse = 0;  // on Hopper after the last batch
};
const std::vector<PaperEnsembleSize>& paper_ensemble_sizes();

struct PaperSpearman {
  std::string model;
  std::string problem;
  double kl = 0;
  double bhattacharyya = 0;
};
const std::vector<PaperSpearman>& paper_spearman();

struct PaperMatchedSamples {
  std::string problem;
  std::size_t outputs = 0;
  std::size_t samples = 0;  // that Monte Carlo draws in the time of a pairwise estimate
};
const std::vector<PaperMatchedSamples>& paper_matched_samples();

}  // namespace dissent
