// The best K of a stream of rows, in memory for K of them. The order in which rows arrive does not matter if `before`
// is a total order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace dissent {

// Before: before(a, b) says whether row a is better than row b.
template <class Row, class Before>
class TopRows {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // A row and its slot, below `capacity`, under which the caller may keep more about the row.
  struct Entry {
    Row row;
    std::size_t slot;
  };

  explicit TopRows(std::size_t capacity, Before before = {}) : capacity_(capacity), before_{std::move(before)} {}

  // The slot of the row, or kNone if it is not among the best: cheap for the many that are not. A better row takes the
  // slot of the worst.
  std::size_t offer(const Row& row) {
    std::size_t slot = heap_.size();
    if (heap_.size() == capacity_) {
      if (!wants(row)) {
        return kNone;
      }
      std::ranges::pop_heap(heap_, before_);
      slot = heap_.back().slot;
      heap_.pop_back();
    }
    heap_.push_back({row, slot});
    std::ranges::push_heap(heap_, before_);  // the worst is at the front
    return slot;
  }

  // Puts `row` in place of the one in `slot`, which must be there.
  void replace(std::size_t slot, const Row& row) {
    std::ranges::find(heap_, slot, &Entry::slot)->row = row;
    std::ranges::make_heap(heap_, before_);
  }

  // Whether offer() would take it.
  bool wants(const Row& row) const {
    return heap_.size() < capacity_ || (capacity_ > 0 && before_.rows(row, heap_.front().row));
  }

  // Best first.
  std::vector<Entry> sorted() const {
    std::vector<Entry> entries = heap_;
    std::ranges::sort(entries, before_);
    return entries;
  }

 private:
  struct EntryBefore {
    Before rows;
    bool operator()(const Entry& a, const Entry& b) const { return rows(a.row, b.row); }
  };

  std::size_t capacity_;
  EntryBefore before_;
  std::vector<Entry> heap_;
};

}  // namespace dissent
