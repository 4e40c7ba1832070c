// The training kernel's arguments: plain values and pointers into the card's memory, the same for host and device.
//
// A job is a unit of a fit (ensemble/fit_device.hpp): a single component, or all components of a model with a flow. Its
// members work at the same time: member m has components m, m + members, ... The rows of a member's batch are summed in
// slices, and the slices' sums are added in order. A block of threads has one slice, or all slices of a member if there
// is much to do; the bits are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dissent/ensemble/step_factors.hpp"

namespace dissent::device {

inline constexpr int kMaxLayers = 8;       // of a network, including the heads
inline constexpr int kMaxMembers = 16;     // components of a job that work at the same time
inline constexpr int kMaxSlices = 16;      // of a job, and so blocks that work together: a cluster
static_assert(kMaxMembers <= kMaxSlices);  // each member has a slice; with more components than members, only one
inline constexpr int kSplineBins = 10;     // of the flow
inline constexpr int kSplineParams = 2 * kSplineBins + 2;
inline constexpr int kOutputsAtOnce = 4;    // by the loss
inline constexpr int kMaxFlowWidth = 31;    // units of the conditioner's last hidden layer
inline constexpr int kProductRows = 32;     // a product of gradients, of rows ...
inline constexpr int kProductColumns = 32;  // ... and columns
inline constexpr int kUnitsAtOnce = 32;     // of a layer, whose sums a warp forms

inline constexpr int kPanelStride = 36;  // floats from one column of a warp's 32 rows to the next, in shared memory:
                                         // operands of tensor cores then come from different banks

// To a multiple of eight, which is what tensor cores take.
constexpr int rounded_up(int count) { return (count + 7) / 8 * 8; }

// Offsets are in the flat block of parameters; weights are [outputs][inputs]. A copy in shared memory is padded with
// zeros to [rounded_up(outputs)][copy_stride(inputs)], with the biases in column rounded_up(inputs).
struct DenseLayer {
  int inputs = 0;
  int outputs = 0;
  int weight = 0;
  int bias = 0;
  int copy = 0;  // where its copy begins in that of the network
};

constexpr int copy_stride(int inputs) { return rounded_up(inputs) + 4; }
constexpr int copy_size(int inputs, int outputs) { return rounded_up(outputs) * copy_stride(inputs); }

struct DenseNet {
  int num_layers = 0;  // 0: there is none
  int begin = 0;       // its part of the block, including gaps
  int end = 0;
  DenseLayer layers[kMaxLayers] = {};
};

// Units of all hidden layers but the last, which a tile keeps in scratch memory.
constexpr int kept_units(const DenseNet& net) {
  int sum = 0;
  for (int l = 0; l + 2 < net.num_layers; ++l) {
    sum += rounded_up(net.layers[l].outputs);
  }
  return sum;
}

// The flow width of the kernel that has room for the conditioner's last hidden layer and a bias; 0 without a flow.
constexpr int padded_flow_width(int units) { return units == 0 ? 0 : rounded_up(units + 1) <= 24 ? 24 : 32; }

// Weights of one output's spline in shared memory, in two planes. stage_stride: numbers from one parameter's to the
// next; stage_size: floats of both planes; raw_stride and raw_size: the same for those of the next output.
constexpr int stage_stride(int flow_width) { return flow_width + 4; }
constexpr int stage_size(int flow_width) { return 2 * rounded_up(kSplineParams) * stage_stride(flow_width); }
constexpr int raw_stride(int inputs) { return inputs + 1; }
constexpr int raw_size(int inputs) { return kSplineParams * raw_stride(inputs); }

// Threads of a block: kFewRows for batches of at most that many rows. For larger batches, kMostRows if slices are that
// large, or kSomeRows if there is more to do than the card has room for; the bits are the same.
inline constexpr int kFewRows = 64;
inline constexpr int kSomeRows = 128;
inline constexpr int kMostRows = 256;

// Blocks that share a multiprocessor. Blocks of kSomeRows may be roomy: if there are few, each has more registers and
// memory.
constexpr int blocks_together(int rows, bool roomy) {
  return rows == kSomeRows ? (roomy ? 2 : 3) : (rows < kSomeRows ? 6 : 2);
}

// Rows of a slice of a batch, except for the last: whole tiles of `rows` threads or, if each slice is one tile, as many
// as in the others, in whole warps.
constexpr int slice_rows(int batch, int slices, int rows) {
  const int tiles = (batch + rows - 1) / rows;
  return tiles == slices ? ((batch + slices - 1) / slices + 31) / 32 * 32 : (tiles + slices - 1) / slices * rows;
}

// What jobs of one launch have in common.
struct TrainKind {
  int rows = 0;          // threads of a block, at least
  int most_rows = 0;     // ... and at most
  int flow_width = 0;    // padded
  int members = 1;       // of a job
  int slices = 1;        // of a member
  bool in_turn = false;  // a member has several components of a job, and no copies of them

