// The best B of a stream of scored rows, in a total order: larger score first, then larger `second`, then the row's own
// draw from the random stream. The order rows come in does not matter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dissent/base/random.hpp"

namespace dissent {

// Substreams of a task's stream: row numbers from 0 up for ties, and from the top down for what else a method draws.
inline constexpr std::uint64_t kMonteCarloDraw = ~std::uint64_t{1};
inline constexpr std::uint64_t kCandidateDraw = ~std::uint64_t{2};

inline std::uint64_t tie_key(const Stream& stream, std::size_t row) { return stream.substream(row).bits(); }

struct Ranked {
  double score = 0;
  double second = 0;
  std::size_t row = 0;
};

// Whether a goes before b. Draws are made on a tie alone.
inline bool goes_before(const Stream& stream, const Ranked& a, const Ranked& b) {
  if (a.score != b.score) {
    return a.score > b.score;
  }
  if (a.second != b.second) {
    return a.second > b.second;
  }
  const std::uint64_t key_a = tie_key(stream, a.row);
  const std::uint64_t key_b = tie_key(stream, b.row);
  return key_a != key_b ? key_a > key_b : a.row < b.row;
}

// Finds the best row for methods that choose one at a time.
class BestRow {
 public:
  explicit BestRow(const Stream& stream) : stream_(stream) {}

  void offer(const Ranked& row) {
    if (!best_ || goes_before(stream_, row, *best_)) {
      best_ = row;
    }
  }
  const Ranked& best() const { return *best_; }

 private:
  Stream stream_;
  std::optional<Ranked> best_;
};

// Keeps the best `capacity` of what is offered, each with a slot below `capacity` for what the caller keeps of it.
class TopRows {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Entry {
    Ranked row;
    std::size_t slot;
  };

  TopRows(const Stream& stream, std::size_t capacity) : stream_(stream), capacity_(capacity) {}

  // The slot of the row, or kNone when it is not among the best: cheap for the many that are not.
  std::size_t offer(const Ranked& row) {
    const Before before{stream_};
    std::size_t slot = heap_.size();
    if (heap_.size() == capacity_) {
      if (capacity_ == 0 || !goes_before(stream_, row, heap_.front().row)) {
        return kNone;
      }
      std::ranges::pop_heap(heap_, before);
      slot = heap_.back().slot;
      heap_.pop_back();
    }
    heap_.push_back({row, slot});
    std::ranges::push_heap(heap_, before);  // the worst is at the front
    return slot;
  }

  // Best first.
  std::vector<Entry> sorted() const {
    std::vector<Entry> entries = heap_;
    std::ranges::sort(entries, Before{stream_});
    return entries;
  }

 private:
  struct Before {
    const Stream& stream;
    bool operator()(const Entry& a, const Entry& b) const { return goes_before(stream, a.row, b.row); }
  };

  Stream stream_;
  std::size_t capacity_;
  std::vector<Entry> heap_;
};

}  // namespace dissent
