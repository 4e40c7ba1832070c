// Fields: every type through get, set, text and back; rules; nested structs; differences.
#include "dissent/base/field.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dissent {
namespace {

enum class Colour { kRed, kBlue };

struct Inner {
  double share = 0.1;
  bool fast = true;
};

struct Outer {
  std::size_t count = 5;
  std::optional<std::size_t> limit = {};
  std::vector<std::size_t> widths = {20, 20};
  std::vector<double> weights = {};
  std::string name = "flow";
  Colour colour = Colour::kRed;
  Inner inner;
};

}  // namespace

template <>
std::span<const Field<Inner>> fields() {
  static const std::vector<Field<Inner>> list{
      field("share", &Inner::share, {.help = "Share", .least = 0, .below = 1}),
      field("fast", &Inner::fast, {.help = "Fast"}),
  };
  return list;
}

template <>
std::span<const Field<Outer>> fields() {
  static const std::vector<Field<Outer>> list = [] {
    std::vector<Field<Outer>> all{
        field("count", &Outer::count, {.help = "Count", .shown = "M", .least = 1, .most = 10}),
        field("limit", &Outer::limit, {.help = "Limit", .least = 1}),
        field("widths", &Outer::widths, {.help = "Widths", .least = 1}),
        field("weights", &Outer::weights, {.help = "Weights"}),
        field("name", &Outer::name,
              {.help = "Name",
               .names =
                   [] {
                     return std::vector<std::string>{"flow", "pne"};
                   }}),
        named_field<Outer, Colour>(
            "colour", &Outer::colour, [](const Colour& c) { return c == Colour::kRed ? "red" : "blue"; },
            [](const std::string& text) {
              check(text == "red" || text == "blue", "there are: red, blue");
              return text == "red" ? Colour::kRed : Colour::kBlue;
            },
            {.help = "Colour"}),
    };
    add_fields(all, &Outer::inner);
    return all;
  }();
  return list;
}

namespace {

// What set() says of a text.
std::string complaint(const std::string& name, const std::string& text) {
  Outer outer;
  try {
    const Field<Outer>* field = find_field<Outer>(name);
    field->set(outer, parse_value(*field, text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Field, TextsAndValuesGoThereAndBack) {
  Outer outer;
  const std::map<std::string, std::string> texts{{"count", "7"},
                                                 {"limit", "3"},
                                                 {"widths", "8,4,2"},
                                                 {"weights", "0.1,0.9"},
                                                 {"name", "pne"},
                                                 {"colour", "blue"},
                                                 {"share", "0.30000000000000004"},
                                                 {"fast", "false"}};
  for (const Field<Outer>& field : fields<Outer>()) {
    const std::string& text = texts.at(std::string(field.name));
    field.set(outer, parse_value(field, text));
    EXPECT_EQ(to_text(field.get(outer)), text) << field.name;
  }
  EXPECT_EQ(outer.count, 7U);
  EXPECT_EQ(outer.limit, 3U);
  EXPECT_EQ(outer.widths, (std::vector<std::size_t>{8, 4, 2}));
  EXPECT_EQ(outer.weights, (std::vector<double>{0.1, 0.9}));
  EXPECT_EQ(outer.colour, Colour::kBlue);
  EXPECT_EQ(outer.inner.share, 0.1 + 0.2);
  EXPECT_FALSE(outer.inner.fast);
}

TEST(Field, EmptyTexts) {
  EXPECT_EQ(parse_value(*find_field<Outer>("limit"), ""), Value());
  EXPECT_EQ(parse_value(*find_field<Outer>("weights"), ""), Value(std::vector<double>()));
  EXPECT_EQ(parse_value(*find_field<Outer>("fast"), ""), Value(true));
  EXPECT_EQ(complaint("count", ""), "count = ''; it must be a whole number from 1 to 10");
}

TEST(Field, RulesNameArgumentValueAndRule) {
  EXPECT_EQ(complaint("count", "0"), "count = 0; it must be a whole number from 1 to 10");
  EXPECT_EQ(complaint("count", "1,2"), "count = 1,2; it must be a whole number from 1 to 10");
  EXPECT_EQ(complaint("limit", "-1"), "limit = -1; it must be a whole number >= 1");
  EXPECT_EQ(complaint("widths", "3,x"),
            "widths = 3,x; it must be whole numbers >= 1, separated by commas; entry 2, 'x', is not");
  EXPECT_EQ(complaint("share", "1"), "share = 1; it must be a finite number in [0, 1)");
  EXPECT_EQ(complaint("share", "nan"), "share = nan; it must be a finite number in [0, 1)");
  EXPECT_EQ(complaint("name", "flwo"), "name = flwo; there are: flow, pne; did you mean 'flow'?");
  EXPECT_EQ(complaint("fast", "maybe"), "fast = maybe; it must be true or false");
}

TEST(Field, NumbersConvertWithoutLoss) {
  Outer outer;
  set_fields(outer, {{"count", 3.0}, {"share", std::uint64_t{0}}, {"weights", std::uint64_t{1}}});
  EXPECT_EQ(outer.count, 3U);
  EXPECT_EQ(outer.inner.share, 0);
  EXPECT_EQ(outer.weights, std::vector<double>{1});
  EXPECT_THROW(set_fields(outer, {{"count", 3.5}}), InputError);
  EXPECT_THROW(set_fields(outer, {{"count", std::string("3")}}), InputError);
}

TEST(Field, UnknownNamesAreRefused) {
  Outer outer;
  try {
    set_fields(outer, {{"coutn", std::uint64_t{2}}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "there is no option coutn; did you mean 'count'?");
  }
  EXPECT_EQ(outer.count, 5U);
}

TEST(Field, FirstDifference) {
  Outer one;
  Outer other;
  EXPECT_EQ(first_difference(one, other), nullptr);
  other.inner.fast = false;
  ASSERT_NE(first_difference(one, other), nullptr);
  EXPECT_EQ(first_difference(one, other)->name, "fast");
}

TEST(Field, AsNumber) {
  EXPECT_EQ(as_number(std::uint64_t{4}), 4);
  EXPECT_EQ(as_number(true), 1);
  EXPECT_TRUE(std::isnan(as_number(Value())));
}

}  // namespace
}  // namespace dissent
