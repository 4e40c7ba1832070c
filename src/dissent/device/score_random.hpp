// The normal variates of a Stream (base/random.hpp), each directly accessible: Philox4x64-10 of Random123 (Salmon et
// al. 2011), four words per counter, and Box-Muller, two variates from two words.
#pragma once

#include <cstdint>

#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct PhiloxKey {
  std::uint64_t seed, purpose;
};

struct FourWords {
  std::uint64_t word[4];
};

DISSENT_BOTH std::uint64_t upper_product(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using uint128 = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<uint128>(a) * b >> 64);
#endif
}

DISSENT_BOTH FourWords philox(FourWords counter, PhiloxKey key) {
  constexpr std::uint64_t kFirst = 0xD2E7470EE14C6C93;
  constexpr std::uint64_t kSecond = 0xCA5A826395121157;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t* c = counter.word;
    counter = {{upper_product(kSecond, c[2]) ^ c[1] ^ key.seed, kSecond * c[2],
                upper_product(kFirst, c[0]) ^ c[3] ^ key.purpose, kFirst * c[0]}};
    key.seed += 0x9E3779B97F4A7C15;
    key.purpose += 0xBB67AE8584CAA73B;
  }
  return counter;
}

DISSENT_BOTH double uniform(std::uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }

struct FourNormals {
  double value[4];

  // Variates 4 block to 4 block + 3 of substream `sub` of stream `index`.
  static DISSENT_BOTH FourNormals of(PhiloxKey key, std::uint64_t index, std::uint64_t sub, std::uint64_t block) {
    const FourWords words = philox({{block, index, sub + 1, 0}}, key);
    FourNormals normals;
    normals.set_pair(0, words.word[0], words.word[1]);
    normals.set_pair(2, words.word[2], words.word[3]);
    return normals;
  }

 private:
  DISSENT_BOTH void set_pair(int at, std::uint64_t first, std::uint64_t second) {
    const double radius = sqrt(-2.0 * log(uniform(first)));
    const double angle = 2.0 * 3.14159265358979323846 * uniform(second);
    double sine = 0;
    double cosine = 0;
#if defined(__CUDA_ARCH__)
    sincos(angle, &sine, &cosine);
#else
    sine = std::sin(angle);
    cosine = std::cos(angle);
#endif
    value[at] = radius * cosine;
    value[at + 1] = radius * sine;
  }
};

// Mean and sum of squared deviations of some terms; two sets of terms can be merged (Chan et al. 1983).
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;

  DISSENT_BOTH void add(double term) {
    count += 1;
    const double delta = term - mean;
    mean += delta / count;
    squares += delta * (term - mean);
  }
  DISSENT_BOTH void merge(const Moments& other) {
    const double total = count + other.count;
    if (other.count > 0) {
      const double delta = other.mean - mean;
      mean += delta * (other.count / total);
      squares += other.squares + delta * delta * (count * other.count / total);
      count = total;
    }
  }
};

}  // namespace dissent::score
