#include "dissent/array/hdf5.hpp"

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

#if DISSENT_HAS_HDF5

#include <hdf5.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "dissent/base/file.hpp"

namespace dissent {
namespace {

// Serialises calls into the library and keeps it from printing its error stack: our own errors say what matters.
class Session {
 public:
  Session() : lock_(mutex()) {
    // Everything opened here is closed here, so there is nothing left for the library to do when the process ends; its
    // exit handler would only complain about the parts of a damaged file that it could not let go of.
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
hid_t make_bool_type() {
  const hid_t type = H5Tenum_create(H5T_STD_I8LE);
  const signed char no = 0;
  const signed char yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

hid_t make_type(DType dtype) {
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

void write_dataset(hid_t file, const Hdf5Dataset& dataset, const std::string& path) {
  check(num_elements(dataset.shape) * item_size(dataset.dtype) == dataset.bytes.size(),
        "write_hdf5: dataset {} has {} bytes; its shape {} of {} needs {}", dataset.name, dataset.bytes.size(),
        shape_text(dataset.shape), dtype_name(dataset.dtype), num_elements(dataset.shape) * item_size(dataset.dtype));
  const std::vector<hsize_t> extent(dataset.shape.begin(), dataset.shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
  const Handle type(make_type(dataset.dtype), H5Tclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.get(), false);  // a time of day would make equal content differ
  const Handle out(
      H5Dcreate2(file, dataset.name.c_str(), type.get(), space.get(), links.get(), properties.get(), H5P_DEFAULT),
      H5Dclose);
  if (!out || H5Dwrite(out.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset.bytes.data()) < 0) {
    fail_system("{}: HDF5 could not write dataset {}", path, dataset.name);
  }
}

void write_attribute(hid_t file, const Hdf5Attribute& attribute, const std::string& path) {
  hid_t type_id = -1;
  const void* data = nullptr;
  const char* characters = nullptr;
  if (const auto* text = std::get_if<std::string>(&attribute.second)) {  // of variable length, which h5py reads as str
    type_id = H5Tcopy(H5T_C_S1);
    H5Tset_size(type_id, H5T_VARIABLE);
    H5Tset_cset(type_id, H5T_CSET_UTF8);
    characters = text->c_str();
    data = &characters;
  } else if (const auto* integer = std::get_if<std::int64_t>(&attribute.second)) {
    type_id = H5Tcopy(H5T_STD_I64LE);
    data = integer;
  } else if (const auto* natural = std::get_if<std::uint64_t>(&attribute.second)) {
    type_id = H5Tcopy(H5T_STD_U64LE);
    data = natural;
  } else {
    type_id = H5Tcopy(H5T_IEEE_F64LE);
    data = &std::get<double>(attribute.second);
  }
  const Handle type(type_id, H5Tclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle out(H5Acreate2(file, attribute.first.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
  if (!out || H5Awrite(out.get(), type.get(), data) < 0) {
    fail_system("{}: HDF5 could not write attribute {}", path, attribute.first);
  }
}

}  // namespace

bool hdf5_available() { return true; }

void write_hdf5(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
                const std::vector<Hdf5Attribute>& attributes) {
  AtomicFile target(path);  // first, so that a bad path costs nothing
  const Session session;
  std::size_t total = 0;
  for (const Hdf5Dataset& dataset : datasets) {
    total += dataset.bytes.size();
  }
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.get(), total + (std::size_t{1} << 20), /*backing_store=*/false);
  const Handle file(H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
  if (!file) {
    fail_system("{}: HDF5 could not allocate {} bytes for the file's image", path, total);
  }
  for (const Hdf5Attribute& attribute : attributes) {
    write_attribute(file.get(), attribute, path);
  }
  for (const Hdf5Dataset& dataset : datasets) {
    write_dataset(file.get(), dataset, path);
  }
  // The driver's memory is the file, in place; it may be longer, since it grows in large steps.
  void** image = nullptr;
  const herr_t flushed = H5Fflush(file.get(), H5F_SCOPE_GLOBAL);
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  if (flushed < 0 || size < 0 || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, reinterpret_cast<void**>(&image)) < 0) {
    fail_system("{}: HDF5 could not assemble the file", path);
  }
  target.write(std::span(static_cast<const std::byte*>(*image), static_cast<std::size_t>(size)));
  target.commit();
}

Hdf5File::Hdf5File(const std::string& path) : path_(path) {
  const MappedFile mapped(path);  // names a missing file, a directory and missing rights better than HDF5 does
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
  for (std::size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (H5Lexists(file_, name.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) {
      return false;
    }
  }
  return H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  const Session session;
  const Handle opened(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  check_in(path_, static_cast<bool>(opened), "\"{}\" is not a group", group);
  std::vector<std::string> found;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  check_in(path_, H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found) >= 0,
           "group \"{}\" is damaged", group);
  return found;
}

bool Hdf5File::is_dataset(const std::string& name) const {
  const Session session;
  return static_cast<bool>(Handle(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose));
}

Array Hdf5File::load(const std::string& name) const {
  check_in(path_, contains(name), "has no dataset \"{}\"", name);
  const Session session;
  const std::string source = path_ + ":" + name;
  const Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  check_in(source, static_cast<bool>(dataset), "is a group, not a dataset");
  const Handle file_type(H5Dget_type(dataset.get()), H5Tclose);
  DType dtype = DType::kFloat32;
  check_in(source, file_type && find_dtype(file_type.get(), dtype), "holds neither numbers nor booleans");

  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  check_in(source, rank >= 0 && rank <= 8, "has {} dimensions; at most 8 are read", rank);
  std::vector<hsize_t> extent(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  const Shape shape(extent.begin(), extent.end());

  // An extent is only a claim; what is stored bounds it (deflate cannot shrink more than some 1032 times).
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

bool hdf5_available() { return false; }

void write_hdf5(const std::string& path, const std::vector<Hdf5Dataset>&, const std::vector<Hdf5Attribute>&) {
  fail_without_hdf5(path);
}

Hdf5File::Hdf5File(const std::string& path) { fail_without_hdf5(path); }
Hdf5File::~Hdf5File() = default;
bool Hdf5File::contains(const std::string&) const { fail_without_hdf5(path_); }
std::vector<std::string> Hdf5File::names(const std::string&) const { fail_without_hdf5(path_); }
bool Hdf5File::is_dataset(const std::string&) const { fail_without_hdf5(path_); }
Array Hdf5File::load(const std::string&) const { fail_without_hdf5(path_); }
std::string Hdf5File::attribute(const std::string&) const { fail_without_hdf5(path_); }

}  // namespace dissent

#endif
