// What every binding shares: results handed to numpy, and long calls that let other Python threads and Ctrl-C through.
//
// A binding reads its arguments, then calls unlocked(threads, work, body): body(executor) runs without the
// interpreter's lock and passes the executor to the library, whose loops look for Ctrl-C between blocks. body must not
// touch Python.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/device/device.hpp"
#include "dissent/ensemble/fit.hpp"

namespace dissent::python {

inline std::size_t num_rows(const Doubles& matrix) { return matrix.shape(0); }

// Rows [N, C] for the model, checked here: the library sees only a length, which other shapes may have too.
inline std::span<const double> inputs_of(const Ensemble& model, const Doubles& matrix) {
  check(matrix.ndim() == 2 && matrix.shape(1) == model.num_input_columns(),
        "an array of {} dimensions and {} values for a model of {} inputs; it must be [N, {}]", matrix.ndim(),
        matrix.size(), model.num_input_columns(), model.num_input_columns());
  return span_of(matrix);
}

// Runs Python's signal handlers a few times a second; a handler that raises (Ctrl-C does) ends the call. Called without
// the lock, on the thread that came from Python.
class SignalPoll {
 public:
  void operator()() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) {
      return;
    }
    last_ = now;
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// asked = 0 is one per core. A thread is started for each millisecond of work, since starting one may cost a tenth of
// that; `work` is a rough guess in nanoseconds. Results do not depend on the number of threads.
inline int useful_threads(int asked, double work) {
  constexpr double kWorth = 1e6;
  static const unsigned num_cores = std::max(1U, std::thread::hardware_concurrency());  // it asks the system each time
  const double most = asked == 0 ? num_cores : std::max(1, asked);
  return static_cast<int>(std::clamp(work / kWorth, 1.0, most));
}

inline constexpr double kAllThreads = 1e12;  // nanoseconds: training, and choices, which may take long on few rows

template <class Body>
auto unlocked(int threads, double work, const Body& body) {
  const py::gil_scoped_release release;
  ThreadPool executor(useful_threads(threads, work), SignalPoll());
  return body(executor);
}

// Likewise calls body(control) with what a fit needs: threads, the device that trains networks, and the function for
// its progress; or body(control, scores), with the device that scores too.
template <class Tell, class Body>
auto fitting(int threads, const std::string& device, Tell& tell, const Body& body) {
  return unlocked(threads, kAllThreads, [&](Executor& executor) {
    const std::shared_ptr<Device> opened = open_device(device);
    const FitControl control{.executor = &executor, .progress = std::ref(tell), .device = fits_of(opened.get())};
    if constexpr (std::is_invocable_v<Body, const FitControl&, ScoreDevice*>) {
      return body(control, scores_of(opened.get()));
    } else {
      return body(control);
    }
  });
}

// Takes the progress of training: looks for Ctrl-C, and calls `progress` with (epoch, epochs, loss, validation_loss)
// unless it is None.
class FitTeller {
 public:
  explicit FitTeller(py::object progress) : progress_(std::move(progress)), silent_(progress_.is_none()) {}

  bool operator()(const FitProgress& state) {
    poll_();
    if (!silent_ && !state.waiting) {
      const py::gil_scoped_acquire lock;
      progress_(state.epoch, state.epochs, state.loss, state.validation_loss);
    }
    return true;
  }

 private:
  py::object progress_;
  bool silent_;
  SignalPoll poll_;
};

void bind_estimators(py::module_& module);
void bind_ensemble(py::module_& module);
void bind_acquisition(py::module_& module);
void bind_given(py::module_& module);
void bind_campaign(py::module_& module);
void bind_table(py::module_& module);

}  // namespace dissent::python
