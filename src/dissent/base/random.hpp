// Counter-based random streams: Philox4x64-10 of Random123 (Salmon et al. 2011).
//
// A stream is named by (seed, purpose, index) and by nothing else: no global state, no order of creation. Draw number k
// of a stream is a pure function of (seed, purpose, index, k), so work can be split over threads, ranks or devices in
// any way and gives the same numbers. Give each purpose its own enumerator (values are part of saved results: never
// renumber) and each independent item (input, component, row, round) its own index.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {

enum class Purpose : std::uint64_t {
  kTest = 1,        // tests and benchmarks
  kMonteCarlo = 2,  // samples of the Monte Carlo estimators
  kSample = 3,      // samples drawn for the user
  kInitialise = 4,  // initial network weights
  kMask = 5,        // fixed dropout masks
  kBootstrap = 6,   // bootstrap resampling
  kShuffle = 7,     // order of rows in an epoch
  kSplit = 8,       // splits into training, validation and test
  kPermute = 9,     // permutations inside flows
  kAcquire = 10,    // candidate subsets and tie breaking
  kProblem = 11,    // data of built-in problems
  kPolicy = 12,     // actions and perturbations of policies
  kExample = 13,    // shipped examples
  kRound = 14,      // seeds of the fits of a campaign
  kSearch = 20,     // rows and starts of searches for hyperparameters
  kPath = 21,       // functions drawn from Gaussian processes
  kResample = 22,   // draws of statistical tests and intervals
};

class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, std::uint64_t index = 0)
      : key_{{seed, static_cast<std::uint64_t>(purpose)}}, index_(index) {}

  // A stream for sub-item `sub` < 2^64 - 1 of this one, from its beginning: independent of this stream, of its position
  // and of every other substream. One level only, since the counter has one word for it: a substream has no substreams.
  Stream substream(std::uint64_t sub) const {
    check(sub_ == 0, "Stream::substream: sub = {} asked of substream {}; only a stream has substreams", sub, sub_ - 1);
    check(sub + 1 != 0, "Stream::substream: sub = {} is out of range; it must be less than 2^64 - 1", sub);
    Stream child = *this;
    child.sub_ = sub + 1;
    child.block_ = 0;
    child.used_ = 4;
    child.has_spare_ = false;
    return child;
  }

  std::uint64_t bits() {
    if (used_ == 4) {
      refill();
    }
    return words_[used_++];
  }

  // Uniform on the open interval (0, 1): 52 random bits, centred, so neither end occurs and log() is always finite.
  double uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

  // Uniform on {0, ..., bound - 1} without bias (Lemire's multiplication with rejection). bound must be > 0.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using uint128 = unsigned __int128;
    uint128 product = static_cast<uint128>(bits()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) {
        product = static_cast<uint128>(bits()) * bound;
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // Standard normal by Box-Muller; draws come in pairs, the second is kept for the next call.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

  void fill_normal(std::span<double> out) {
    for (double& x : out) {
      x = normal();
    }
  }

  // Fisher-Yates. The permutation depends only on the stream's position.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t k = items.size(); k > 1; --k) {
      std::swap(items[k - 1], items[below(k)]);
    }
  }

 private:
  void refill() {
    const r123::Philox4x64::ctr_type counter{{block_++, index_, sub_, 0}};
    const r123::Philox4x64::ctr_type block = r123::Philox4x64()(counter, key_);
    for (int k = 0; k < 4; ++k) {
      words_[k] = block[k];
    }
    used_ = 0;
  }

  r123::Philox4x64::key_type key_;
  std::uint64_t index_;
  std::uint64_t sub_ = 0;
  std::uint64_t block_ = 0;
  std::array<std::uint64_t, 4> words_{};
  int used_ = 4;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace dissent
