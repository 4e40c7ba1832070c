// Arrays across the border, by Python's buffer protocol alone. The module has no part in numpy's binary interface, so
// one build of it works with every numpy.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"

namespace dissent::python {

namespace py = pybind11;

// As the buffer protocol names it. int64 is C's long, which is numpy's own int64 here.
template <class T>
constexpr const char* format_of() {
  static_assert(std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t>);
  return std::same_as<T, float> ? "f" : std::same_as<T, double> ? "d" : "l";
}

// An argument: a contiguous array of any type, lent by Python while this lives. It must end with the lock held.
class Buffer {
 public:
  Buffer() = default;

  // False if the object has no contiguous memory to lend.
  bool borrow(py::handle object) {
    std::unique_ptr<Py_buffer, Release> view(new Py_buffer{});
    if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_ND | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    view_ = std::move(view);
    return true;
  }

  template <class T>
  bool holds() const {
    return view_->format == std::string_view(format_of<T>()) &&
           reinterpret_cast<std::uintptr_t>(view_->buf) % alignof(T) == 0;
  }

  template <class T>
  const T* data() const {
    return static_cast<const T*>(view_->buf);
  }

  std::size_t ndim() const { return static_cast<std::size_t>(view_->ndim); }
  std::size_t shape(std::size_t axis) const { return static_cast<std::size_t>(view_->shape[axis]); }
  std::vector<std::size_t> shape() const { return {view_->shape, view_->shape + view_->ndim}; }
  std::size_t size() const { return static_cast<std::size_t>(view_->len / view_->itemsize); }

 private:
  struct Release {
    void operator()(Py_buffer* view) const {
      PyBuffer_Release(view);  // of one that was never filled it does nothing
      delete view;
    }
  };

  std::unique_ptr<Py_buffer, Release> view_;
};

// The same of float64; anything else is refused, since a conversion would be a hidden copy.
class Doubles : public Buffer {
 public:
  bool borrow(py::handle object) { return Buffer::borrow(object) && holds<double>(); }
  const double* data() const { return Buffer::data<double>(); }
};

// Memory that numpy is to see as an array.
struct Memory {
  std::shared_ptr<void> owner;
  py::buffer_info view;
};

// What numpy makes of it: an array that keeps the memory and copies nothing.
py::object to_numpy(Memory memory);

// The vector's memory becomes the array's.
template <class T>
py::object to_numpy(std::vector<T>&& values, const std::vector<std::size_t>& shape) {
  const std::size_t size = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  check(values.size() == size, "{} values for an array of {}", values.size(), size);
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  std::vector<py::ssize_t> strides(shape.size(), sizeof(T));
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * static_cast<py::ssize_t>(shape[axis]);
  }
  py::buffer_info view(owner->data(), sizeof(T), format_of<T>(), static_cast<py::ssize_t>(shape.size()),
                       std::vector<py::ssize_t>(shape.begin(), shape.end()), std::move(strides));
  return to_numpy(Memory{std::move(owner), std::move(view)});
}

template <class T>
py::object to_numpy(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

void bind_arrays(py::module_& module);

}  // namespace dissent::python

namespace pybind11::detail {

template <std::derived_from<dissent::python::Buffer> Array>
struct type_caster<Array> {
  PYBIND11_TYPE_CASTER(Array, const_name("numpy.ndarray"));
  bool load(handle source, bool) { return value.borrow(source); }
};

}  // namespace pybind11::detail
