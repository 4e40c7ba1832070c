// Values that describe themselves. An options struct or a record lists its fields once, and every edge walks the list:
// the command line, Python's keywords, JSON, the columns of CSV files, the metadata of model files.
//
//   struct TrainOptions { std::size_t epochs = 0; double validation = 0.1; };
//
//   template <> std::span<const Field<TrainOptions>> fields() {
//     static const std::vector<Field<TrainOptions>> list{
//         field("epochs", &TrainOptions::epochs, {.help = "Passes over the rows", .shown = "E", .least = 1}),
//         field("validation", &TrainOptions::validation, {.help = "Share held out", .least = 0, .below = 1}),
//     };
//     return list;
//   }
//
// A Value is what an edge can carry without knowing the struct. set() checks the field's rule; an InputError names the
// field as its argument, with value and rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"

namespace dissent {

// Nothing (an optional field that is not set), a switch, a whole number, a number, a text, or several.
using Value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, std::vector<std::uint64_t>,
                           std::vector<double>>;

enum class FieldType { kSwitch, kWhole, kNumber, kText, kWholes, kNumbers };

// Everything about a field except its name and type.
struct FieldTraits {
  std::string_view help = {};   // one line, without a full stop
  std::string_view shown = {};  // placeholder for its value in a help text: "M"
  // On the command line: a letter ("m" for -m), and for a switch the flag that turns it away from its default, if that
  // is not its name ("no-bootstrap").
  std::string_view short_name = {};
  std::string_view flag = {};
  bool count = false;  // Python's keyword begins with n_, as in scikit-learn: n_components
  // Numbers: the allowed range, for each number of a list; `above` and `below` exclude their bound.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  double above = -std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();
  std::function<std::vector<std::string>()> names = {};  // texts: the allowed ones; any, if empty
  bool varies = false;                                   // differs between otherwise equal runs: a time
};

struct FieldInfo {
  std::string_view name;  // as in the library: batch_size
  FieldType type = FieldType::kText;
  bool optional = false;  // may be nothing
  FieldTraits traits = {};
};

// The value as text, which parse_value reads back to the same bits; nothing is "".
std::string to_text(const Value& value);
// InputError, like check_value's, for a text that is not a value of this field. An empty text gives no value if that is
// allowed, and on for a switch.
Value parse_value(const FieldInfo& info, std::string_view text);
// InputError with argument, value and rule.
void check_value(const FieldInfo& info, const Value& value);
// A number as double; NaN for nothing. Not for texts and lists.
double as_number(const Value& value);

template <class S>
struct Field : FieldInfo {
  std::function<Value(const S&)> get;
  // Takes a value of the field's type, or of one that converts without loss (2 for 2.0).
  std::function<void(S&, const Value&)> set;
};

// The fields of S, in the order listed. Specialised where S is defined.
template <class S>
std::span<const Field<S>> fields();

namespace field_detail {

template <class T>
struct OptionalOf : std::false_type {
  using type = T;
};
template <class T>
struct OptionalOf<std::optional<T>> : std::true_type {
  using type = T;
};

template <class T>
constexpr FieldType type_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return FieldType::kSwitch;
  } else if constexpr (std::is_integral_v<T>) {
    return FieldType::kWhole;
  } else if constexpr (std::is_floating_point_v<T>) {
    return FieldType::kNumber;
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return FieldType::kNumbers;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return FieldType::kText;
  } else {
    static_assert(std::is_same_v<T, std::vector<std::size_t>>, "give named_field() for this type");
    return FieldType::kWholes;
  }
}

// The value converted to the field's type, and checked.
Value converted(const FieldInfo& info, const Value& value);

template <class T>
Value to_value(const T& from) {
  if constexpr (OptionalOf<T>::value) {
    return from ? to_value(*from) : Value();
  } else if constexpr (std::is_same_v<T, bool>) {
    return from;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(from);
  } else if constexpr (std::is_same_v<T, std::vector<std::size_t>>) {
    return std::vector<std::uint64_t>(from.begin(), from.end());
  } else {
    return from;
  }
}