  bool operator==(const TrainKind&) const = default;
};

struct TrainJob {
  DenseNet conditioner;      // of the flow
  const DenseNet* networks;  // [num_components]
  int num_components;
  int members;
  int slices;           // of a member
  int tile_rows;        // rows of a tile, by which a batch is shared out (slice_rows)
  int first_component;  // its number in the ensemble, which selects its streams
  int num_inputs;       // C
  int num_outputs;      // D
  int num_transformed;  // T; 0 without a flow
  float tail_bound;
  const float* inputs;           // [N][C]
  const float* targets;          // [N][D], columns in the order in which the flow takes them
  const std::uint32_t* samples;  // [num_components][num_rows]
  std::uint32_t* orders;         // [slices] of the same, for the current epoch
  std::uint32_t* draws;          // scratch of the same size
  std::size_t slice_orders;      // from those of one slice to the next
  int num_rows;
  int batch_size;
  std::uint64_t seed;
  std::uint64_t first_stream;  // of the epochs' orders: the number of the first epoch, and more after restarts
  int num_epochs;
  const StepFactors* steps;  // [num_epochs * steps per epoch]
  float clip_norm;           // 0: none
  float* parameters;         // the whole block ...
  float* average;
  float* first_moment;
  float* second_moment;
  float* gradient;  // ... and one for each slice of each member
  int block_size;
  float* scratch;  // likewise, [scratch_size]
  int scratch_size;
  double* exchange;  // [2][kMaxSlices][2]
  double* loss;      // of the last epoch; NaN if a step was not finite
};

// A launch: jobs in stretches of epochs, the first stretches of all jobs first. If there are more jobs than groups that
// fit on the card, groups take stretches in turn, and a job moves from one group to another.
struct TrainTasks {
  const TrainJob* jobs;
  int num_jobs;
  int num_stretches;
  int* next;  // next stretch to take
  int* done;  // [num_jobs]: stretches of a job that are done
};

// Sizes of the regions of a block's shared memory, for the largest of the jobs that run together.
struct TrainMemory {
  int flow_units = 0;     // columns of a panel for the widest hidden layer of the conditioner and the bias ...
  int base_units = 0;     // ... and of the components
  int split_units = 0;    // columns of either part of the conditioner's units, in roomy blocks; 0: there are none
  int stage = 0;          // floats: weights of one of the spline's outputs and of the next, ...
  int flow_copy = 0;      // ... copies of the hidden layers of the flow ...
  int base_copy = 0;      // ... and of a component; 0: none, ...
  int flow_gradient = 0;  // ... and the gradients of all their parameters; 0: in the card's memory
  int base_gradient = 0;
};

// Columns of a warp's operands and results: with a flow, also the gradients of a spline's parameters in two parts.
constexpr int operand_columns(int flow_units) {
  return flow_units == 0 || kProductColumns > 2 * kSplineParams ? kProductColumns : 2 * kSplineParams;
}

// Floats of a warp's panels.
constexpr int panel_size(const TrainMemory& memory) {
  return (memory.base_units + memory.flow_units + operand_columns(memory.flow_units) + 2 * kOutputsAtOnce +
          2 * memory.split_units) *
         kPanelStride;
}

inline constexpr std::size_t kMostShared = 225 * 1024;  // bytes, of a block
inline constexpr std::size_t kThirdShared = 73 * 1024;  // if three are to share a multiprocessor
inline constexpr std::size_t kStaticShared = 2 * 1024;  // besides these

}  // namespace dissent::device
