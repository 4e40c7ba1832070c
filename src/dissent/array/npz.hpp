// NPZ, numpy's file format for several named arrays: a ZIP archive of NPY files, stored (numpy.savez) or deflated
// (numpy.savez_compressed).
//
// A member is read only when asked for. Stored ones stay in the mapped file, so an archive larger than memory can be
// streamed; deflated ones are inflated into memory that grows with the data that really arrives. Before that, a
// member's NPY header must agree with the size the archive declares, and that size with NpzOptions::max_bytes: a file
// that lies about its size is refused at the cost of reading its header. A bad file is an InputError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/array/array.hpp"
#include "dissent/array/npy.hpp"
#include "dissent/array/zip.hpp"
#include "dissent/base/file.hpp"

namespace dissent {

struct NpzOptions {
  std::uint64_t max_bytes = 0;  // most memory one inflated member may take; 0: half of this machine's memory
};

class NpzFile {
 public:
  explicit NpzFile(const std::string& path, NpzOptions options = {});

  // An archive in memory, which must outlive this object and every array taken from it. `source` names it in errors.
  NpzFile(std::span<const std::byte> archive, const std::string& source, NpzOptions options = {});

  // Names of the arrays, in the order of the archive, without ".npy". Other members are none of our business.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const;

  // One array, for reading a few rows at a time; its checksum is verified first, at constant memory. An unknown name is
  // an InputError that lists the known ones.
  NpyFile open(std::string_view name) const;

  // One array, whole.
  Array load(std::string_view name) const { return open(name).load(); }

 private:
  void list_members(std::span<const std::byte> archive);
  NpyFile open_deflated(const ZipMember& member, const std::string& source) const;

  std::string source_;
  NpzOptions options_;
  std::shared_ptr<const MappedFile> file_;  // null for an archive in memory
  std::vector<std::string> names_;
  std::vector<ZipMember> members_;  // members_[k] is names_[k]
};

// Every array of the file, in its order.
std::vector<std::pair<std::string, Array>> read_npz(const std::string& path, NpzOptions options = {});

// Writes through AtomicFile: the file appears whole or not at all. Names must be unique. The same arrays give the same
// bytes.
void write_npz(const std::string& path, const std::vector<std::pair<std::string, ArrayView>>& arrays,
               ZipOptions options = {});

}  // namespace dissent
