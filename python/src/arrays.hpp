// numpy arrays, in and out, through Python's buffer protocol only.
//
// pybind11's py::array reads numpy's C interface, and up to pybind11 2.11 that is numpy 1's: with numpy 2 the first
// call would raise ImportError. Buffers are the same in every version of both.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"

namespace dissent::python {

namespace py = pybind11;

// The letter of an element type in the buffer protocol.
template <class T>
constexpr const char* format_of() {
  if constexpr (std::is_same_v<T, float>) {
    return "f";
  } else if constexpr (std::is_same_v<T, double>) {
    return "d";
  } else {
    static_assert(std::is_same_v<T, std::int64_t> && sizeof(long) == sizeof(T));
    return "l";
  }
}

// An array that Python holds, of any element type and layout. It stays alive and in place as long as this does; the
// last copy must be destroyed while the interpreter's lock is held.
class Array {
 public:
  Array() = default;

  // Opens the buffer of `source`; false if it has none.
  bool open(py::handle source) {
    auto view = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(source.ptr(), view.get(), PyBUF_FULL_RO) != 0) {
      PyErr_Clear();
      return false;
    }
    view_ = {view.release(), [](Py_buffer* owned) {
               PyBuffer_Release(owned);
               delete owned;
             }};
    return true;
  }

  // Whether the elements are T, one after the other in row-major order.
  template <class T>
  bool is() const {
    return std::string_view(view_->format) == format_of<T>() && PyBuffer_IsContiguous(view_.get(), 'C') != 0;
  }

  int ndim() const { return view_->ndim; }
  std::size_t shape(int axis) const { return static_cast<std::size_t>(view_->shape[axis]); }
  std::vector<std::size_t> shape() const { return {view_->shape, view_->shape + view_->ndim}; }
  std::size_t size() const { return static_cast<std::size_t>(view_->len / view_->itemsize); }
  const void* data() const { return view_->buf; }

 private:
  std::shared_ptr<Py_buffer> view_;
};

// float64 and contiguous. A binding does not convert anything else: that would be a hidden copy.
class Doubles : public Array {
 public:
  const double* data() const { return static_cast<const double*>(Array::data()); }
};

inline std::span<const double> span_of(const Doubles& array) { return {array.data(), array.size()}; }

// The memory of an array that we hand out.
struct Memory {
  std::shared_ptr<void> owner;
  void* data = nullptr;
  const char* format = "";
  py::ssize_t item_size = 0;
  std::vector<py::ssize_t> shape;

  py::buffer_info buffer() const {
    return {data,   item_size,
            format, static_cast<py::ssize_t>(shape.size()),
            shape,  py::detail::c_strides(shape, item_size)};
  }
};

// The vector's memory becomes the array's; nothing is copied.
template <class T>
py::object to_numpy(std::vector<T>&& values, const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  for (const std::size_t count : shape) {
    size *= count;
  }
  check(values.size() == size, "{} values for an array of {}", values.size(), size);
  values.reserve(1);  // an empty array needs an address too
  auto owned = std::make_shared<std::vector<T>>(std::move(values));
  T* data = owned->data();
  Memory memory{std::move(owned), data, format_of<T>(), sizeof(T), {shape.begin(), shape.end()}};
  return py::module_::import("numpy").attr("asarray")(py::cast(std::move(memory)));
}

template <class T>
py::object to_numpy(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

inline void bind_arrays(py::module_& module) {
  py::class_<Memory>(module, "Memory", py::buffer_protocol()).def_buffer(&Memory::buffer);
}

}  // namespace dissent::python

namespace pybind11::detail {

template <>
struct type_caster<dissent::python::Array> {
  PYBIND11_TYPE_CASTER(dissent::python::Array, const_name("numpy.ndarray"));

  bool load(handle source, bool) { return value.open(source); }
};

template <>
struct type_caster<dissent::python::Doubles> {
  PYBIND11_TYPE_CASTER(dissent::python::Doubles, const_name("numpy.ndarray[numpy.float64]"));

  bool load(handle source, bool) { return value.open(source) && value.is<double>(); }
};

}  // namespace pybind11::detail
