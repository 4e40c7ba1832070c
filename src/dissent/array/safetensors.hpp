// Safetensors, a file format for named arrays that is safe to load: nothing in it is executed.
//
// Layout: the header's length (8 bytes, little endian), the header (a JSON object), then the arrays' bytes. The header
// maps each name to {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, offsets counted from the end of
// the header, and "__metadata__" to an object of strings. Arrays cover the data without holes or overlap. Reads F32,
// F64, I8 to I64, U8 to U64 and BOOL; writes F32, F64 and I64. A broken rule is an InputError that names the file.
// Nothing in the header is trusted until it agrees with the number of bytes there are.
//
// Files written here have a checksum of metadata and arrays in their metadata, "dissent.checksum". A file that does not
// agree with its checksum is an InputError. Other files, and those of versions before 0.5, have none.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/array/array.hpp"
#include "dissent/base/file.hpp"

namespace dissent {

using Metadata = std::map<std::string, std::string>;

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  // A file in memory, which must outlive this object and every array taken from it. `source` names it in errors.
  SafetensorsFile(std::span<const std::byte> bytes, const std::string& source);

  const std::string& source() const { return source_; }
  const Metadata& metadata() const { return metadata_; }
  std::vector<std::string> names() const;  // in alphabetical order
  bool contains(const std::string& name) const { return tensors_.contains(name); }

  // InputError when there is no such name, or the file has the array in another type or shape.
  Array load(const std::string& name) const;
  Array load(const std::string& name, DType dtype, const Shape& shape) const;

 private:
  struct Tensor {
    DType dtype;
    Shape shape;
    std::span<const std::byte> bytes;
  };

  void parse(std::span<const std::byte> bytes);
  void check_sum() const;

  std::string source_;
  std::shared_ptr<const MappedFile> file_;  // null for bytes in memory
  Metadata metadata_;
  std::map<std::string, Tensor> tensors_;
};

using ArrayList = std::vector<std::pair<std::string, ArrayView>>;

// Writes through AtomicFile: the file appears whole or not at all. Names must be unique. The same content gives the
// same bytes.
void write_safetensors(const std::string& path, const ArrayList& arrays, const Metadata& metadata = {});
// The same file, in memory.
std::vector<std::byte> format_safetensors(const ArrayList& arrays, const Metadata& metadata = {});

}  // namespace dissent
