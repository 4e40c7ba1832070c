// Rows chosen on a card against those that the host chooses among the same arrays; and what the choice is made of: the
// divergences against the closed forms, their information against the processor's vectors, and copies of rows.
#include "dissent/device/score_pool.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/card.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/joint_kernel.hpp"
#include "dissent/base/random.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/device.hpp"
#include "dissent/device/device_error.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "support/choices.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::choose_on_host;

struct Shape {
  std::size_t num_inputs, num_components, num_outputs;
  double apart = 0.3;  // how far components lie from each other, in standard deviations
};

// Groups of 1 to 32 lanes, one input and many, broken warps and blocks.
constexpr Shape kShapes[] = {{1, 2, 1},    {31, 5, 11},   {33, 8, 1},     {5000, 2, 1},
                             {33, 5, 257}, {5000, 5, 11}, {400, 20, 257}, {5000, 20, 3}};
const char* const kDivergences[] = {"kl",           "jeffreys",  "bhattacharyya", "chernoff:0.3",
                                    "chernoff:0.8", "renyi:0.5", "hellinger",     "wasserstein"};

// With a third component and weights, the second has none.
template <class T>
Mixture<T> drawn(const Shape& shape, bool weighted, std::uint64_t seed = 1) {
  Mixture<T> mixture = Mixture<T>::diagonal(shape.num_inputs, shape.num_components, shape.num_outputs);
  Stream stream(seed, Purpose::kTest, 0);
  for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
    mixture.mean[k] = static_cast<T>(shape.apart * stream.normal());
    mixture.stddev[k] = static_cast<T>(std::exp(0.3 * stream.normal()));
  }
  std::vector<double> weights(weighted && shape.num_components > 2 ? shape.num_components : 0);
  for (std::size_t m = 0; m < weights.size(); ++m) {
    weights[m] = m == 1 ? 0 : 0.1 + static_cast<double>(m % 4);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::ranges::for_each(weights, [sum](double& w) { w /= sum; });
  mixture.weights = Weights::from(weights, shape.num_components);
  return mixture;
}

template <class T>
Mixture<double> as_doubles(const Mixture<T>& mixture) {
  Mixture<double> copy = Mixture<double>::diagonal(mixture.num_inputs, mixture.num_components, mixture.num_outputs);
  std::ranges::copy(mixture.mean, copy.mean.begin());
  std::ranges::copy(mixture.stddev, copy.stddev.begin());
  copy.weights = mixture.weights;
  return copy;
}

// A mixture's arrays on the current card.
template <class T>
class Uploaded {
 public:
  explicit Uploaded(const Mixture<T>& mixture)
      : mixture_(mixture), mean_(mixture.mean.size()), stddev_(mixture.stddev.size()) {
    const std::size_t bytes = mixture.mean.size() * sizeof(T);
    DISSENT_CUDA(cudaMemcpy(mean_.data(), mixture.mean.data(), bytes, cudaMemcpyHostToDevice));
    DISSENT_CUDA(cudaMemcpy(stddev_.data(), mixture.stddev.data(), bytes, cudaMemcpyHostToDevice));
    DISSENT_CUDA(cudaDeviceSynchronize());  // the last part of a copy may still be under way, and no queue waits for it
  }

  MixtureView<T> view() const {
    MixtureView<T> view = mixture_.view();
    view.mean = mean_.data();
    view.stddev = stddev_.data();
    return view;
  }

 private:
  const Mixture<T>& mixture_;
  DeviceBuffer<T> mean_;
  DeviceBuffer<T> stddev_;
};

// Whether both chose the same rows. If not, the first that differ must be worth the same to rounding; what follows
// depends on them.
bool agree(const Choice& found, const Choice& expected) {
  if (found.rows.size() != expected.rows.size()) {
    ADD_FAILURE() << found.rows.size() << " rows instead of " << expected.rows.size();
    return false;
  }
  for (std::size_t k = 0; k < expected.rows.size(); ++k) {
    const double tolerance = 4e-6 * std::max(1.0, std::abs(expected.scores[k])) * static_cast<double>(k + 1);
    EXPECT_NEAR(found.scores[k], expected.scores[k], tolerance) << "pick " << k;
    if (found.rows[k] != expected.rows[k]) {
      return false;
    }
    EXPECT_NEAR(found.epistemic[k], expected.epistemic[k], 1e-5);
  }
  return true;
}

class PoolOnCard : public test::OnCard {
 protected:
  template <class T>
  std::unique_ptr<PoolOnDevice> pool_of(const MixtureView<T>& view) {
    return device_->scores().pool_there(view);
  }

