// Converts between Python's values and those of fields.
//
// Whatever Python gives becomes some Value, and only the field says what is wrong with it: each rule is in one place.
#include "fields.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dissent/ensemble/options.hpp"

namespace dissent::python {
namespace {

// Anything with __index__ is a whole number; no value if it is below 0 or beyond 64 bits.
std::optional<std::uint64_t> whole_of(py::handle given) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  const std::uint64_t whole = index ? PyLong_AsUnsignedLongLong(index.ptr()) : 0;
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return whole;
}

std::optional<double> number_of(py::handle given) {
  const double number = PyFloat_AsDouble(given.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return number;
}

template <class T>
std::optional<Value> list_of(const py::list& given, std::optional<T> (*read)(py::handle)) {
  std::vector<T> values;
  for (const py::handle item : given) {
    const std::optional<T> value = PyBool_Check(item.ptr()) ? std::nullopt : read(item);
    if (!value) {
      return std::nullopt;
    }
    values.push_back(*value);
  }
  return values;
}

// numpy's scalars, and arrays without dimensions, as Python's own values.
py::object plain(py::handle given) {
  const bool is_scalar = py::hasattr(given, "ndim") && given.attr("ndim").cast<int>() == 0;
  return is_scalar ? given.attr("item")() : py::reinterpret_borrow<py::object>(given);
}

bool is_sequence(py::handle given) {
  return py::isinstance<py::iterable>(given) && !py::isinstance<py::str>(given) && !py::isinstance<py::bytes>(given) &&
         !py::isinstance<py::dict>(given);
}

std::string_view type_name(FieldType type) {
  static constexpr std::array kNames{"switch", "whole", "number", "text", "wholes", "numbers"};
  return kNames.at(static_cast<std::size_t>(type));
}

}  // namespace

std::string keyword_of(const FieldInfo& field) {
  const std::string name(field.name);
  if (name == "seed") {
    return "random_state";
  }
  if (field.traits.count) {
    return "n_" + name;
  }
  const bool of_flow = !has_option(Model::kPne, name);
  return of_flow && !name.starts_with("flow_") ? "flow_" + name : name;
}

std::string keyword_of(std::string_view argument) {
  const Field<FitOptions>* field = find_field<FitOptions>(argument);
  return field == nullptr ? std::string(argument) : keyword_of(*field);
}

Value to_value(const FieldInfo& field, py::handle given) {
  const py::object value = plain(given);
  std::optional<Value> result;
  if (PyBool_Check(value.ptr())) {
    result = value.cast<bool>();
  } else if (py::isinstance<py::str>(value)) {
    result = field.type == FieldType::kText ? std::optional<Value>(value.cast<std::string>()) : std::nullopt;
  } else if (is_sequence(value)) {
    const py::list items(value);
    result = list_of(items, &whole_of);
    result = result ? result : list_of(items, &number_of);
  } else if (const std::optional<std::uint64_t> whole = whole_of(value)) {
    result = *whole;
  } else if (const std::optional<double> number = number_of(value)) {
    result = *number;
  }
  return result ? *result : Value(std::string(py::repr(value)));
}

py::object to_python(const Value& value) {
  return std::holds_alternative<std::monostate>(value) ? py::none() : py::cast(value);
}

py::dict describe_field(const FieldInfo& field, const Value& by_default) {
  using namespace py::literals;
  return py::dict("name"_a = field.name, "keyword"_a = keyword_of(field), "type"_a = type_name(field.type),
                  "help"_a = field.traits.help, "default"_a = to_python(by_default), "optional"_a = field.optional,
                  "names"_a = field.traits.names ? field.traits.names() : std::vector<std::string>());
}

}  // namespace dissent::python
