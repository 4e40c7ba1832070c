#include "dissent/array/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "dissent/base/check_in.hpp"
#include "dissent/base/digest.hpp"

namespace dissent {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{1} << 24;
constexpr std::size_t kMaxDimensions = 32;
constexpr std::size_t kDataAlignment = 64;
constexpr const char* kMetadataName = "__metadata__";
constexpr const char* kChecksumName = "dissent.checksum";

constexpr std::array<std::pair<DType, std::string_view>, 11> kDTypes{{
    {DType::kFloat32, "F32"},
    {DType::kFloat64, "F64"},
    {DType::kInt8, "I8"},
    {DType::kInt16, "I16"},
    {DType::kInt32, "I32"},
    {DType::kInt64, "I64"},
    {DType::kUint8, "U8"},
    {DType::kUint16, "U16"},
    {DType::kUint32, "U32"},
    {DType::kUint64, "U64"},
    {DType::kBool, "BOOL"},
}};

std::string_view tensor_dtype_name(DType dtype) {
  return std::ranges::find(kDTypes, dtype, [](const auto& entry) { return entry.first; })->second;
}

// Names come from the file; this keeps a message readable whatever they hold.
std::string shown(const std::string& name) { return name.size() <= 60 ? name : name.substr(0, 60) + "..."; }

const Json& member(const Json& entry, const char* key, const std::string& where) {
  check_in(where, entry.is_object() && entry.contains(key), "has no '{}'; dtype, shape and data_offsets are required",
           key);
  return entry.at(key);
}

DType parse_dtype(const Json& value, const std::string& where) {
  check_in(where, value.is_string(), "dtype is not a string");
  const std::string name = value.get<std::string>();
  for (const auto& [dtype, known] : kDTypes) {
    if (known == name) {
      return dtype;
    }
  }
  fail_in(where, "dtype '{}' is not supported; F32, F64, I8 to I64, U8 to U64 and BOOL are", shown(name));
}

std::vector<std::size_t> parse_sizes(const Json& value, const char* key, const std::string& where) {
  check_in(where, value.is_array() && value.size() <= kMaxDimensions, "{} is not a list of at most {} numbers", key,
           kMaxDimensions);
  std::vector<std::size_t> sizes;
  for (const Json& item : value) {
    check_in(where, item.is_number_unsigned(), "{} holds something that is not a whole number >= 0", key);
    sizes.push_back(item.get<std::size_t>());
  }
  return sizes;
}

// The size of an array in bytes; `available` is the most it can be.
std::size_t checked_bytes(const Shape& shape, DType dtype, std::size_t available, const std::string& where) {
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) {
    return 0;
  }
  std::size_t count = item_size(dtype);
  for (const std::size_t extent : shape) {
    check_in(where, extent <= available / count, "its shape {} needs more than the {} bytes of the file",
             shape_text(shape), available);
    count *= extent;
  }
  return count;
}

Json parse_header(std::string_view text, const std::string& source) {
  try {
    Json header = Json::parse(text);
    check_in(source, header.is_object(), "its header is not a JSON object; the file is damaged or not safetensors");
    return header;
  } catch (const Json::exception&) {
    fail_in(source, "its header is not JSON; the file is damaged or not safetensors");
  }
}

Metadata parse_metadata(const Json& value, const std::string& source) {
  check_in(source, value.is_object(), "{} is not an object of strings", kMetadataName);
  Metadata metadata;
  for (const auto& [key, text] : value.items()) {
    check_in(source, text.is_string(), "{} entry '{}' is not a string", kMetadataName, shown(key));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// Over everything a file says, in sorted order: files that differ only in spaces and order have the same checksum.
class Checksum {
 public:
  explicit Checksum(const Metadata& metadata) {
    for (const auto& [key, text] : metadata) {
      if (key != kChecksumName) {
        add(key);
        add(text);
      }
    }
  }
  void add(std::string_view name, DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
    add(name);
    add(tensor_dtype_name(dtype));
    digest_.add_word(shape.size());
    for (const std::size_t extent : shape) {
      digest_.add_word(extent);
    }
    digest_.add_data(bytes);
  }
  std::string text() const { return fmt::format("{:016x}", digest_.value()); }

 private:
  void add(std::string_view text) { digest_.add_data(std::as_bytes(std::span(text))); }
  Digest digest_;
};

std::string checksum_of(const std::vector<std::pair<std::string, ArrayView>>& arrays, const Metadata& metadata) {
  std::map<std::string_view, const ArrayView*> sorted;
  for (const auto& [name, array] : arrays) {
    sorted.emplace(name, &array);
  }
  Checksum checksum(metadata);
  for (const auto& [name, array] : sorted) {
    checksum.add(name, array->dtype(), array->shape(), array->bytes());
  }
  return checksum.text();
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : source_(path), file_(std::make_shared<const MappedFile>(path)) {
  parse(file_->bytes());
}

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes, const std::string& source) : source_(source) {
  parse(bytes);
}

void SafetensorsFile::parse(std::span<const std::byte> bytes) {
  check_in(source_, bytes.size() >= kLengthBytes,
           "has {} bytes; a safetensors file begins with the 8 bytes of a length", bytes.size());
  std::uint64_t length = 0;
  for (std::size_t k = 0; k < kLengthBytes; ++k) {
    length |= static_cast<std::uint64_t>(bytes[k]) << (8 * k);
  }
  check_in(source_, length <= kMaxHeaderBytes && length <= bytes.size() - kLengthBytes,
           "declares a header of {} bytes in a file of {}; the file is truncated or not safetensors", length,
           bytes.size());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const std::span<const std::byte> data = bytes.subspan(kLengthBytes + length);
  const Json header = parse_header(text, source_);

  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadataName) {
      metadata_ = parse_metadata(entry, source_);
      continue;
    }
    const std::string where = fmt::format("{}[{}]", source_, shown(name));
    const DType dtype = parse_dtype(member(entry, "dtype", where), where);
    const Shape shape = parse_sizes(member(entry, "shape", where), "shape", where);
    const std::vector<std::size_t> offsets = parse_sizes(member(entry, "data_offsets", where), "data_offsets", where);
    const std::size_t size = checked_bytes(shape, dtype, data.size(), where);
    check_in(
        where,
        offsets.size() == 2 && offsets[0] <= offsets[1] && offsets[1] <= data.size() && offsets[1] - offsets[0] == size,
        "its data_offsets do not hold {} bytes within the {} of the data; the file is damaged", size, data.size());
    ranges.emplace_back(offsets[0], offsets[1]);
    tensors_[name] = {dtype, shape, data.subspan(offsets[0], size)};
  }
  std::ranges::sort(ranges);
  std::size_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    check_in(source_, begin == covered,
             "its arrays overlap or leave a hole at byte {} of the data; the file is damaged",
             std::min(begin, covered));
    covered = end;
  }
  check_in(source_, covered == data.size(), "has {} bytes of data, its arrays {}; the file is damaged", data.size(),
           covered);
  check_sum();
}

