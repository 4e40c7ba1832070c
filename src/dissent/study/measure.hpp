// The paper's side studies of its estimators, as numbers for a store:
//
//   seconds          of an estimate, for one input, by outputs and by components; on one thread. The mixtures are drawn
//                    at random, so that only the shape counts.
//   matched_samples  the K for which mc:K takes as long as a pairwise estimate, between the K that were timed
//   spearman         of the ranks of pool rows by a pairwise estimate with those by mc:K, for models fitted to the
//                    first rows of a problem
//   bias             pairwise estimate minus true value, by x, for such models of the one-dimensional problems
//   epistemic        the estimates themselves, and the true value; only for seed 0
//   data, sample     rows that such a model was fitted to, and rows that it draws; only for seed 0
//
// All but the times, and what follows from them, depend only on the options.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/study/store.hpp"

namespace dissent {

struct MeasureOptions {
  std::size_t num_seeds = 5;                                   // 0, 1, ...
  std::vector<std::size_t> outputs = {1, 3, 11, 27, 257};      // those of the problems, with 5 components
  std::vector<std::size_t> components = {3, 4, 5, 7, 10, 20};  // with the most outputs
  std::vector<std::size_t> samples = {10, 100, 1000, 5000};    // K, ascending; the last one ranks
  std::size_t repeats = 7;                                     // of a time; their median counts
  double sampled_values = 1e7;                                 // log densities in a timed estimate by samples
  std::vector<std::string> problems = {};                      // to fit; empty: all that this build has
  std::size_t epochs = 6000;                                   // of a fit; otherwise the paper's settings
  std::size_t ranked_rows = 1000;                              // of the pool
  std::size_t points = 81;                                     // of x, over the range of the test rows
  ProblemOptions problem = {};
  Executor* executor = nullptr;  // for fits; times are those of one thread
  std::function<void(std::string_view of, std::size_t done, std::size_t total)> progress;  // "times", then "models"
};

// Shorter fits, fewer samples, repeats and ranked rows.
MeasureOptions quick_measurements();

std::vector<Measurement> measure(const MeasureOptions& options);

// Its parts.
std::vector<Measurement> measure_seconds(const MeasureOptions& options);
std::vector<Measurement> matched_samples(std::span<const Measurement> seconds);
std::vector<Measurement> measure_fitted(const MeasureOptions& options);  // spearman and what follows

}  // namespace dissent
