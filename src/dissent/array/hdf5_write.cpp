#include "dissent/array/hdf5.hpp"
#include "dissent/array/hdf5_library.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"

#if DISSENT_HAS_HDF5

namespace dissent {
namespace {

using hdf5::Handle;
using hdf5::make_type;
using hdf5::Session;

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

}  // namespace dissent

#else  // without HDF5

namespace dissent {

bool hdf5_available() { return false; }

void write_hdf5(const std::string& path, const std::vector<Hdf5Dataset>&, const std::vector<Hdf5Attribute>&) {
  Hdf5File unavailable(path);  // throws
}

}  // namespace dissent

#endif
