// Claim: a training step of a probabilistic network is at least ten times faster than in PyTorch on one thread.
//
// A step is one member on one batch of 256 rows: pick the rows, forward, Gaussian negative log-likelihood, backward,
// Adam. Three hidden layers of 50 units, of which the member's fixed mask (p = 0.5) keeps half. Prints the median and
// the quartiles of a step, and of a forward pass from rows to mean and stddev. network_torch.py prints the same for
// PyTorch.
//     network_bench [steps]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/network/adam.hpp"
#include "dissent/network/gaussian.hpp"
#include "dissent/network/mask.hpp"
#include "dissent/network/mlp.hpp"
#include "dissent/network/rows.hpp"

namespace {

using namespace dissent;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 256;
constexpr std::size_t kRows = 2000;
constexpr std::size_t kMembers = 5;

struct Spread {
  double lower, median, upper;  // microseconds
};

template <class Body>
Spread time(int repetitions, Body body) {
  std::vector<double> microseconds;
  for (int k = 0; k < repetitions + repetitions / 5; ++k) {
    const auto start = Clock::now();
    body(k);
    const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
    if (k >= repetitions / 5) {  // the first ones warm up
      microseconds.push_back(elapsed.count());
    }
  }
  std::ranges::sort(microseconds);
  const std::size_t count = microseconds.size();
  return {microseconds[count / 4], microseconds[count / 2], microseconds[count * 3 / 4]};
}

std::vector<float> normal_table(std::size_t cols, std::uint64_t index) {
  Stream stream(1, Purpose::kTest, index);
  std::vector<float> table(kRows * cols);
  std::ranges::generate(table, [&] { return static_cast<float>(stream.normal()); });
  return table;
}

void run(std::size_t num_inputs, std::size_t num_outputs, int steps) {
  const MlpShape shape = gaussian_shape(num_inputs, {50, 50, 50}, num_outputs);
  std::vector<Mask> masks;
  for (std::size_t c = 0; c < kMembers; ++c) {
    masks.push_back(draw_mask(shape, 0.5, 7, c));
  }
  const MlpStack stack = make_stack(shape, masks);
  Block<float> parameters(stack.layout.size());
  Block<float> gradient(stack.layout.size());
  Block<float> first(stack.layout.size());
  Block<float> second(stack.layout.size());
  initialise<float>(stack, 7, parameters);
  MlpWorkspace<float> workspace(stack.components, kBatch);
  PanelBuffer<float> inputs(num_inputs, kBatch);
  PanelBuffer<float> targets(num_outputs, kBatch);
  const std::vector<float> x = normal_table(num_inputs, 1);
  const std::vector<float> y = normal_table(num_outputs, 2);
  std::vector<std::uint32_t> chosen(kBatch);
  std::vector<float> predicted(kBatch * 2 * num_outputs);
  Stream rows(1, Purpose::kShuffle);
  const GaussianOptions loss;
  const AdamOptions adam;
  const RowTable<const float> x_table{x.data(), num_inputs};
  const RowTable<const float> y_table{y.data(), num_outputs};

  const auto step = [&](int k) {
    const Mlp& mlp = stack.components[static_cast<std::size_t>(k) % kMembers];
    for (std::uint32_t& row : chosen) {
      row = static_cast<std::uint32_t>(rows.below(kRows));
    }
    pack_rows(x_table, chosen.data(), kBatch, inputs.panel());
    pack_rows(y_table, chosen.data(), kBatch, targets.panel());
    forward<float>(mlp, parameters, inputs.panel(), kBatch, workspace);
    gaussian_nll_gradient(loss, workspace.outputs(), targets.panel(), kBatch);
    std::ranges::fill(mlp.range<float>(gradient), 0.0F);
    backward<float>(mlp, parameters, workspace, {.block = gradient});
    adam_step(adam, static_cast<std::uint64_t>(k) / kMembers + 1,
              AdamRange<float>{mlp.range<float>(parameters), mlp.range<float>(gradient), mlp.range<float>(first),
                               mlp.range<float>(second)});
  };
  const auto predict = [&](int k) {
    const Mlp& mlp = stack.components[static_cast<std::size_t>(k) % kMembers];
    pack_rows(x_table, nullptr, kBatch, inputs.panel());
    const Panel<float> heads = forward<float>(mlp, parameters, inputs.panel(), kBatch, workspace);
    exponentiate_log_stddev(loss, heads.slice(num_outputs, num_outputs), kBatch);
    unpack_rows(heads, kBatch, {predicted.data(), 2 * num_outputs});
  };
  const Spread training = time(steps, step);
  const Spread prediction = time(steps, predict);
  fmt::print("{:>7} {:>8} {:>10.1f} {:>8.1f} {:>8.1f} {:>12.1f} {:>8.1f} {:>8.1f}\n", num_inputs, num_outputs,
             training.median, training.lower, training.upper, prediction.median, prediction.lower, prediction.upper);
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  fmt::print("one thread, microseconds: median, quartiles\n{:>7} {:>8} {:>10} {:>8} {:>8} {:>12} {:>8} {:>8}\n",
             "inputs", "outputs", "train step", "25%", "75%", "predict 256", "25%", "75%");
  run(1, 1, steps);
  run(14, 11, steps);
  run(35, 27, steps);
  run(274, 257, steps);
}
