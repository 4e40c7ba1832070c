// FitDevice: a device other than this processor that trains networks, such as a graphics card (device/).
// FitControl::device points to it, and training hands it whole stretches of epochs. The caller (train_networks.cpp)
// still decides when to stop, what to keep and when to restart. Rows, their order and the factors of each step are
// those of trainer.hpp, so results differ from it only by rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/options.hpp"
#include "dissent/ensemble/step_factors.hpp"
#include "dissent/flow/flow.hpp"

namespace dissent {

// One fit's networks and rows, as the trainer has prepared them. Everything it refers to outlives the fit.
struct FitProblem {
  const NetworkModel& networks;    // where layers are in the flat block: stack().components[c].layers(), flow_begin()
  const Flow* flow;                // null: none
  const TrainOptions& options;     // resolved: no empty batch size or weight decay
  std::uint64_t seed;              // of the rows' order
  std::span<const float> inputs;   // [N][C] scaled, those trained on first, then those held out
  std::span<const float> targets;  // [N][D]
  std::span<const float> weights;  // [N] of rows; empty: all count alike
  std::size_t num_rows;            // trained on
  std::size_t batch_size;
  std::vector<std::span<const std::uint32_t>> samples;   // [M] rows that a component trains on, num_rows each
  std::vector<std::span<const std::uint32_t>> held_out;  // [M]
};

// Whole blocks of the model's layout, in the host's memory.
struct FitBlocks {
  std::span<float> parameters;
  std::span<float> average;
  std::span<float> first_moment;
  std::span<float> second_moment;
};

// Epochs [begin, end) of a unit: a component, or the whole model if components share parameters.
struct UnitEpochs {
  std::size_t unit = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t restarts = 0;            // after its loss diverged
  std::span<const StepFactors> steps;  // of each of its steps, in order
};

// The number of an epoch's stream is that of the epoch plus this many for each restart: beyond all epochs.
inline constexpr std::uint64_t kRestartEpochs = std::uint64_t{1} << 40;

// The row order of an epoch: shuffles a component's sample, which the caller has copied to `rows`. Left out if all rows
// are one batch, since the order then does not matter.
void shuffle_epoch(std::uint64_t seed, std::size_t component, std::size_t epoch, std::size_t restarts,
                   std::span<std::uint32_t> rows);

// A fit in progress. Calls come from one thread at a time.
class DeviceFit {
 public:
  virtual ~DeviceFit() = default;

  // Reads the units' parts of the blocks, runs their epochs and writes these parts back. losses[k] becomes the mean
  // loss of the last epoch of units[k], NaN as soon as a step's loss or gradient is not finite.
  virtual void run(std::span<const UnitEpochs> units, const FitBlocks& blocks, std::span<double> losses) = 0;
};

// Many threads may hold fits of one device; it runs their work together.
class FitDevice {
 public:
  virtual ~FitDevice() = default;

  // Why the device cannot train this, e.g. "`share_weights` cannot be trained there"; empty if it can.
  virtual std::string refuses(const FitProblem& problem) const = 0;
  virtual std::unique_ptr<DeviceFit> begin(const FitProblem& problem) = 0;
};

}  // namespace dissent
