// Whole training steps: no allocation, the same bits on every run, and components that do not know of each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/matrix/rows.hpp"
#include "dissent/network/adam.hpp"
#include "dissent/network/gaussian.hpp"
#include "dissent/network/mask.hpp"
#include "dissent/network/mlp.hpp"
#include "support/count_allocations.hpp"

namespace dissent {
namespace {

using test::num_allocations;

constexpr std::size_t kInputs = 3;
constexpr std::size_t kOutputs = 2;
constexpr std::size_t kRows = 100;
constexpr std::size_t kBatch = 37;

// An ensemble of masked networks in training, each component on batches of its own.
struct Training {
  Training(Activation activation, std::vector<std::size_t> members) : members(members) {
    MlpShape shape = gaussian_shape(kInputs, {20, 20}, kOutputs);
    shape.activation = activation;
    std::vector<Mask> masks;
    for (const std::size_t member : members) {
      masks.push_back(draw_mask(shape, 0.5, 1, member));
    }
    stack = make_stack(shape, masks);
    for (Block<float>* block : {&parameters, &gradient, &first, &second}) {
      block->resize(stack.layout.size());
    }
    for (std::size_t c = 0; c < members.size(); ++c) {
      initialise<float>(stack.components[c], Stream(1, Purpose::kInitialise, members[c]), parameters);
      workspaces.emplace_back(stack.components[c], kBatch);
      inputs.emplace_back(kInputs, kBatch);
      targets.emplace_back(kOutputs, kBatch);
    }
    Stream stream(1, Purpose::kTest);
    x.resize(kRows * kInputs);
    y.resize(kRows * kOutputs);
    for (float& v : x) {
      v = static_cast<float>(stream.normal());
    }
    for (float& v : y) {
      v = static_cast<float>(stream.normal());
    }
  }

  double step(std::size_t c, std::uint64_t number) {
    std::uint32_t chosen[kBatch];
    Stream rows = Stream(1, Purpose::kBootstrap, members[c]).substream(number);
    for (std::uint32_t& row : chosen) {
      row = static_cast<std::uint32_t>(rows.below(kRows));
    }
    const Mlp& mlp = stack.components[c];
    pack_rows(RowTable<const float>{x.data(), kInputs}, chosen, kBatch, inputs[c].panel());
    pack_rows(RowTable<const float>{y.data(), kOutputs}, chosen, kBatch, targets[c].panel());
    forward<float>(mlp, parameters, inputs[c].panel(), kBatch, workspaces[c]);
    const double loss = gaussian_nll_gradient({}, workspaces[c].outputs(), targets[c].panel(), kBatch);
    std::ranges::fill(mlp.range<float>(gradient), 0.0F);
    backward<float>(mlp, parameters, workspaces[c], {.block = gradient});
    adam_step({.learning_rate = 0.01, .weight_decay = 1e-3, .clip_norm = 1}, number,
              AdamRange<float>{mlp.range<float>(parameters), mlp.range<float>(gradient), mlp.range<float>(first),
                               mlp.range<float>(second)});
    return loss;
  }

  void run(Executor& executor, std::uint64_t steps) {
    executor.for_blocks(members.size(), 1, [&](std::size_t begin, std::size_t, int) {
      for (std::uint64_t number = 1; number <= steps; ++number) {
        step(begin, number);
      }
    });
  }

  std::vector<float> component(std::size_t c) {
    const auto range = stack.components[c].range<float>(parameters);
    return {range.begin(), range.end()};
  }

  std::vector<std::size_t> members;
  MlpStack stack;
  Block<float> parameters, gradient, first, second;
  std::vector<MlpWorkspace<float>> workspaces;
  std::vector<PanelBuffer<float>> inputs, targets;
  std::vector<float> x, y;
};

TEST(Training, AStepAllocatesNothing) {
  for (const Activation activation : {Activation::kRelu, Activation::kTanh, Activation::kSilu}) {
    Training training(activation, {0, 1});
    training.step(0, 1);  // the first dispatch looks up the processor
    const std::size_t before = num_allocations;
    training.step(0, 2);
    training.step(1, 1);
    EXPECT_EQ(num_allocations, before);
  }
  const std::size_t before = num_allocations;
  ::operator delete(::operator new(1));  // the counter counts; a new-expression might be left out by the compiler
  EXPECT_EQ(num_allocations, before + 1);
}

TEST(Training, LossFalls) {
  Training training(Activation::kRelu, {0});
  const double first = training.step(0, 1);
  double last = first;
  for (std::uint64_t number = 2; number <= 500; ++number) {
    last = training.step(0, number);
  }
  EXPECT_LT(last, first - 0.2);
}

TEST(Training, SameBitsOnEveryRunAndAnyNumberOfThreads) {
  ThreadPool one(1);
  ThreadPool three(3);
  Training a(Activation::kSilu, {0, 1, 2});
  Training b(Activation::kSilu, {0, 1, 2});
  a.run(one, 30);
  b.run(three, 30);
  EXPECT_EQ(a.parameters, b.parameters);
}

TEST(Training, AComponentIsTheSameAloneAndAmongOthers) {
  ThreadPool pool(1);
  Training together(Activation::kRelu, {0, 1, 2});
  Training alone(Activation::kRelu, {2});
  together.run(pool, 30);
  alone.run(pool, 30);
  EXPECT_EQ(together.component(2), alone.component(0));
  EXPECT_NE(together.component(1), alone.component(0));
}

}  // namespace
}  // namespace dissent