template <class T>
T from_value(const Value& value) {
  if constexpr (OptionalOf<T>::value) {
    return std::holds_alternative<std::monostate>(value) ? T() : T(from_value<typename OptionalOf<T>::type>(value));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<T>(std::get<std::uint64_t>(value));
  } else if constexpr (std::is_same_v<T, std::vector<std::size_t>>) {
    const auto& from = std::get<std::vector<std::uint64_t>>(value);
    return {from.begin(), from.end()};
  } else {
    return std::get<T>(value);
  }
}

}  // namespace field_detail

// A field from its getter and setter; the setter receives a checked value of the field's type.
template <class S>
Field<S> field(FieldInfo info, std::function<Value(const S&)> get, std::function<void(S&, const Value&)> set) {
  Field<S> result{info, std::move(get), {}};
  result.set = [info, set = std::move(set)](S& to, const Value& value) {
    set(to, field_detail::converted(info, value));
  };
  return result;
}

// A member: bool, whole number, double, text, a vector of numbers, or an optional of one of them.
template <class S, class T>
Field<S> field(std::string_view name, T S::*member, FieldTraits traits) {
  using Plain = typename field_detail::OptionalOf<T>::type;
  return field<S>(
      {name, field_detail::type_of<Plain>(), field_detail::OptionalOf<T>::value, std::move(traits)},
      [member](const S& from) { return field_detail::to_value(from.*member); },
      [member](S& to, const Value& value) { to.*member = field_detail::from_value<T>(value); });
}

// A member of another type that is read and written as a text: an enumeration, a method with its parameter.
template <class S, class T>
Field<S> named_field(std::string_view name, T S::*member, std::function<std::string(const T&)> to_name,
                     std::function<T(const std::string&)> from_name, FieldTraits traits) {
  return field<S>(
      {name, FieldType::kText, false, std::move(traits)},
      [member, to_name](const S& from) { return Value(to_name(from.*member)); },
      [member, from_name](S& to, const Value& value) { to.*member = from_name(std::get<std::string>(value)); });
}

// The fields of a member that is a struct with fields, as fields of S.
template <class S, class Inner>
void add_fields(std::vector<Field<S>>& list, Inner S::*member) {
  for (const Field<Inner>& inner : fields<Inner>()) {
    Field<S> outer{static_cast<const FieldInfo&>(inner), {}, {}};
    outer.get = [&inner, member](const S& from) { return inner.get(from.*member); };
    outer.set = [&inner, member](S& to, const Value& value) { inner.set(to.*member, value); };
    list.push_back(std::move(outer));
  }
}

template <class S>
std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const Field<S>& field : fields<S>()) {
    names.emplace_back(field.name);
  }
  return names;
}

template <class S>
const Field<S>* find_field(std::string_view name) {
  for (const Field<S>& field : fields<S>()) {
    if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

// Values by field name, as an edge gathers them.
using Values = std::map<std::string, Value>;

// Sets the given fields in the order of the list, whatever order they are given in. InputError for a name that S does
// not have.
template <class S>
void set_fields(S& to, const Values& given) {
  for (const auto& [name, value] : given) {
    if (find_field<S>(name) == nullptr) {
      fail("there is no option `{}`{}", name, did_you_mean(name, field_names<S>()));
    }
  }
  for (const Field<S>& field : fields<S>()) {
    if (const auto found = given.find(std::string(field.name)); found != given.end()) {
      field.set(to, found->second);
    }
  }
}

template <class S>
Values get_fields(const S& from) {
  Values values;
  for (const Field<S>& field : fields<S>()) {
    values.emplace(field.name, field.get(from));
  }
  return values;
}

// InputError for a field whose value breaks its rule.
template <class S>
void check_fields(const S& values) {
  for (const Field<S>& field : fields<S>()) {
    check_value(field, field.get(values));
  }
}

// The first field in which two differ; null when none does.
template <class S>
const Field<S>* first_difference(const S& one, const S& other) {
  for (const Field<S>& field : fields<S>()) {
    if (field.get(one) != field.get(other)) {
      return &field;
    }
  }
  return nullptr;
}

}  // namespace dissent
