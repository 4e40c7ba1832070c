// Random streams. The statistical tests have fixed seeds, so they pass or fail for good; their stated false-alarm rate
// is the chance that a perfect generator would have failed with the seed that was picked.
#include "dissent/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> first_words(Stream stream, int count = 8) {
  std::vector<std::uint64_t> words(count);
  for (std::uint64_t& word : words) {
    word = stream.bits();
  }
  return words;
}

double chi_square_tail(const std::vector<double>& observed, double expected) {
  double statistic = 0;
  for (const double count : observed) {
    statistic += (count - expected) * (count - expected) / expected;
  }
  const boost::math::chi_squared distribution(static_cast<double>(observed.size() - 1));
  return boost::math::cdf(boost::math::complement(distribution, statistic));
}

// Philox4x64-10 as its authors publish it: key and counter all zero; a stream has them there under purpose 0.
TEST(Stream, GivesThePublishedWordsOfPhilox) {
  const std::vector<std::uint64_t> expected = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                               0x7e68b68aec7ba23b};
  EXPECT_EQ(first_words(Stream(0, Purpose{0}), 4), expected);
}

// The same function written out anew: ten rounds of two 64 x 64 bit products, the key stepped by Weyl constants.
std::array<std::uint64_t, 4> plain_philox(std::array<std::uint64_t, 4> x, std::uint64_t key0, std::uint64_t key1) {
  __extension__ using uint128 = unsigned __int128;
  for (int round = 0; round < 10; ++round) {
    const uint128 a = static_cast<uint128>(0xD2E7470EE14C6C93) * x[0];
    const uint128 b = static_cast<uint128>(0xCA5A826395121157) * x[2];
    x = {static_cast<std::uint64_t>(b >> 64) ^ x[1] ^ key0, static_cast<std::uint64_t>(b),
         static_cast<std::uint64_t>(a >> 64) ^ x[3] ^ key1, static_cast<std::uint64_t>(a)};
    key0 += 0x9E3779B97F4A7C15;
    key1 += 0xBB67AE8584CAA73B;
  }
  return x;
}

// Saved results rest on this layout: counter (block, index, sub-item + 1 or 0, 0) under key (seed, purpose).
TEST(Stream, NamesAreLaidOutAsPromised) {
  const auto seed = std::uint64_t{0x0123456789abcdef};
  for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{77}, kMost}) {
    const Stream stream(seed, Purpose::kBootstrap, index);
    const std::vector<std::uint64_t> words = first_words(stream, 12);
    const std::vector<std::uint64_t> sub_words = first_words(stream.substream(41), 12);
    for (std::uint64_t block = 0; block < 3; ++block) {
      const std::array<std::uint64_t, 4> expected = plain_philox({block, index, 0, 0}, seed, 6);
      const std::array<std::uint64_t, 4> sub_expected = plain_philox({block, index, 42, 0}, seed, 6);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), words.begin() + 4 * block));
      EXPECT_TRUE(std::equal(sub_expected.begin(), sub_expected.end(), sub_words.begin() + 4 * block));
    }
  }
}

TEST(Stream, DependsOnItsNameAlone) {
  Stream first(9, Purpose::kTest, 4);
  Stream other(9, Purpose::kTest, 5);
  std::vector<std::uint64_t> interleaved;
  for (int k = 0; k < 8; ++k) {
    interleaved.push_back(first.bits());
    other.bits();
  }
  EXPECT_EQ(interleaved, first_words(Stream(9, Purpose::kTest, 4)));
}

TEST(Stream, DifferentNamesShareNoWord) {
  std::set<std::uint64_t> words;
  std::size_t drawn = 0;
  const auto add = [&](const Stream& stream) {
    for (const std::uint64_t word : first_words(stream)) {
      words.insert(word);
      ++drawn;
    }
  };
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, kMost}) {
    for (const Purpose purpose : {Purpose::kTest, Purpose::kMonteCarlo, Purpose::kMask}) {
      for (std::uint64_t index = 0; index < 20; ++index) {
        const Stream stream(seed, purpose, index);
        add(stream);
        for (std::uint64_t sub = 0; sub < 5; ++sub) {
          add(stream.substream(sub));
        }
      }
    }
  }
  EXPECT_EQ(words.size(), drawn);  // false alarm: 12k words out of 2^64, below 1e-11
}

TEST(Stream, SubstreamsStartAfreshWhateverTheParentsPosition) {
  Stream parent(3, Purpose::kSample, 8);
  const std::vector<std::uint64_t> before = first_words(parent.substream(2));
  parent.bits();
  parent.normal();
  EXPECT_EQ(first_words(parent.substream(2)), before);
  EXPECT_EQ(parent.substream(2).normal(), Stream(3, Purpose::kSample, 8).substream(2).normal());
}

TEST(Stream, SubstreamsGoOneLevelDeep) {
  const Stream stream(3, Purpose::kTest);
  EXPECT_THROW(stream.substream(0).substream(1), InputError);
  EXPECT_THROW(stream.substream(kMost), InputError);
}

