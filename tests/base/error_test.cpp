// Errors keep their parts; sources are added on the way up; edges spell arguments.
#include "dissent/base/error.hpp"

#include <gtest/gtest.h>

namespace dissent {
namespace {

std::string dashed(std::string_view argument) {
  std::string text = "--" + std::string(argument);
  for (char& c : text) {
    c = c == '_' ? '-' : c;
  }
  return text;
}

TEST(Fault, PartsInOrder) {
  const Fault fault{.source = "data.csv",
                    .argument = "keep_probability",
                    .value = "3",
                    .rule = "it must be in (0, 1]",
                    .column = "x",
                    .row = 4};
  EXPECT_EQ(fault.text(), "data.csv: column 'x' row 5: keep_probability = 3; it must be in (0, 1]");
  EXPECT_EQ(fault.text(dashed), "data.csv: column 'x' row 5: --keep-probability = 3; it must be in (0, 1]");
}

TEST(Fault, MissingPartsLeaveNoTrace) {
  EXPECT_EQ((Fault{.rule = "has no rows"}).text(), "has no rows");
  EXPECT_EQ((Fault{.source = "a.csv", .rule = "has no rows"}).text(), "a.csv: has no rows");
  EXPECT_EQ((Fault{.argument = "batch", .rule = "too many rows"}).text(), "batch: too many rows");
  EXPECT_EQ((Fault{.rule = "is empty", .row = 0}).text(), "row 1: is empty");
}

TEST(Fault, ArgumentsInsideRules) {
  const Fault fault{.rule = "give `test` too, or leave out `flow_hidden`; a ` alone and `Not A Name` stay"};
  EXPECT_EQ(fault.text(), "give test too, or leave out flow_hidden; a ` alone and `Not A Name` stay");
  EXPECT_EQ(fault.text(dashed), "give --test too, or leave out --flow-hidden; a ` alone and `Not A Name` stay");
}

TEST(InputError, ASourceIsAddedOnce) {
  try {
    in_source("outer",
              [] { in_source("inner.csv", [] { check_argument(false, "epochs", 0, "it must be >= {}", 1); }); });
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "inner.csv: epochs = 0; it must be >= 1");
    EXPECT_EQ(error.fault().source, "inner.csv");
    EXPECT_EQ(error.fault().argument, "epochs");
    EXPECT_EQ(error.fault().value, "0");
    EXPECT_EQ(error.fault().rule, "it must be >= 1");
  }
  EXPECT_EQ(in_source("x", [] { return 3; }), 3);
}

}  // namespace
}  // namespace dissent
