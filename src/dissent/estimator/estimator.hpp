// The registry of estimators and the one function that runs any of them: Mixture in, Uncertainty out.
//
// To add one: a header and a source with its function, a row in the table of estimator.cpp, a test. The command line
// and the conformance tests read the registry. (A new divergence becomes a pairwise estimator by its own registry.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/uncertainty.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

enum class EstimatorKind { kPairwise, kMonteCarlo, kEpkl, kQuadrature, kBounds, kRefine };

// Which estimator, with its parameters: a plain value, as typed on a command line.
struct Estimator {
  EstimatorKind kind = EstimatorKind::kPairwise;
  Divergence divergence;        // kPairwise
  std::size_t num_samples = 0;  // kMonteCarlo
  std::size_t top = 0;          // kRefine: how many of the most uncertain inputs to put in order

  std::string name() const;  // parse_estimator(name()) gives the same estimator
};

struct EstimatorInfo {
  std::string name;     // with its parameter, as in "mc:K"
  std::string formula;  // one line
  Bound bound = Bound::kNone;
  std::string cost;
};

// Every estimator there is: the pairwise ones of all divergences first.
std::vector<EstimatorInfo> estimators();

// "kl", "chernoff:0.3", "mc:5000", "bounds", "refine:10", ...; throws an InputError that lists what there is.
Estimator parse_estimator(std::string_view text);

struct EstimateOptions {
  Executor* executor = nullptr;  // null: on the calling thread alone. Results are the same to the bit.
  std::uint64_t seed = 0;        // of the sampling estimators; input n draws from its own stream
  std::size_t first_input = 0;   // number of the mixture's first input in the whole it is a part of
};

// Throws an InputError for a mixture that breaks a rule (see validate()). N = 0 gives empty results.
template <class T>
Uncertainty estimate(const Estimator& estimator, const MixtureView<T>& mixture, const Weights& weights,
                     const EstimateOptions& options = {});

}  // namespace dissent
