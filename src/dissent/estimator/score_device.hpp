// ScoreDevice: an accelerator that runs estimators. estimate() hands a mixture over to the one in its options; what the
// device has no kernel for runs on the CPU. The library above device/ knows no more of it than this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// Mixtures lie in the host's memory, checked for shape and weighted. Any number of threads may call; their work is done
// in turn. Results agree with the CPU's to 1e-6 for float32 mixtures, and errors are the same.
class ScoreDevice {
 public:
  virtual ~ScoreDevice() = default;

  virtual bool takes(const Estimator& estimator, const MixtureView<float>& mixture) const = 0;
  virtual bool takes(const Estimator& estimator, const MixtureView<double>& mixture) const = 0;

  // Of what it takes. Mixtures larger than the device's memory go through it in parts.
  virtual Uncertainty estimate(const Estimator& estimator, const MixtureView<float>& mixture,
                               const EstimateOptions& options) = 0;
  virtual Uncertainty estimate(const Estimator& estimator, const MixtureView<double>& mixture,
                               const EstimateOptions& options) = 0;

  // The `count` most uncertain inputs by more_uncertain(), best first, of two alike the first; all if there are fewer.
  // Only they leave the device.
  struct Ranked {
    std::size_t input;
    double epistemic;
    double log_deficit;
  };
  virtual std::vector<Ranked> most_uncertain(const Estimator& estimator, const MixtureView<float>& mixture,
                                             std::size_t count, const EstimateOptions& options) = 0;
  virtual std::vector<Ranked> most_uncertain(const Estimator& estimator, const MixtureView<double>& mixture,
                                             std::size_t count, const EstimateOptions& options) = 0;

  // Of arrays in the device's own memory, which mixture points at; weighted and diagonal. Returns the columns of
  // Uncertainty there, [..][N] in their order, those of extras last. They are ready. InputError for what has no kernel,
  // too.
  virtual std::shared_ptr<double> estimate_there(const Estimator& estimator, const MixtureView<float>& mixture) = 0;
  virtual std::shared_ptr<double> estimate_there(const Estimator& estimator, const MixtureView<double>& mixture) = 0;
  // The `count` most uncertain inputs of such columns, [N] each, as most_uncertain() orders them.
  virtual std::vector<std::size_t> top_there(const double* epistemic, const double* log_deficit, std::size_t num_inputs,
                                             std::size_t count) = 0;
  // The queue in which that is done, for whoever hands arrays over while they are still being written.
  virtual std::uintptr_t queue() = 0;
  virtual void copy_to_host(const double* from, std::size_t count, double* to) = 0;
};

}  // namespace dissent