TEST(Stream, UniformIsUniformOnTheOpenInterval) {
  Stream stream(11, Purpose::kTest);
  constexpr int draws = 200000;
  std::vector<double> bins(100);
  for (int k = 0; k < draws; ++k) {
    const double x = stream.uniform();
    ASSERT_GT(x, 0.0);
    ASSERT_LT(x, 1.0);
    ++bins[static_cast<std::size_t>(x * 100)];
  }
  EXPECT_GT(chi_square_tail(bins, draws / 100.0), 1e-6);  // false alarm 1e-6
}

TEST(Stream, BelowIsUnbiased) {
  // 3 * 2^62 is the worst bound: a plain remainder or product would give some thirds twice the weight of others.
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{1000}, std::uint64_t{3} << 62, kMost}) {
    Stream stream(12, Purpose::kTest, bound);
    const std::uint64_t num_bins = std::min<std::uint64_t>(bound, 12);
    constexpr int draws = 120000;
    std::vector<double> bins(num_bins);
    std::vector<double> remainders(num_bins);
    const std::uint64_t whole = bound - bound % num_bins;
    int kept = 0;
    for (int k = 0; k < draws; ++k) {
      const std::uint64_t x = stream.below(bound);
      ASSERT_LT(x, bound);
      if (x < whole) {  // so that all bins are equally wide
        ++bins[x / (whole / num_bins)];
        ++remainders[x % num_bins];
        ++kept;
      }
    }
    if (num_bins > 1) {  // false alarm 1e-6 each, ten in all
      const double expected = static_cast<double>(kept) / static_cast<double>(num_bins);
      EXPECT_GT(chi_square_tail(bins, expected), 1e-6) << "bound " << bound;
      EXPECT_GT(chi_square_tail(remainders, expected), 1e-6) << "bound " << bound;
    }
  }
}

TEST(Stream, NormalHasTheMomentsOfTheNormal) {
  constexpr int draws = 400000;
  std::vector<double> x(draws);
  Stream(13, Purpose::kTest).fill_normal(x);
  std::array<double, 5> moment{};
  double product = 0;  // of neighbours, which Box-Muller makes in pairs
  for (int k = 0; k < draws; ++k) {
    for (int power = 1; power <= 4; ++power) {
      moment[power] += std::pow(x[k], power) / draws;
    }
    product += x[k] * x[(k + 1) % draws] / draws;
  }
  // Variances of x, x^2, x^3, x^4 are 1, 2, 15, 96. Five standard errors: false alarm 6e-7 each, five in all.
  const auto tolerance = [](double variance) { return 5 * std::sqrt(variance / draws); };
  EXPECT_NEAR(moment[1], 0, tolerance(1));
  EXPECT_NEAR(moment[2], 1, tolerance(2));
  EXPECT_NEAR(moment[3], 0, tolerance(15));
  EXPECT_NEAR(moment[4], 3, tolerance(96));
  EXPECT_NEAR(product, 0, tolerance(1));
}

TEST(Stream, NormalHasTheTailsOfTheNormal) {
  constexpr int draws = 400000;
  Stream stream(14, Purpose::kTest);
  std::array<double, 4> beyond{};
  for (int k = 0; k < draws; ++k) {
    const double x = stream.normal();
    for (int limit = 0; limit < 4; ++limit) {
      beyond[limit] += x > limit ? 1 : 0;
    }
  }
  for (int limit = 0; limit < 4; ++limit) {  // five standard errors: false alarm 6e-7 each
    const double p = std::erfc(limit / std::sqrt(2.0)) / 2;
    EXPECT_NEAR(beyond[limit], draws * p, 5 * std::sqrt(draws * p * (1 - p))) << "beyond " << limit;
  }
}

TEST(Stream, ShuffleGivesEveryPermutationEquallyOften) {
  Stream stream(15, Purpose::kTest);
  constexpr int draws = 48000;
  std::vector<double> count(256);
  for (int k = 0; k < draws; ++k) {
    std::array<int, 4> items = {0, 1, 2, 3};
    stream.shuffle(std::span<int>(items));
    ++count[64 * items[0] + 16 * items[1] + 4 * items[2] + items[3]];
  }
  std::erase(count, 0.0);
  ASSERT_EQ(count.size(), 24U);
  EXPECT_GT(chi_square_tail(count, draws / 24.0), 1e-6);  // false alarm 1e-6
}

TEST(Stream, ShuffleIsAPermutation) {
  for (const int size : {0, 1, 2, 1000}) {
    std::vector<int> items(size);
    std::iota(items.begin(), items.end(), 0);
    const std::vector<int> sorted = items;
    Stream(16, Purpose::kTest).shuffle(std::span<int>(items));
    EXPECT_EQ(items == sorted, size < 2 || (size == 2 && items[0] == 0)) << "size " << size;
    std::sort(items.begin(), items.end());
    EXPECT_EQ(items, sorted);
  }
}

}  // namespace
}  // namespace dissent
