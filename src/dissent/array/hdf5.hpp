// HDF5 in and out, as far as tables of experience need it: named numeric datasets and attributes of the root group.
//
// Optional: a build without libhdf5 answers every call but hdf5_available() with an InputError that says what to
// install. Reads integers, floating point numbers of any width and h5py's booleans (an enumeration of FALSE and TRUE),
// in any byte order and layout the library knows; refuses datasets of text, compounds or references. A file that was
// cut short, or that declares more data than it holds, is an InputError. So is data in another file, which is never
// opened (external links and storage, virtual datasets), and data that only a plugin could unpack. The library is not
// thread safe, so calls take turns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dissent/array/array.hpp"

namespace dissent {

bool hdf5_available();

// A dataset to write, not owned: kFloat32, kFloat64, kInt64, kUint8 or kBool (one byte each, 0 or 1).
struct Hdf5Dataset {
  std::string name;  // "rewards", or "infos/expert" inside a group, which is created as needed
  DType dtype = DType::kFloat32;
  Shape shape;
  std::span<const std::byte> bytes;
};

using Hdf5Attribute = std::pair<std::string, std::variant<std::string, std::int64_t, std::uint64_t, double>>;

// Writes through AtomicFile: the file appears whole or not at all. It is assembled in memory first (HDF5 cannot report
// a full disk reliably), so this needs as much memory again as the data. The same content gives the same bytes.
void write_hdf5(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
                const std::vector<Hdf5Attribute>& attributes = {});

class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  const std::string& path() const { return path_; }
  bool contains(const std::string& name) const;

  // Names in a group ("/" is the root), in alphabetical order.
  std::vector<std::string> names(const std::string& group = "/") const;

  // Whether a name stands for numbers rather than a group.
  bool is_dataset(const std::string& name) const;

  // A whole dataset. Unknown names and types are an InputError. float16 comes as float32, long double as float64.
  Array load(const std::string& name) const;

  // An attribute of the root as text (numbers by their digits), or empty when there is none.
  std::string attribute(const std::string& name) const;

 private:
  std::string path_;
  std::int64_t file_ = -1;
};

}  // namespace dissent
