// Results as numpy arrays: numpy reads the memory of an object through the buffer protocol, and keeps the object.
#include "arrays.hpp"

namespace dissent::python {
namespace {

// numpy.asarray. Never freed: the interpreter may be gone before what is static here.
py::object& asarray() {
  static auto* function = new py::object();
  return *function;
}

py::buffer_info lend(Memory& memory) {
  const py::buffer_info& view = memory.view;
  return {view.ptr, view.itemsize, view.format, view.ndim, view.shape, view.strides};
}

}  // namespace

py::object to_numpy(Memory memory) { return asarray()(py::cast(std::move(memory))); }

void bind_arrays(py::module_& module) {
  asarray() = py::module_::import("numpy").attr("asarray");
  py::class_<Memory>(module, "Memory", py::buffer_protocol()).def_buffer(&lend);
}

}  // namespace dissent::python
