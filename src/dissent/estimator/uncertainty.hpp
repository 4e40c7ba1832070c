// Uncertainty: what an estimator says of each input, in nats.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dissent {

// epistemic:   mutual information between output and component, or an estimate of it
// aleatoric:   mean entropy of the components
// total:       aleatoric + epistemic
// log_deficit: ln(H(weights) - epistemic), computed without cancellation. Smaller means more uncertain; it still orders
//              inputs where epistemic has reached H(weights) to the last bit. -infinity where epistemic >= H(weights).
struct Uncertainty {
  std::vector<double> epistemic;
  std::vector<double> aleatoric;
  std::vector<double> total;
  std::vector<double> log_deficit;

  // What only some estimators know, as their headers say: "standard_error", "lower", "upper", "alpha", "samples", ...
  struct Extra {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Extra> extras;

  std::size_t size() const { return epistemic.size(); }
  void resize(std::size_t num_inputs) {
    for (std::vector<double>* column : {&epistemic, &aleatoric, &total, &log_deficit}) {
      column->resize(num_inputs);
    }
    for (Extra& extra : extras) {
      extra.values.resize(num_inputs);
    }
  }
};

// Whether input a is more uncertain than b: smaller log_deficit first; where both are -infinity, larger epistemic
// first.
inline bool more_uncertain(const Uncertainty& u, std::size_t a, std::size_t b) {
  return u.log_deficit[a] != u.log_deficit[b] ? u.log_deficit[a] < u.log_deficit[b] : u.epistemic[a] > u.epistemic[b];
}

}  // namespace dissent
