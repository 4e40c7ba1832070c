// Uncertainty: what an estimator says of each input, in nats.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

  // What only some estimators know: those that EstimatorInfo::extras names, in that order.
  struct Extra {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Extra> extras;

  static Uncertainty of(std::size_t num_inputs, std::span<const std::string_view> extra_names = {});

  std::size_t size() const { return epistemic.size(); }

  // The values of an extra; InputError when there is none of that name.
  std::vector<double>& extra(std::string_view name);
  const std::vector<double>& extra(std::string_view name) const;

  // Takes another aleatoric part (that of another space) and sets the total to it.
  void set_aleatoric(std::vector<double> values);
};

// Whether input a is more uncertain than b: smaller log_deficit first; where both are -infinity, larger epistemic
// first.
inline bool more_uncertain(const Uncertainty& u, std::size_t a, std::size_t b) {
  return u.log_deficit[a] != u.log_deficit[b] ? u.log_deficit[a] < u.log_deficit[b] : u.epistemic[a] > u.epistemic[b];
}

}  // namespace dissent
