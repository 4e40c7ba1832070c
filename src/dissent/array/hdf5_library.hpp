// What reading and writing HDF5 have in common: calls into the library one at a time, identifiers that close
// themselves, and types. Empty in builds without HDF5.
#pragma once

#if DISSENT_HAS_HDF5

#include <hdf5.h>

#include <mutex>

#include "dissent/array/array.hpp"

namespace dissent::hdf5 {

// Serialises calls into the library and keeps it from printing its error stack: our own errors say what matters.
class Session {
 public:
  Session() : lock_(mutex()) {
    // Everything opened here is closed here, so there is nothing left for the library to do when the process ends; its
    // exit handler would only complain about the parts of a damaged file that it could not release.
    static const bool quiet_exit = H5dont_atexit() >= 0;
    static_cast<void>(quiet_exit);
    H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Session() { H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t printer_ = nullptr;
  void* printer_data_ = nullptr;
};

// An open identifier and the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) {
      close_(id_);
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// The type in the file that h5py reads back as numpy's bool.
inline hid_t make_bool_type() {
  const hid_t type = H5Tenum_create(H5T_STD_I8LE);
  const signed char no = 0;
  const signed char yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

inline hid_t make_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return H5Tcopy(H5T_IEEE_F32LE);
    case DType::kFloat64:
      return H5Tcopy(H5T_IEEE_F64LE);
    case DType::kInt8:
      return H5Tcopy(H5T_STD_I8LE);
    case DType::kInt16:
      return H5Tcopy(H5T_STD_I16LE);
    case DType::kInt32:
      return H5Tcopy(H5T_STD_I32LE);
    case DType::kInt64:
      return H5Tcopy(H5T_STD_I64LE);
    case DType::kUint8:
      return H5Tcopy(H5T_STD_U8LE);
    case DType::kUint16:
      return H5Tcopy(H5T_STD_U16LE);
    case DType::kUint32:
      return H5Tcopy(H5T_STD_U32LE);
    case DType::kUint64:
      return H5Tcopy(H5T_STD_U64LE);
    case DType::kBool:
      return make_bool_type();
  }
  return -1;
}

}  // namespace dissent::hdf5

#endif
