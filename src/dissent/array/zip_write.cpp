#include <zlib.h>

#include <algorithm>
#include <array>

#include "dissent/array/zip.hpp"
#include "dissent/array/zip_format.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

using namespace zip_format;

constexpr std::size_t kAlignment = 64;
constexpr std::uint16_t kNoTime = 0;
constexpr std::uint16_t kNoDate = 0x0021;  // 1 January 1980, when the format's calendar begins

// Appends little-endian fields.
class Packer {
 public:
  Packer& u16(std::uint64_t value) { return put(value, 2); }
  Packer& u32(std::uint64_t value) { return put(value, 4); }
  Packer& u64(std::uint64_t value) { return put(value, 8); }
  Packer& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  Packer& zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Packer& put(std::uint64_t value, int count) {
    for (int k = 0; k < count; ++k) {
      bytes_ += static_cast<char>(value >> (8 * k) & 0xFF);
    }
    return *this;
  }
  std::string bytes_;
};

const Bytef* zlib_bytes(std::span<const std::byte> bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }

std::uint32_t crc_of(std::span<const std::byte> head, std::span<const std::byte> body) {
  // zlib takes a null pointer as a request for the initial value, which would forget the head.
  const uLong crc = crc32_z(0, zlib_bytes(head), head.size());
  return static_cast<std::uint32_t>(body.empty() ? crc : crc32_z(crc, zlib_bytes(body), body.size()));
}

}  // namespace

ZipWriter::ZipWriter(const std::string& path, ZipOptions options) : file_(path), options_(options) {}

void ZipWriter::add(const std::string& name, std::span<const std::byte> head, std::span<const std::byte> body) {
  check_in(file_.path(), !name.empty() && name.size() < kFull16 && name.find('\0') == std::string::npos,
           "'{}' cannot name a ZIP member; it must have 1 to 65534 bytes, none of them zero", name);
  for (const Entry& other : entries_) {
    check_in(file_.path(), other.name != name, "ZIP member '{}' is given twice", name);
  }
  Entry entry{name, crc_of(head, body), head.size() + body.size(), head.size() + body.size(), file_.size()};
  write_local_header(entry);
  if (options_.deflate) {
    entry.compressed_size = write_deflated(head, body);
    file_.write(Packer().u32(kDescriptorSignature).u32(entry.crc).u64(entry.compressed_size).u64(entry.size).bytes());
  } else {
    file_.write(head);
    file_.write(body);
  }
  entries_.push_back(std::move(entry));
}

// Sizes always go into a zip64 field here (as numpy writes them), so that a reader without the directory need not guess
// how wide they are. A deflated size is not known yet: the descriptor after the data has it.
void ZipWriter::write_local_header(const Entry& entry) {
  constexpr std::size_t kZip64Bytes = 4 + 16;
  constexpr std::size_t kPaddingBytes = 4 + 2;
  const std::size_t unpadded = entry.offset + kLocalBytes + entry.name.size() + kZip64Bytes + kPaddingBytes;
  const std::size_t padding = (kAlignment - unpadded % kAlignment) % kAlignment;
  const bool late = options_.deflate;
  Packer local;
  local.u32(kLocalSignature).u16(kVersionZip64).u16(kFlagUtf8 | (late ? kFlagDescriptor : 0));
  local.u16(late ? kMethodDeflated : kMethodStored).u16(kNoTime).u16(kNoDate).u32(late ? 0 : entry.crc);
  local.u32(kFull32).u32(kFull32).u16(entry.name.size()).u16(kZip64Bytes + kPaddingBytes + padding);
  local.text(entry.name);
  local.u16(kExtraZip64).u16(16).u64(late ? 0 : entry.size).u64(late ? 0 : entry.size);
  local.u16(kExtraAlignment).u16(2 + padding).u16(kAlignment).zeros(padding);
  file_.write(local.bytes());
}

std::uint64_t ZipWriter::write_deflated(std::span<const std::byte> head, std::span<const std::byte> body) {
  z_stream stream{};
  constexpr int kDefaultMemory = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, kDefaultMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    fail_system("{}: zlib cannot start: out of memory", file_.path());
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, deflateEnd);
  const std::uint64_t begin = file_.size();
  std::array<std::byte, std::size_t{1} << 15> out;
  const auto pump = [&](std::span<const std::byte> input, int flush) {
    stream.next_in = const_cast<Bytef*>(zlib_bytes(input));
    stream.avail_in = static_cast<uInt>(input.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = out.size();
      deflate(&stream, flush);
      file_.write(std::span<const std::byte>(out.data(), out.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  };
  constexpr std::size_t kMaxPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
  for (std::span<const std::byte> rest : {head, body}) {
    while (!rest.empty()) {
      const std::size_t piece = std::min(rest.size(), kMaxPiece);
      pump(rest.first(piece), Z_NO_FLUSH);
      rest = rest.subspan(piece);
    }
  }
  pump({}, Z_FINISH);
  return file_.size() - begin;
}

void ZipWriter::commit() {
  const std::uint64_t directory_offset = file_.size();
  for (const Entry& entry : entries_) {
    Packer wide;  // the 64-bit values of the fields that are full, in this order
    const auto narrow = [&](std::uint64_t value) -> std::uint64_t {
      if (value < kFull32 && !options_.force_zip64) {
        return value;
      }
      wide.u64(value);
      return kFull32;
    };
    const std::uint64_t size = narrow(entry.size);
    const std::uint64_t compressed_size = narrow(entry.compressed_size);
    const std::uint64_t offset = narrow(entry.offset);
    const std::size_t wide_size = wide.bytes().size();
    Packer central;
    central.u32(kCentralSignature).u16(kVersionZip64).u16(kVersionZip64);
    central.u16(kFlagUtf8 | (options_.deflate ? kFlagDescriptor : 0));
    central.u16(options_.deflate ? kMethodDeflated : kMethodStored).u16(kNoTime).u16(kNoDate);
    central.u32(entry.crc).u32(compressed_size).u32(size).u16(entry.name.size());
    central.u16(wide_size == 0 ? 0 : wide_size + 4).u16(0).u16(0).u16(0).u32(0).u32(offset).text(entry.name);
    if (wide_size != 0) {
      central.u16(kExtraZip64).u16(wide_size).text(wide.bytes());
    }
    file_.write(central.bytes());
  }
  const std::uint64_t end = file_.size();
  const std::uint64_t size = end - directory_offset;
  const bool large = entries_.size() >= kFull16 || end >= kFull32 || options_.force_zip64;
  if (large) {
    Packer end64;
    end64.u32(kEnd64Signature).u64(kEnd64Bytes - 12).u16(kVersionZip64).u16(kVersionZip64).u32(0).u32(0);
    end64.u64(entries_.size()).u64(entries_.size()).u64(size).u64(directory_offset);
    end64.u32(kLocator64Signature).u32(0).u64(end).u32(1);
    file_.write(end64.bytes());
  }
  const std::uint64_t count = large ? kFull16 : entries_.size();
  Packer last;
  last.u32(kEndSignature).u16(0).u16(0).u16(count).u16(count);
  last.u32(large ? kFull32 : size).u32(large ? kFull32 : directory_offset).u16(0);
  file_.write(last.bytes());
  file_.commit();
}

}  // namespace dissent