  template <class T>
  Choice there(const std::string& name, const MixtureView<T>& view, std::size_t batch,
               Ranking ranking = Ranking::kDeficit) {
    return test::choose_on_device(name, *pool_of(view), batch, ranking);
  }

  template <class T>
  void check_choices() {
    std::map<std::pair<std::string, Ranking>, std::vector<bool>> equal;
    for (const Shape& shape : kShapes) {
      for (const bool weighted : {false, true}) {
        const Mixture<T> mixture = drawn<T>(shape, weighted);
        const Mixture<double> doubles = as_doubles(mixture);
        const Uploaded<T> uploaded(mixture);
        const std::size_t batch = std::min<std::size_t>(shape.num_inputs, 12);
        for (const char* name : test::kMethodsThere) {
          for (const Ranking ranking : {Ranking::kDeficit, Ranking::kValue}) {
            SCOPED_TRACE(fmt::format("{} by {} of {} x {} x {}, {} bytes, weighted {}", name, ranking_name(ranking),
                                     shape.num_inputs, shape.num_components, shape.num_outputs, sizeof(T), weighted));
            equal[{name, ranking}].push_back(
                agree(there(name, uploaded.view(), batch, ranking), choose_on_host(name, doubles, batch, ranking)));
          }
        }
      }
    }
    for (const auto& [how, found] : equal) {
      const auto most = static_cast<std::ptrdiff_t>(found.size());
      // Where values have saturated, chance decides among many.
      EXPECT_GE(std::ranges::count(found, true), how.second == Ranking::kDeficit ? most - 1 : most * 3 / 4)
          << how.first << " by " << ranking_name(how.second);
    }
  }

  template <class T>
  void check_candidates(const Shape& shape) {
    const Mixture<T> mixture = drawn<T>(shape, true);
    const Uploaded<T> uploaded(mixture);
    const std::unique_ptr<PoolOnDevice> pool = pool_of(uploaded.view());
    const JointPairs pairs(mixture.weights);
    for (const char* name : kDivergences) {
      const Divergence kind = parse_divergence(name);
      const std::unique_ptr<JointCandidates> candidates = pool->compare(kind);
      ASSERT_EQ(candidates->epistemic().size(), shape.num_inputs);
      PanelBuffer<float> panel(pairs.pairs.size(), shape.num_inputs);
      for (std::size_t n = 0; n < shape.num_inputs; ++n) {
        InputComponents components;
        components.load(mixture.view(), n, n);
        const std::span<const float> found = candidates->divergences(n);
        ASSERT_EQ(found.size(), pairs.pairs.size());
        for (std::size_t k = 0; k < found.size(); ++k) {
          const double expected = divergence(kind, components.diagonal_component(pairs.pairs[k].i),
                                             components.diagonal_component(pairs.pairs[k].j));
          ASSERT_NEAR(found[k], expected, 2e-7 * expected) << name << ", row " << n << ", pair " << k;
          panel.panel()(k, n) = found[k];
        }
      }
      for (const double size : {0.0, 1e-6, 1.0, 12.0, 40.0, 1e4}) {
        check_information(*candidates, pairs, panel.panel(), size);
      }
    }
  }

  static void check_information(JointCandidates& candidates, const JointPairs& pairs, Panel<const float> divergence,
                                double size) {
    const std::size_t num_rows = candidates.epistemic().size();
    RunningSums sums(pairs);
    Stream stream(2, Purpose::kTest);
    for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
      sums.add(k, size * (1 + stream.uniform()));
    }
    sums.update();
    AlignedVector<float> expected(padded_batch(num_rows));
    joint_information(pairs, divergence, sums, num_rows, expected.data());
    const std::span<const float> found = candidates.information(sums);
    ASSERT_EQ(found.size(), num_rows);
    for (std::size_t n = 0; n < num_rows; ++n) {
      const float scale = std::abs(expected[n]) + (sums.taken_off > 0 ? 1.0F : 0.0F);
      ASSERT_NEAR(found[n], expected[n], 4e-6F * scale) << "sums of " << size << ", row " << n;
    }
  }
};

TEST_F(PoolOnCard, ChoosesAmongFloatsAsTheHostDoes) { check_choices<float>(); }

TEST_F(PoolOnCard, ChoosesAmongDoublesAsTheHostDoes) { check_choices<double>(); }

TEST_F(PoolOnCard, ComparesAsTheProcessorDoes) {
  for (const Shape& shape : {Shape{1, 2, 1}, Shape{33, 8, 1}, Shape{300, 5, 11}, Shape{31, 5, 257}, Shape{7, 21, 40},
                             Shape{3, 140, 9}, Shape{40, 4, 12, 1e-4}, Shape{40, 4, 12, 1e3}}) {
    SCOPED_TRACE(fmt::format("{} x {} x {}", shape.num_inputs, shape.num_components, shape.num_outputs));
    check_candidates<float>(shape);
    check_candidates<double>(shape);
  }
}