void SafetensorsFile::check_sum() const {
  const auto kept = metadata_.find(kChecksumName);
  if (kept == metadata_.end()) {
    return;
  }
  Checksum checksum(metadata_);
  for (const auto& [name, tensor] : tensors_) {
    checksum.add(name, tensor.dtype, tensor.shape, tensor.bytes);
  }
  check_in(
      source_, checksum.text() == kept->second,
      "is not what was written: its content does not agree with its checksum; the file is damaged, or was altered");
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) {
    names.push_back(name);
  }
  return names;
}

Array SafetensorsFile::load(const std::string& name) const {
  const auto found = tensors_.find(name);
  check_in(source_, found != tensors_.end(), "has no array '{}'; the file is damaged or of another kind", name);
  const Tensor& tensor = found->second;
  const std::string source = fmt::format("{}[{}]", source_, shown(name));
  const bool aligned = reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % item_size(tensor.dtype) == 0;
  if (aligned && tensor.dtype != DType::kBool) {
    return Array(tensor.dtype, tensor.shape, file_, tensor.bytes.data(), source);
  }
  // A bool must be 0 or 1 in memory, whatever the file holds.
  const std::shared_ptr<std::byte[]> copy = allocate_bytes(tensor.bytes.size(), source);
  std::ranges::transform(tensor.bytes, copy.get(),
                         [&](std::byte b) { return tensor.dtype == DType::kBool ? std::byte{b != std::byte{0}} : b; });
  return Array(tensor.dtype, tensor.shape, copy, copy.get(), source);
}

Array SafetensorsFile::load(const std::string& name, DType dtype, const Shape& shape) const {
  Array array = load(name);
  check_in(array.source(), array.dtype() == dtype && array.shape() == shape, "is {} {}; {} {} is required",
           dtype_name(array.dtype()), shape_text(array.shape()), dtype_name(dtype), shape_text(shape));
  return array;
}

namespace {

// Length and header; `source` names the file in errors.
std::string head_of(const std::string& source, const ArrayList& arrays, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  Metadata own = metadata;
  own[kChecksumName] = checksum_of(arrays, metadata);
  header[kMetadataName] = own;
  std::size_t offset = 0;
  for (const auto& [name, array] : arrays) {
    check_in(source, name != kMetadataName && !header.contains(name), "array name '{}' is reserved or occurs twice",
             name);
    const std::size_t end = offset + array.bytes().size();
    header[name] = {
        {"dtype", tensor_dtype_name(array.dtype())}, {"shape", array.shape()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  // Spaces after the header put the data on an aligned address when the file is mapped.
  std::string text = header.dump();
  while ((kLengthBytes + text.size()) % kDataAlignment != 0) {
    text += ' ';
  }
  std::string head;
  for (std::size_t k = 0; k < kLengthBytes; ++k) {
    head += static_cast<char>(text.size() >> (8 * k));
  }
  return head + text;
}

}  // namespace

void write_safetensors(const std::string& path, const ArrayList& arrays, const Metadata& metadata) {
  const std::string head = head_of(path, arrays, metadata);
  AtomicFile file(path);
  file.write(head);
  for (const auto& [name, array] : arrays) {
    file.write(array.bytes());
  }
  file.commit();
}

std::vector<std::byte> format_safetensors(const ArrayList& arrays, const Metadata& metadata) {
  const std::string head = head_of("", arrays, metadata);
  const auto* begin = reinterpret_cast<const std::byte*>(head.data());
  std::vector<std::byte> bytes(begin, begin + head.size());
  for (const auto& [name, array] : arrays) {
    bytes.insert(bytes.end(), array.bytes().begin(), array.bytes().end());
  }
  return bytes;
}

}  // namespace dissent
