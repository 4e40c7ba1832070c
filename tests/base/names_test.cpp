#include "dissent/base/names.hpp"

#include <gtest/gtest.h>

#include "dissent/base/error.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

const std::vector<std::string> kRobots{"pendulum", "hopper", "ant", "humanoid"};

TEST(Names, DistanceCountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("scoer", "score"), 1U);  // neighbours swapped
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // swapped characters are not edited again
}

TEST(Names, NearestIsNamedOnlyWhenNear) {
  EXPECT_EQ(nearest_name("hoper", kRobots), "hopper");
  EXPECT_EQ(nearest_name("humaniod", kRobots), "humanoid");
  EXPECT_EQ(nearest_name("aunt", kRobots), "ant");
  EXPECT_EQ(nearest_name("pend", kRobots), "pendulum");  // begins it
  EXPECT_EQ(nearest_name("pe", kRobots), "");
  EXPECT_EQ(nearest_name("auntie", kRobots), "");  // three edits, one allowed
  EXPECT_EQ(nearest_name("walker", kRobots), "");
  EXPECT_EQ(nearest_name("", kRobots), "");
  EXPECT_EQ(nearest_name("ant", {}), "");
  EXPECT_EQ(nearest_name("cat", {"bat", "rat"}), "bat");  // the first on ties
}

TEST(Names, AnUnknownNameIsAnError) {
  EXPECT_NO_THROW(check_name("robot", "ant", kRobots));
  EXPECT_EQ(message_of<InputError>([] { check_name("robot", "hoper", kRobots); }),
            "robot 'hoper' is not known; did you mean 'hopper'? (known: pendulum, hopper, ant, humanoid)");
  EXPECT_EQ(message_of<InputError>([] { check_name("robot", "walker", kRobots); }),
            "robot 'walker' is not known (known: pendulum, hopper, ant, humanoid)");
}

TEST(Names, ColumnsAreNumberedFromZero) {
  EXPECT_EQ(numbered_names("action", 2), (std::vector<std::string>{"action_0", "action_1"}));
  EXPECT_TRUE(numbered_names("action", 0).empty());
}

}  // namespace
}  // namespace dissent
