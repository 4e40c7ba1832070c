// Options and records as Python sees them: their fields by keyword, with Python's own values.
//
// A keyword is the field's name, except n_components for a count and random_state for the seed, as in scikit-learn, and
// flow_transform for an option of the flow: an estimator with `transform` would pass for a transformer.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "dissent/base/field.hpp"
#include "support.hpp"

namespace dissent::python {

std::string keyword_of(const FieldInfo& field);
// The keyword of a fit's option, from its name in the library; any other name stays as it is. Errors use it.
std::string keyword_of(std::string_view argument);

// bool, int, float, str, sequences of numbers, and numpy's own. Anything else becomes its repr(), which the field then
// refuses with its rule; so does a text for a field of numbers.
Value to_value(const FieldInfo& field, py::handle given);
py::object to_python(const Value& value);

// name, keyword, type ("whole"), help, default, whether it may be nothing, and the names there are.
py::dict describe_field(const FieldInfo& field, const Value& by_default);

// Values by keyword. None counts as not given; InputError for a keyword that S does not have.
template <class S>
Values values_of(const py::dict& given) {
  Values values;
  for (const auto& [key, value] : given) {
    const std::string keyword = py::str(key);
    const auto& list = fields<S>();
    const auto field = std::ranges::find_if(list, [&](const auto& each) { return keyword_of(each) == keyword; });
    check(field != list.end(), "there is no option `{}`", keyword);
    if (!value.is_none()) {
      values.emplace(field->name, to_value(*field, value));
    }
  }
  return values;
}

template <class S>
py::dict to_dict(const S& from) {
  py::dict result;
  for (const Field<S>& field : fields<S>()) {
    result[py::str(keyword_of(field))] = to_python(field.get(from));
  }
  return result;
}

}  // namespace dissent::python
