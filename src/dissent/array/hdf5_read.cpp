// Reads HDF5. Opens only the file itself: refuses links to other files, numbers stored in other files, datasets
// composed of others and filters from libraries.
#include <algorithm>
#include <memory>

#include "dissent/array/hdf5.hpp"
#include "dissent/array/hdf5_library.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"

#if DISSENT_HAS_HDF5

namespace dissent {
namespace {

using hdf5::Handle;
using hdf5::make_bool_type;
using hdf5::make_type;
using hdf5::Session;

// The type in memory for a type in the file; false when there is none.
bool find_dtype(hid_t type, DType& dtype) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      dtype = size <= 4 ? DType::kFloat32 : DType::kFloat64;
      return true;
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
      if (size == 1)
        dtype = is_signed ? DType::kInt8 : DType::kUint8;
      else if (size == 2)
        dtype = is_signed ? DType::kInt16 : DType::kUint16;
      else if (size == 4)
        dtype = is_signed ? DType::kInt32 : DType::kUint32;
      else if (size == 8)
        dtype = is_signed ? DType::kInt64 : DType::kUint64;
      else
        return false;
      return true;
    }
    case H5T_ENUM: {
      const Handle expected(make_bool_type(), H5Tclose);
      dtype = DType::kBool;
      return H5Tequal(type, expected.get()) > 0;
    }
    default:
      return false;
  }
}

[[noreturn]] void fail_elsewhere(const std::string& path, const std::string& name) {
  fail_in(path, "\"{}\" is in another file, and no other file is opened; copy it into this one", name);
}

// Follows links only within the file. HDF5 would open whatever file a link names, look for it by its own rules, and
// wait if it is a pipe.
class Access {
 public:
  explicit Access(hid_t kind) : list_(H5Pcreate(kind), H5Pclose) {
    const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t, void* met) -> herr_t {
      *static_cast<bool*>(met) = true;
      return -1;
    };
    H5Pset_elink_cb(list_.get(), refuse, &met_);
  }
  hid_t get() const { return list_.get(); }

  // InputError when a link to another file was met.
  void check(const std::string& path, const std::string& name) const {
    if (met_) {
      fail_elsewhere(path, name);
    }
  }

 private:
  Handle list_;
  bool met_ = false;
};

// The numbers must be in this file, and packed with HDF5's own filters: for others it would load libraries.
void check_storage(hid_t dataset, const std::string& path, const std::string& name) {
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  check_in(path, static_cast<bool>(properties), "\"{}\" is damaged", name);
  if (H5Pget_external_count(properties.get()) > 0 || H5Pget_layout(properties.get()) == H5D_VIRTUAL) {
    fail_elsewhere(path, name);
  }
  for (int k = 0; k < H5Pget_nfilters(properties.get()); ++k) {
    unsigned flags = 0;
    std::size_t num_values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(properties.get(), static_cast<unsigned>(k), &flags, &num_values, nullptr, 0, nullptr, nullptr);
    check_in(path, filter < H5Z_FILTER_RESERVED,
             "\"{}\" is packed by filter {}, which is not part of HDF5; store it with gzip, or unpacked", name, filter);
  }
}

}  // namespace

Hdf5File::Hdf5File(const std::string& path) : path_(path) {
  const MappedFile mapped(path);  // reports a missing file, a directory or missing rights better than HDF5 does
  const Session session;
  check_in(path, H5Fis_hdf5(path.c_str()) > 0, "not an HDF5 file");
  // A private access list: the file must not stay open through objects that a caller of the C library may hold.
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get());
  check_in(path, file_ >= 0, "the HDF5 file is cut short or damaged ({} bytes)", mapped.bytes().size());
}

Hdf5File::~Hdf5File() {
  const Session session;
  H5Fclose(file_);
}

bool Hdf5File::contains(const std::string& name) const {
  const Session session;
  const Access access(H5P_LINK_ACCESS);
  bool found = true;
  for (std::size_t slash = name.find('/', 1); found && slash != std::string::npos; slash = name.find('/', slash + 1)) {
    found = H5Lexists(file_, name.substr(0, slash).c_str(), access.get()) > 0;
  }
  found = found && H5Lexists(file_, name.c_str(), access.get()) > 0;
  access.check(path_, name);
  return found;
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  const Session session;
  const Access access(H5P_GROUP_ACCESS);
  const Handle opened(H5Gopen2(file_, group.c_str(), access.get()), H5Gclose);
  access.check(path_, group);
  check_in(path_, static_cast<bool>(opened), "\"{}\" is not a group", group);
  struct Found {
    std::vector<std::string> names;
    std::string elsewhere;  // the first that is not in this file
  } found;
  const auto visit = [](hid_t, const char* name, const H5L_info_t* link, void* out) -> herr_t {
    Found& into = *static_cast<Found*>(out);
    into.names.emplace_back(name);
    if (link->type != H5L_TYPE_HARD && link->type != H5L_TYPE_SOFT && into.elsewhere.empty()) {
      into.elsewhere = name;
    }
    return 0;
  };
  check_in(path_, H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found) >= 0,
           "group \"{}\" is damaged", group);
  if (!found.elsewhere.empty()) {
    fail_elsewhere(path_, found.elsewhere);
  }
  return found.names;
}

