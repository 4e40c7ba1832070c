// The best K of a stream, against sorting all of it.
#include "dissent/base/top_rows.hpp"

#include <gtest/gtest.h>

#include "dissent/base/random.hpp"

namespace dissent {
namespace {

struct Larger {
  bool operator()(int a, int b) const { return a > b; }
};

TEST(TopRows, AreThoseOfASort) {
  Stream stream(1, Purpose::kTest);
  std::vector<int> rows(500);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k] = static_cast<int>(k);
  }
  stream.shuffle(std::span(rows));
  for (const std::size_t capacity : {0UL, 1UL, 7UL, 499UL, 500UL, 900UL}) {
    TopRows<int, Larger> top(capacity);
    std::vector<int> kept(capacity, -1);
    for (const int row : rows) {
      const std::size_t slot = top.offer(row);
      if (slot != top.kNone) {
        kept.at(slot) = row;
      }
    }
    const auto sorted = top.sorted();
    ASSERT_EQ(sorted.size(), std::min<std::size_t>(capacity, 500));
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      EXPECT_EQ(sorted[k].row, 499 - static_cast<int>(k));
      EXPECT_EQ(kept[sorted[k].slot], sorted[k].row);  // a slot holds what was put there last
    }
  }
}

}  // namespace
}  // namespace dissent
