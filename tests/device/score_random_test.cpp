// The draws of the sampling kernel are those of a Stream, and its moments those of a plain pass.
#include "dissent/device/score_random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dissent/base/random.hpp"

namespace dissent::score {
namespace {

TEST(ScoreRandom, DrawsWhatAStreamDraws) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{12345}, ~std::uint64_t{0}}) {
    for (const std::uint64_t sub : {0, 3}) {
      Stream stream = Stream(seed, Purpose::kMonteCarlo, 77).substream(sub);
      const PhiloxKey key{seed, static_cast<std::uint64_t>(Purpose::kMonteCarlo)};
      for (std::uint64_t block = 0; block < 50; ++block) {
        for (const double normal : FourNormals::of(key, 77, sub, block).value) {
          EXPECT_DOUBLE_EQ(normal, stream.normal());
        }
      }
    }
  }
}

TEST(ScoreRandom, MomentsMerge) {
  const std::vector<double> terms{3, 1, 4, 1, 5, 9, 2, 6, 5};
  Moments whole;
  Moments parts[3];
  for (std::size_t k = 0; k < terms.size(); ++k) {
    whole.add(terms[k]);
    parts[k < 2 ? 0 : 1].add(terms[k]);
  }
  parts[2].merge(parts[0]);  // the last has none of its own
  parts[2].merge(parts[1]);
  EXPECT_EQ(parts[2].count, 9);
  EXPECT_DOUBLE_EQ(parts[2].mean, 4);
  EXPECT_DOUBLE_EQ(parts[2].squares, 54);
  EXPECT_DOUBLE_EQ(whole.squares, 54);
}

}  // namespace
}  // namespace dissent::score