bool Hdf5File::is_dataset(const std::string& name) const {
  const Session session;
  const Access access(H5P_DATASET_ACCESS);
  const bool opens = static_cast<bool>(Handle(H5Dopen2(file_, name.c_str(), access.get()), H5Dclose));
  access.check(path_, name);
  return opens;
}

Array Hdf5File::load(const std::string& name) const {
  check_in(path_, contains(name), "has no dataset \"{}\"", name);
  const Session session;
  const std::string source = path_ + ":" + name;
  const Access access(H5P_DATASET_ACCESS);
  const Handle dataset(H5Dopen2(file_, name.c_str(), access.get()), H5Dclose);
  access.check(path_, name);
  check_in(source, static_cast<bool>(dataset), "is a group, not a dataset");
  check_storage(dataset.get(), path_, name);
  const Handle file_type(H5Dget_type(dataset.get()), H5Tclose);
  DType dtype = DType::kFloat32;
  check_in(source, file_type && find_dtype(file_type.get(), dtype), "holds neither numbers nor booleans");

  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  check_in(source, rank >= 0 && rank <= 8, "has {} dimensions; at most 8 are read", rank);
  std::vector<hsize_t> extent(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  const Shape shape(extent.begin(), extent.end());

  // An extent is only a claim; the stored bytes bound it (deflate cannot shrink data more than some 1032 times).
  constexpr double kLargestRatio = 1100;
  const std::size_t stored = H5Dget_storage_size(dataset.get());
  double claimed = static_cast<double>(item_size(dtype));
  for (const hsize_t length : extent) {
    claimed *= static_cast<double>(length);
  }
  check_in(source, claimed <= kLargestRatio * static_cast<double>(stored),
           "shape {} claims more data than the {} bytes stored", shape_text(shape), stored);

  const std::size_t num_bytes = num_elements(shape) * item_size(dtype);
  const std::shared_ptr<std::byte[]> bytes(new std::byte[std::max<std::size_t>(1, num_bytes)]);
  const Handle memory_type(make_type(dtype), H5Tclose);
  check_in(source,
           num_bytes == 0 || H5Dread(dataset.get(), memory_type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.get()) >= 0,
           "cannot be read; the file is cut short or damaged");
  return Array(dtype, shape, bytes, bytes.get(), source);
}

std::string Hdf5File::attribute(const std::string& name) const {
  const Session session;
  if (H5Aexists(file_, name.c_str()) <= 0) {
    return {};
  }
  const Handle attribute(H5Aopen(file_, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  if (!attribute || H5Sget_simple_extent_npoints(space.get()) != 1) {
    return {};
  }
  if (H5Tget_class(type.get()) == H5T_INTEGER && H5Tget_sign(type.get()) == H5T_SGN_NONE) {
    std::uint64_t value = 0;
    H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value);
    return fmt::format("{}", value);
  }
  if (H5Tget_class(type.get()) == H5T_INTEGER) {
    std::int64_t value = 0;
    H5Aread(attribute.get(), H5T_NATIVE_INT64, &value);
    return fmt::format("{}", value);
  }
  if (H5Tget_class(type.get()) == H5T_FLOAT) {
    double value = 0;
    H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value);
    return fmt::format("{}", value);
  }
  if (H5Tget_class(type.get()) != H5T_STRING) {
    return {};
  }
  if (H5Tis_variable_str(type.get()) > 0) {  // how h5py stores a str
    char* text = nullptr;
    const Handle memory_type(H5Tcopy(type.get()), H5Tclose);
    std::string copy;
    if (H5Aread(attribute.get(), memory_type.get(), &text) >= 0 && text != nullptr) {
      copy = text;
      H5free_memory(text);
    }
    return copy;
  }
  std::string text(H5Tget_size(type.get()), '\0');
  H5Aread(attribute.get(), type.get(), text.data());
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

}  // namespace dissent

#else  // without HDF5

namespace dissent {
namespace {

[[noreturn]] void fail_without_hdf5(const std::string& path) {
  fail_in(path, "this build cannot read or write HDF5; install libhdf5-dev and configure the build again");
}

}  // namespace

Hdf5File::Hdf5File(const std::string& path) { fail_without_hdf5(path); }
Hdf5File::~Hdf5File() = default;
bool Hdf5File::contains(const std::string&) const { fail_without_hdf5(path_); }
std::vector<std::string> Hdf5File::names(const std::string&) const { fail_without_hdf5(path_); }
bool Hdf5File::is_dataset(const std::string&) const { fail_without_hdf5(path_); }
Array Hdf5File::load(const std::string&) const { fail_without_hdf5(path_); }
std::string Hdf5File::attribute(const std::string&) const { fail_without_hdf5(path_); }

}  // namespace dissent

#endif
