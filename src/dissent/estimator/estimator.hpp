// The registry of estimators and the one function that runs any of them: Mixture in, Uncertainty out.
//
// To add one, write a source with its function, a line in methods.hpp, a row in registry.cpp and a test. The command
// line and the conformance tests read the registry. (A new divergence becomes a pairwise estimator through its own
// registry.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// epistemic:   mutual information between output and component, or an estimate of it
// aleatoric:   mean entropy of the components, in the mixture's space
// total:       aleatoric + epistemic
// log_deficit: ln(H(weights) - epistemic), computed without cancellation. Smaller means more uncertain; it still orders
//              inputs where epistemic has reached H(weights) to the last bit. -infinity where epistemic >= H(weights).
struct Uncertainty {
  std::vector<double> epistemic;
  std::vector<double> aleatoric;
  std::vector<double> total;
  std::vector<double> log_deficit;

  // What only some estimators give: the extras that EstimatorInfo::extras names, in that order.
  struct Extra {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Extra> extras;

  static Uncertainty of(std::size_t num_inputs, std::span<const std::string_view> extra_names = {});

  std::size_t size() const { return epistemic.size(); }

  // The values of an extra; InputError if there is none of that name.
  std::vector<double>& extra(std::string_view name);
  const std::vector<double>& extra(std::string_view name) const;

  // Replaces the aleatoric part (by that of another space) and updates the total.
  void set_aleatoric(std::vector<double> values);
};

// Whether input a is more uncertain than b: smaller log_deficit first; where both are -infinity, larger epistemic
// first.
inline bool more_uncertain(const Uncertainty& u, std::size_t a, std::size_t b) {
  return u.log_deficit[a] != u.log_deficit[b] ? u.log_deficit[a] < u.log_deficit[b] : u.epistemic[a] > u.epistemic[b];
}

struct EstimatorInfo;
// Every estimator: first the pairwise ones of all divergences, starting with kl.
const std::vector<EstimatorInfo>& estimators();

// An estimator with its parameters: a plain value, as typed on a command line.
struct Estimator {
  Estimator();  // kl
  explicit Estimator(const EstimatorInfo& row) : info(&row) {}

  const EstimatorInfo* info;
  Divergence divergence = {};  // for the pairwise ones
  std::size_t count = 0;       // K: the samples of mc:K, the inputs that refine:K puts in order

  std::string name() const;  // parse_estimator(name()) gives the same estimator
};

class ScoreDevice;  // score_device.hpp

struct EstimateOptions {
  Executor* executor = nullptr;   // null: only the calling thread. Results are the same to the bit.
  std::uint64_t seed = 0;         // of the sampling estimators; input n draws from its own stream
  std::size_t first_input = 0;    // number of the mixture's first input in the whole it is a part of
  ScoreDevice* device = nullptr;  // runs what it has kernels for; null: none
};

// An estimator's function for float32 and for float64 mixtures; made from one function that takes either.
struct RunEstimator {
  Uncertainty (*single)(const Estimator&, const MixtureView<float>&, const EstimateOptions&);
  Uncertainty (*full)(const Estimator&, const MixtureView<double>&, const EstimateOptions&);

  template <class F>
  constexpr RunEstimator(F f) : single(f), full(f) {}

  Uncertainty operator()(const Estimator& e, const MixtureView<float>& mixture, const EstimateOptions& options) const {
    return single(e, mixture, options);
  }
  Uncertainty operator()(const Estimator& e, const MixtureView<double>& mixture, const EstimateOptions& options) const {
    return full(e, mixture, options);
  }
};

struct EstimatorInfo {
  std::string name;          // as typed, without the parameter
  Parameter parameter = {};  // "A": alpha of the divergence; "K": Estimator::count
  std::string formula;       // one line
  Bound bound = Bound::kNone;
  std::string cost;                               // per input, for people
  std::span<const std::string_view> extras = {};  // names of Uncertainty::extras
  const DivergenceInfo* divergence = nullptr;     // for the pairwise ones
  bool by_pairs = true;       // compares components in pairs, with memory for M x M; else takes a while on each input
  bool ranks_inputs = false;  // compares inputs with each other: the result for one depends on all
  bool one_output = false;    // D = 1 only
  // Roughly the work, in units of comparing all pairs of components once.
  double (*passes)(const Estimator& estimator) = [](const Estimator&) { return 1.0; };
  RunEstimator run;

  std::string typed_name() const { return method_name(name, parameter); }  // "mc:K"
};

// "kl", "chernoff:0.3", "mc:5000", "bounds", "refine:10", ...; throws an InputError that lists all.
Estimator parse_estimator(std::string_view text);

// The pairwise estimator over a divergence.
Estimator pairwise_estimator(const Divergence& divergence);

// Throws an InputError for a mixture that breaks a rule (see validate()), or that the estimator does not take. N = 0
// gives empty results. aleatoric and total are those of the mixture's own space.
template <class T>
Uncertainty estimate(const Estimator& estimator, const MixtureView<T>& mixture, const EstimateOptions& options = {});

}  // namespace dissent
