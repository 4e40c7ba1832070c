// The total order of scored rows: larger score first, then larger `second`, then the row's own draw from the random
// stream. Also greedy picks in that order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/random.hpp"

namespace dissent {

// Substreams of a task's stream: below 2^62, a row's number, for ties; above, all other draws.
inline constexpr std::uint64_t kTargetDraw = std::uint64_t{1} << 62;  // + row: the target sampled for a row
inline constexpr std::uint64_t kNoiseDraw = std::uint64_t{1} << 63;   // + component: noise of Monte Carlo samples
inline constexpr std::uint64_t kMethodDraw = ~std::uint64_t{1};       // a method's own draws
inline constexpr std::uint64_t kCandidateDraw = ~std::uint64_t{2};
inline constexpr std::uint64_t kShareDraw = ~std::uint64_t{3};  // how few samples are shared among components

inline std::uint64_t tie_key(const Stream& stream, std::size_t row) { return stream.substream(row).bits(); }

struct Ranked {
  double score = 0;
  double second = 0;
  std::size_t row = 0;
};

// Ranks a row by its estimate or that estimate's log deficit. `second` is the estimate. When ranking by value, both are
// in single precision, so rows next to H(w) tie.
inline Ranked ranked_by(Ranking ranking, double epistemic, double log_deficit) {
  const double value = static_cast<float>(epistemic);
  return ranking == Ranking::kValue ? Ranked{.score = value, .second = value}
                                    : Ranked{.score = -log_deficit, .second = epistemic};
}

// Whether a goes before b. Draws are made only on a tie.
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

// If there are more outputs, this many are drawn where each costs time: they have much in common.
inline constexpr std::size_t kMostOutputs = 48;

// `count` of the numbers below `of` (all if there are no more), uniform and ascending.
inline std::vector<std::size_t> draw_numbers(std::size_t of, std::size_t count, Stream& draw) {
  std::vector<std::size_t> numbers(of);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  for (std::size_t k = 0; k < std::min(of, count); ++k) {
    std::swap(numbers[k], numbers[k + draw.below(of - k)]);
  }
  numbers.resize(std::min(of, count));
  std::ranges::sort(numbers);
  return numbers;
}

// How many candidates greedy choice looks at after its first picks. With many picks a longer list would take much
// memory.
inline std::size_t short_list_length(std::size_t batch) {
  constexpr std::size_t kShort = 1000;
  constexpr std::size_t kPerPick = 20;
  return std::max({kShort, 2 * batch, std::min(2 * kShort, kPerPick * batch)});
}

// The best of `rows` by score(row), as many as the short list holds; ascending.
template <class Score>
std::vector<std::size_t> short_list(const Stream& stream, std::size_t batch, std::vector<std::size_t> rows,
                                    const Score& score) {
  const std::size_t length = std::min(rows.size(), short_list_length(batch));
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(length);
  std::ranges::nth_element(rows, end, [&](std::size_t a, std::size_t b) {
    return goes_before(stream, {.score = score(a), .row = a}, {.score = score(b), .row = b});
  });
  rows.erase(end, rows.end());
  std::ranges::sort(rows);
  return rows;
}

// Takes rows one at a time, each once. `utilities` (AcquisitionTask's) gets a row of values for each pick.
class GreedyPicks {
 public:
  GreedyPicks(const Stream& stream, std::size_t num_rows, std::vector<double>* utilities = nullptr)
      : stream_(stream), taken_(num_rows, 0), utilities_(utilities) {}

  // Takes the best row left; there must be one. rank(n) gives the row's score and second, utility(ranked) what to note.
  template <class Rank, class Utility>
  Ranked take_best(const Rank& rank, const Utility& utility) {
    Ranked best{.row = taken_.size()};
    for (std::size_t n = 0; n < taken_.size(); ++n) {
      if (taken_[n] != 0) {
        note(std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      Ranked row = rank(n);
      row.row = n;
      note(utility(row));
      if (best.row == taken_.size() || goes_before(stream_, row, best)) {
        best = row;
      }
    }
    taken_[best.row] = 1;
    return best;
  }

  template <class Rank>
  Ranked take_best(const Rank& rank) {
    return take_best(rank, [](const Ranked& row) { return row.score; });
  }

 private:
  void note(double utility) {
    if (utilities_ != nullptr) {
      utilities_->push_back(utility);
    }
  }

  Stream stream_;
  std::vector<char> taken_;
  std::vector<double>* utilities_;
};

// goes_before() as an object, for TopRows.
struct GoesBefore {
  Stream stream;
  bool operator()(const Ranked& a, const Ranked& b) const { return goes_before(stream, a, b); }
};

}  // namespace dissent
