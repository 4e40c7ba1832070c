#include "dissent/ensemble/row_copies.hpp"

#include <gtest/gtest.h>

namespace dissent {
namespace {

using Places = std::vector<std::uint32_t>;

Places copies_of(const std::vector<double>& inputs, const std::vector<double>& targets) {
  return first_copies({{"a", "b"}, {"y"}, inputs, targets});
}

TEST(RowCopies, AreThoseWithEqualInputsAndTargets) {
  EXPECT_EQ(copies_of({}, {}), Places());
  EXPECT_EQ(copies_of({1, 2, 1, 2, 2, 1, 1, 2}, {5, 6, 5, 5}), (Places{0, 1, 2, 0}));
  EXPECT_EQ(copies_of({0, 1, -0.0, 1, 0, 1}, {3, 3, 3}), (Places{0, 0, 0}));
}

}  // namespace
}  // namespace dissent
