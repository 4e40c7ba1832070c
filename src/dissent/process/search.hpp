// Hyperparameters by maximum posterior density: several starts on few rows, then the best of them on more.
// Costs grow with the cube of the rows, and hyperparameters are known well enough from a few hundred.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dissent/process/evidence.hpp"

namespace dissent {

struct SearchOptions {
  HyperPrior prior = {};
  // Replaces `prior` if the density at its mode is higher by 10 nats plus 1/4 nat per row. That is strong evidence,
  // since on tables with noise a looser prior fits better and predicts worse.
  HyperPrior loose = kLoosePrior;
  // The first from the prior's mode, the others from draws of it. Shorter length scales are tried after these; those of
  // single columns only if there is more than one start.
  int starts = 4;
  Eigen::Index start_rows = 120;
  Eigen::Index rows = 500;
  int iterations = 60;  // at most, of each minimisation
  std::uint64_t seed = 0;
  // The share of the rows searched that may be stray (stray_rows.hpp). With more, the table would be like that.
  double stray_share = 0.05;
};

struct SearchResult {
  Hyperparameters hyperparameters;
  double log_density = 0;          // marginal likelihood and prior, on the rows of the last minimisation
  int evaluations = 0;             // in the last minimisation
  std::vector<Eigen::Index> rows;  // that it saw
  HyperPrior prior;                // that it had
};

// For targets [n] at inputs [n x C], n > 0. `output` is the number of the target and selects the random stream.
// `go_on`, if given, is called before each evaluation; once it returns false the search ends with the best so far.
SearchResult find_hyperparameters(const RowsRef& inputs, const VectorRef& targets, const SearchOptions& options,
                                  std::uint64_t output = 0, const std::function<bool()>& go_on = {});

}  // namespace dissent
