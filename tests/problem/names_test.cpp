#include "dissent/problem/names.hpp"

#include <gtest/gtest.h>

#include "dissent/base/error.hpp"
#include "dissent/problem/environment.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

TEST(Names, NearestCountsEdits) {
  const std::vector<std::string> known{"pendulum", "hopper", "ant", "humanoid"};
  EXPECT_EQ(nearest_name("hoper", known), "hopper");
  EXPECT_EQ(nearest_name("humaniod", known), "humanoid");
  EXPECT_EQ(nearest_name("aunt", known), "ant");
  EXPECT_EQ(nearest_name("pend", known), "ant");  // three edits against four
  EXPECT_EQ(nearest_name("", known), "ant");
}

TEST(Names, AnUnknownEnvironmentSuggestsTheNearest) {
  const std::string message = message_of<InputError>([] { make_environment("hoper"); });
  EXPECT_EQ(message,
            "environment \"hoper\" is unknown; did you mean \"hopper\"? (known: pendulum, hopper, ant, humanoid)");
}

TEST(Names, ColumnsAreNumberedFromZero) {
  EXPECT_EQ(numbered_names("action", 2), (std::vector<std::string>{"action_0", "action_1"}));
  EXPECT_TRUE(numbered_names("action", 0).empty());
}

}  // namespace
}  // namespace dissent
