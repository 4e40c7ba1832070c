// Whole texts alone are numbers; methods with parameters.
#include "dissent/base/parse.hpp"

#include <gtest/gtest.h>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr Parameter kSamples{"K", true, 1, 1000, "a whole number from 1 to 1000", "500"};

std::string complaint(std::string_view text, const Parameter& parameter) {
  try {
    parse_parameter("estimator", split_method(text), parameter);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Parse, WholeTextsOnly) {
  EXPECT_EQ(parse_whole("42"), 42U);
  EXPECT_EQ(parse_whole("ff", 16), 255U);
  for (const char* text : {"", "4x", " 4", "4 ", "-4", "+4", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(parse_whole(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number("-1.5e3"), -1500);
  for (const char* text : {"", "1.5x", " 1", "1 ", "0x10"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Parse, Split) {
  EXPECT_EQ(split("a,,b"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split(""), (std::vector<std::string_view>{""}));
}

TEST(Parse, Methods) {
  EXPECT_EQ(parse_parameter("estimator", split_method("mc:500"), kSamples), 500);
  EXPECT_EQ(parse_parameter("estimator", split_method("kl"), {}), 0);
  EXPECT_EQ(method_name("mc", kSamples), "mc:K");
  EXPECT_EQ(method_name("kl", {}), "kl");
  EXPECT_EQ(method_text("mc", kSamples, 500), "mc:500");
  EXPECT_EQ(method_text("kl", {}, 0), "kl");
  EXPECT_EQ(method_text("chernoff", {.letter = "A"}, 0.1), "chernoff:0.1");
  EXPECT_EQ(complaint("kl:3", {}), "estimator 'kl' takes no parameter; write 'kl'");
  EXPECT_EQ(complaint("mc", kSamples), "estimator 'mc' needs a number, as in 'mc:500'");
  for (const char* text : {"mc:", "mc:0", "mc:1001", "mc:2.5", "mc:1e2", "mc:x", "mc:5:5"}) {
    EXPECT_NE(complaint(text, kSamples).find("is not a whole number from 1 to 1000"), std::string::npos) << text;
  }
}

TEST(Parse, OneNumberInRangeMayBeExcepted) {
  const Parameter order{.letter = "A", .least = 0, .most = 2, .rule = "a number other than 1", .except = 1};
  EXPECT_EQ(parse_parameter("divergence", split_method("renyi:0.5"), order), 0.5);
  EXPECT_NE(complaint("renyi:1", order).find("'1' in 'renyi:1' is not a number other than 1"), std::string::npos);
}

TEST(Parse, RowsAreFoundByName) {
  struct Row {
    std::string name;
    Parameter parameter;
  };
  const std::vector<Row> rows{{"kl", {}}, {"mc", kSamples}};
  EXPECT_EQ(&find_method("estimator", "mc", rows), &rows[1]);
  try {
    find_method("estimator", "kll", rows);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "estimator 'kll' is not known; did you mean 'kl'? (known: kl, mc:K)");
  }
}

}  // namespace
}  // namespace dissent
