// What sums of divergences tell, as a card computes it, against the processor's vectors.
#include "dissent/device/score_information.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dissent/acquisition/joint_kernel.hpp"
#include "dissent/base/random.hpp"
#include "dissent/device/score_pool.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent::score {
namespace {

TEST(ScoreInformation, PairsAreNumberedAsTheHostNumbersThem) {
  const JointPairs pairs(Weights::from(std::vector<double>{0.4, 0, 0.3, 0.2, 1e-40, 0.1}, 6));
  const PairedComponents of = paired_components(pairs);
  EXPECT_EQ(of.count, 4);
  EXPECT_EQ(of.entropy, pairs.entropy);
  ASSERT_EQ(static_cast<std::size_t>(of.num_pairs()), pairs.pairs.size());
  for (int i = 0; i < of.count; ++i) {
    for (int j = 0; j < of.count; ++j) {
      if (i != j) {
        const JointPairs::Pair& pair = pairs.pairs[static_cast<std::size_t>(of.pair(i, j))];
        EXPECT_EQ(static_cast<std::size_t>(of.component[i]), pair.i);
        EXPECT_EQ(static_cast<std::size_t>(of.component[j]), pair.j);
        EXPECT_EQ(of.weight[j], pair.weight);
      }
    }
  }
}

TEST(ScoreInformation, EveryUnorderedPairHasANumber) {
  for (const int count : {2, 3, 4, 5, 8, 139, 140}) {
    std::vector<int> seen(static_cast<std::size_t>(count * count));
    for (int k = 0; k < count * (count - 1) / 2; ++k) {
      const UnorderedPair pair = unordered_pair(k, count);
      ASSERT_TRUE(pair.i >= 0 && pair.i < count && pair.j >= 0 && pair.j < count && pair.i != pair.j);
      ++seen[static_cast<std::size_t>(std::min(pair.i, pair.j) * count + std::max(pair.i, pair.j))];
    }
    EXPECT_EQ(std::ranges::count(seen, 1), count * (count - 1) / 2);
    EXPECT_EQ(std::ranges::max(seen), 1);
  }
}

TEST(ScoreInformation, AgreesWithTheProcessorAtEverySize) {
  constexpr std::size_t kCount = 37;
  Stream stream(1, Purpose::kTest);
  for (const Weights& weights : {Weights::uniform(2), Weights::uniform(5), Weights::uniform(20),
                                 Weights::from(std::vector<double>{0.6, 0.0, 0.3, 0.1}, 4),
                                 Weights::from(std::vector<double>{0.6, 0.4 - 1e-9, 1e-9}, 3)}) {
    const JointPairs pairs(weights);
    const PairedComponents of = paired_components(pairs);
    for (double size = 1e-9; size < 1e37; size *= 10) {
      PanelBuffer<float> divergence(pairs.pairs.size(), kCount);
      RunningSums running(pairs);
      for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
        running.add(k, size * stream.uniform());
        for (std::size_t n = 0; n < kCount; ++n) {
          // Some rows far, some near, and one that tells nothing.
          const double factor = n == 5 ? 0 : n % 3 == 0 ? 20 : 1;
          divergence.panel()(k, n) = static_cast<float>(std::min(size * factor * stream.uniform(), kLargestDivergence));
        }
      }
      running.update();
      AlignedVector<float> expected(padded_batch(kCount));
      joint_information(pairs, divergence.panel(), running, kCount, expected.data());
      for (std::size_t n = 0; n < kCount; ++n) {
        const auto sum = [&](int k) {
          return divergence.panel()(static_cast<std::size_t>(k), n) + running.running[static_cast<std::size_t>(k)];
        };
        const float found = information(of, sum, running.taken_off > 0);
        const float scale = std::abs(expected[n]) + (running.taken_off > 0 ? 1.0F : 0.0F);
        EXPECT_NEAR(found, expected[n], 4e-6F * scale) << size << ", row " << n;
      }
    }
  }
}

// Alone, so that sums are the divergences; equal components tell nothing, exactly.
TEST(ScoreInformation, NothingIsNothing) {
  const PairedComponents of = paired_components(JointPairs(Weights::uniform(5)));
  EXPECT_EQ(information(
                of, [](int) { return 0.0F; }, false),
            0.0F);
}

}  // namespace
}  // namespace dissent::score