TEST_F(PoolOnCard, GoesOnBeyondSaturationAsTheHostDoes) {
  for (const bool weighted : {false, true}) {
    const Mixture<float> mixture = drawn<float>({2500, 5, 60, 3}, weighted);
    const Uploaded<float> uploaded(mixture);
    for (const char* name : {"kl-joint", "bhattacharyya-joint"}) {
      const Choice expected = choose_on_host(name, as_doubles(mixture), 60);
      EXPECT_EQ(there(name, uploaded.view(), 60).rows, expected.rows) << name;
    }
  }
}

TEST_F(PoolOnCard, TakesEveryRowThereIs) {
  const Mixture<double> mixture = drawn<double>({40, 4, 2}, false);
  const Uploaded<double> uploaded(mixture);
  for (const char* name : {"kl", "kl-joint"}) {
    std::vector<std::size_t> rows = there(name, uploaded.view(), 40).rows;
    std::ranges::sort(rows);
    for (std::size_t n = 0; n < 40; ++n) {
      EXPECT_EQ(rows[n], n) << name;
    }
  }
}

TEST_F(PoolOnCard, TiesAreBrokenAsOnTheHost) {
  const Mixture<float> one = drawn<float>({1, 3, 4}, false);
  Mixture<float> mixture = Mixture<float>::diagonal(500, 3, 4);
  for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
    mixture.mean[k] = one.mean[k % 12];
    mixture.stddev[k] = one.stddev[k % 12];
  }
  mixture.weights = Weights::uniform(3);
  const Uploaded<float> uploaded(mixture);
  for (const char* name : {"kl", "bhattacharyya-joint"}) {
    EXPECT_EQ(there(name, uploaded.view(), 20).rows, choose_on_host(name, as_doubles(mixture), 20).rows);
  }
}

TEST_F(PoolOnCard, CopiesTheRowsThatAreAskedFor) {
  const Mixture<float> mixture = drawn<float>({700, 5, 11}, true);
  const Uploaded<float> uploaded(mixture);
  const std::unique_ptr<PoolOnDevice> pool = pool_of(uploaded.view());
  const std::vector<std::size_t> asked{699, 0, 31, 31, 500};
  const std::vector<std::size_t> outputs{0, 3, 10};
  const Mixture<double> rows = pool->rows(asked, outputs);
  EXPECT_EQ(rows.weights.value, mixture.weights.value);
  ASSERT_EQ(rows.num_inputs, asked.size());
  ASSERT_EQ(rows.num_outputs, outputs.size());
  for (std::size_t k = 0; k < rows.mean.size(); ++k) {
    const std::size_t from = asked[k / 15] * 55 + k % 15 / 3 * 11 + outputs[k % 3];
    ASSERT_EQ(rows.mean[k], mixture.mean[from]);
    ASSERT_EQ(rows.stddev[k], mixture.stddev[from]);
  }
  EXPECT_EQ(pool->rows({}, outputs).num_inputs, 0U);
}

TEST_F(PoolOnCard, BadValuesAreNamedAsOnTheHost) {
  for (const Shape& shape : {Shape{40, 5, 257}, Shape{40, 5, 11}, Shape{5, 20, 30}}) {
    for (const double bad : {std::nan(""), 0.0, -1.0, std::numeric_limits<double>::infinity()}) {
      for (const bool in_mean : {false, true}) {
        if (in_mean && std::isfinite(bad)) {
          continue;
        }
        Mixture<double> mixture = drawn<double>(shape, false);
        (in_mean ? mixture.mean : mixture.stddev)[mixture.mean.size() - 2 * shape.num_outputs] = bad;
        const Uploaded<double> uploaded(mixture);
        const std::string expected = message_of<InputError>([&] { given_ensemble(mixture.view()); });
        for (const char* name : {"kl", "bhattacharyya-joint"}) {
          EXPECT_EQ(message_of<InputError>([&] { there(name, uploaded.view(), 3); }), expected);
        }
      }
    }
  }
}

