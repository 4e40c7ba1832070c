// dissent._core: a thin layer that shows the library to Python. Arrays come in as the Python files of the package
// prepare them (contiguous, float32 or float64); errors go out as ValueError (the caller's) and OSError (the
// machine's).
#include "device_arrays.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/version.hpp"
#include "fields.hpp"
#include "support.hpp"

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  using namespace dissent;
  module.attr("version") = kVersion;
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) {
        std::rethrow_exception(pointer);
      }
    } catch (const InputError& error) {
      const std::string text = error.fault().text([](std::string_view name) { return python::keyword_of(name); });
      PyErr_SetString(PyExc_ValueError, text.c_str());
    } catch (const SystemError& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
  python::bind_arrays(module);
  python::bind_estimators(module);
  python::bind_device_arrays(module);
  python::bind_ensemble(module);
  python::bind_acquisition(module);
  python::bind_given(module);
  python::bind_campaign(module);
  python::bind_table(module);
}
