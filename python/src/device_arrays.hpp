// Arrays on graphics cards, through DLPack.
#pragma once

#include <pybind11/pybind11.h>

namespace dissent::python {

void bind_device_arrays(pybind11::module_& module);

}  // namespace dissent::python