TEST_F(PoolOnCard, WhatHasNoKernelIsRefused) {
  const Mixture<double> mixture = drawn<double>({20, 3, 2}, false);
  const Uploaded<double> uploaded(mixture);
  const std::unique_ptr<PoolOnDevice> pool = pool_of(uploaded.view());
  for (const char* name : {"max", "min", "renyi:2"}) {
    const std::string message = message_of<InputError>([&] { pool->compare(parse_divergence(name)); });
    EXPECT_NE(message.find("no kernel"), std::string::npos) << message;
    EXPECT_NE(message.find("host"), std::string::npos) << message;
  }
  const Mixture<float> many = drawn<float>({2, 141, 1}, false);
  const Uploaded<float> many_uploaded(many);
  EXPECT_NE(message_of<InputError>([&] { there("kl-joint", many_uploaded.view(), 1); }).find("141 components"),
            std::string::npos);
  Mixture<float> tiny = drawn<float>({20, 3, 2}, false);
  tiny.weights = Weights::from(std::vector<double>{0.5, 1e-13, 0.5}, 3);
  const Uploaded<float> tiny_uploaded(tiny);
  EXPECT_NE(message_of<InputError>([&] { there("kl-joint", tiny_uploaded.view(), 1); }).find("0 or above 1e-12"),
            std::string::npos);
}

// Weights of evidence may be as small as exp(-200).
TEST_F(PoolOnCard, TinyWeightsAreWeightsInDoublePrecision) {
  const Weights weights = Weights::from(std::vector<double>{0.5, 1e-29, 0.3, 0.2, 1e-80}, 5);
  Mixture<double> doubles = drawn<double>({300, 5, 11}, false);
  doubles.weights = weights;
  const Uploaded<double> uploaded(doubles);
  for (const char* name : {"kl", "kl-joint", "bhattacharyya-joint"}) {
    EXPECT_TRUE(agree(there(name, uploaded.view(), 12), choose_on_host(name, doubles, 12))) << name;
  }
}

TEST_F(PoolOnCard, SaysHowMuchMemoryItTakes) {
  constexpr std::size_t kComponents = 140;
  std::size_t free = 0;
  std::size_t total = 0;
  DISSENT_CUDA(cudaMemGetInfo(&free, &total));
  MixtureView<float> view{total / (kComponents * (kComponents - 1) * sizeof(float)) + 1, kComponents, 1};
  const std::size_t size = view.num_inputs * kComponents;
  DeviceBuffer<float> mean(size);
  DeviceBuffer<float> stddev(size);
  DISSENT_CUDA(cudaMemset(mean.data(), 0, size * sizeof(float)));
  DISSENT_CUDA(cudaMemset(stddev.data(), 0x3f, size * sizeof(float)));  // 0.747
  DISSENT_CUDA(cudaDeviceSynchronize());
  view.mean = mean.data();
  view.stddev = stddev.data();
  const Weights weights = Weights::uniform(kComponents);
  const std::string message = message_of<DeviceMemoryError>([&] { there("kl-joint", view.weighted(weights), 2); });
  EXPECT_NE(message.find("GB of the card's memory"), std::string::npos) << message;
  EXPECT_EQ(there("kl-joint", view.rows(0, 100).weighted(weights), 2).rows.size(), 2U);  // and goes on
}

// Memory goes back to the card it came from, whichever is current.
TEST_F(PoolOnCard, MemoryOfAnotherCardGoesBackThere) {
  int num_cards = 0;
  DISSENT_CUDA(cudaGetDeviceCount(&num_cards));
  if (num_cards < 2) {
    GTEST_SKIP() << "there is one card alone";
  }
  const auto used = [] {
    cudaMemPool_t pool = nullptr;
    DISSENT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 1));
    std::uint64_t bytes = 0;
    DISSENT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
    return bytes;
  };
  const std::uint64_t before = used();
  {
    PooledBuffer<float> there;
    const CurrentCard other(1);
    there.reserve(1 << 20);
    EXPECT_GT(used(), before);
    DISSENT_CUDA(cudaSetDevice(0));
    there.release();
  }
  const CurrentCard other(1);
  DISSENT_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQ(used(), before);
}

TEST_F(PoolOnCard, ThreadsChooseAtTheSameTime) {
  const Mixture<float> few = drawn<float>({300, 5, 11}, false);
  const Mixture<double> many = drawn<double>({900, 12, 40}, true);
  const Uploaded<float> few_uploaded(few);
  const Uploaded<double> many_uploaded(many);
  const Choice of_few = there("kl-joint", few_uploaded.view(), 20);
  const Choice of_many = there("bhattacharyya-joint", many_uploaded.view(), 20);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        const Choice found = k % 2 == 0 ? there("kl-joint", few_uploaded.view(), 20)
                                        : there("bhattacharyya-joint", many_uploaded.view(), 20);
        EXPECT_EQ(found.rows, (k % 2 == 0 ? of_few : of_many).rows);
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
}

}  // namespace
}  // namespace dissent
