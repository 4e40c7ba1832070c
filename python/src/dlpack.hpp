// The structures of DLPack (dmlc/dlpack, version 0.8), with which libraries hand arrays to each other without copying,
// and the capsules that Python passes them in.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>

namespace dissent::python::dlpack {

namespace py = pybind11;

inline constexpr std::int32_t kCuda = 2;
inline constexpr std::uint8_t kFloat = 2;

struct Device {
  std::int32_t type;
  std::int32_t number;
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t num_dimensions;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* owner;
  void (*release)(ManagedTensor* self);
};

// A tensor taken out of a capsule, which that uses up; released at the end. Needs the interpreter's lock.
class Taken {
 public:
  explicit Taken(const py::capsule& capsule)
      : managed_(static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))) {
    if (managed_ == nullptr) {
      throw py::error_already_set();
    }
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (managed_->release != nullptr) {
      managed_->release(managed_);
    }
  }

  const Tensor& operator*() const { return managed_->tensor; }
  const Tensor* operator->() const { return &managed_->tensor; }

 private:
  ManagedTensor* managed_;
};

// A capsule around a tensor; a tensor that nobody takes out is released with it.
inline py::capsule capsule_of(ManagedTensor* managed) {
  PyObject* capsule = PyCapsule_New(managed, "dltensor", [](PyObject* self) {
    if (PyCapsule_IsValid(self, "dltensor") != 0) {
      auto* left = static_cast<ManagedTensor*>(PyCapsule_GetPointer(self, "dltensor"));
      left->release(left);
    }
  });
  if (capsule == nullptr) {
    managed->release(managed);
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::capsule>(capsule);
}

}  // namespace dissent::python::dlpack
