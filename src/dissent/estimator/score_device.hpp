// ScoreDevice: an accelerator that runs estimators. estimate() hands a mixture to the device in its options; what it
// has no kernel for runs on the CPU. The library above device/ knows only this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/estimator/joint_candidates.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// Component j's noise for one row of a batch, and r_ij of the rows chosen before (acquisition/sampled.hpp has the
// formula): noise [D][count], chosen [M - 1][count], rows `stride` apart.
struct ComponentNoise {
  const double* noise;
  const double* chosen;
  std::size_t stride;
  std::size_t count;  // 0: none
  double log_share;   // of each sample
};

// Rows on the device, to be weighed together with rows chosen before. One thread at a time.
class RowsOnDevice {
 public:
  virtual ~RowsOnDevice() = default;

  // The log deficit of the chosen rows together with each row, at most `most`; noise: one entry for each component.
  virtual void log_deficits(std::span<const ComponentNoise> noise, double most, std::span<double> out) = 0;
};

// Rows to choose from whose means and standard deviations lie in the device's memory, where they are read in place. One
// thread at a time. InputError for a divergence or a shape that there is no kernel for, and as validate() throws it.
class PoolOnDevice {
 public:
  virtual ~PoolOnDevice() = default;

  virtual std::size_t num_rows() const = 0;
  virtual std::size_t num_outputs() const = 0;
  virtual const Weights& weights() const = 0;

  // The pairwise estimate of each row, [N] on the host.
  struct Scores {
    std::vector<double> epistemic;
    std::vector<double> log_deficit;
  };
  virtual Scores score(const Divergence& divergence) = 0;
  // For joint choice; the pool must outlive the result. The divergences of all rows stay on the device.
  virtual std::unique_ptr<JointCandidates> compare(const Divergence& divergence) = 0;
  // Copies these outputs of these rows, with the weights.
  virtual Mixture<double> rows(std::span<const std::size_t> numbers, std::span<const std::size_t> outputs) = 0;
};

// Mixtures are in the host's memory, checked for shape and weighted. Any number of threads may call; their work is done
// in turn. Results agree with the CPU's to 1e-6 for float32 mixtures, and errors are the same.
class ScoreDevice {
 public:
  virtual ~ScoreDevice() = default;

  virtual bool takes(const Estimator& estimator, const MixtureView<float>& mixture) const = 0;
  virtual bool takes(const Estimator& estimator, const MixtureView<double>& mixture) const = 0;

  // For what it takes. Mixtures larger than the device's memory go through it in parts.
  virtual Uncertainty estimate(const Estimator& estimator, const MixtureView<float>& mixture,
                               const EstimateOptions& options) = 0;
  virtual Uncertainty estimate(const Estimator& estimator, const MixtureView<double>& mixture,
                               const EstimateOptions& options) = 0;

  // The `count` most uncertain inputs by more_uncertain(), best first, in a tie the lower number first; all if there
  // are fewer. Only they leave the device.
  struct Ranked {
    std::size_t input;
    double epistemic;
    double log_deficit;
  };
  virtual std::vector<Ranked> most_uncertain(const Estimator& estimator, const MixtureView<float>& mixture,
                                             std::size_t count, const EstimateOptions& options) = 0;
  virtual std::vector<Ranked> most_uncertain(const Estimator& estimator, const MixtureView<double>& mixture,
                                             std::size_t count, const EstimateOptions& options) = 0;

  // Copies the rows of a diagonal mixture, for batchbald. Null for shapes that the device has no kernel for, and if its
  // memory is full.
  virtual std::unique_ptr<RowsOnDevice> take_rows(const MixtureView<double>& mixture) = 0;

  // For arrays in the device's own memory, which `mixture` points at; weighted and diagonal. Returns the columns of
  // Uncertainty, also there: [..][N] in their order, extras last, ready to read. InputError also for what has no
  // kernel.
  virtual std::shared_ptr<double> estimate_there(const Estimator& estimator, const MixtureView<float>& mixture) = 0;
  virtual std::shared_ptr<double> estimate_there(const Estimator& estimator, const MixtureView<double>& mixture) = 0;
  // The `count` most uncertain inputs of such columns, [N] each, as most_uncertain() orders them.
  virtual std::vector<std::size_t> top_there(const double* epistemic, const double* log_deficit, std::size_t num_inputs,
                                             std::size_t count) = 0;
  // Such arrays as rows to choose from. Arrays, weights and this device must outlive the pool. Waits for the queue.
  virtual std::unique_ptr<PoolOnDevice> pool_there(const MixtureView<float>& mixture) = 0;
  virtual std::unique_ptr<PoolOnDevice> pool_there(const MixtureView<double>& mixture) = 0;
  // The queue in which that runs, for callers who hand over arrays that are still being written.
  virtual std::uintptr_t queue() = 0;
  virtual void copy_to_host(const double* from, std::size_t count, double* to) = 0;
};

}  // namespace dissent
