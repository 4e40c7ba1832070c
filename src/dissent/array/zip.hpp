// ZIP archives, as far as NPZ needs them: stored and deflated members, zip64, no encryption, one disk.
//
// The directory at the end of the file is the truth; a member's own local header must agree with it. Members may not
// overlap, names may not repeat, and every offset is checked against the file before it is followed, so a hostile file
// costs no more than its own length. Reading works on bytes in memory (usually a mapped file) and hands out stored
// members where they lie; a general ZIP library would copy them. Writing streams through AtomicFile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/file.hpp"

namespace dissent {

struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;              // declared: true only once the data was read
  std::span<const std::byte> content;  // as in the file: `size` bytes, or their deflated form
  std::string refusal;                 // why it cannot be read (encrypted, unknown method); empty if it can
};

// The members in the order of the directory. `archive` must outlive them. InputError names `source` and what is wrong.
std::vector<ZipMember> parse_zip(std::span<const std::byte> archive, const std::string& source);

// Deflate cannot do better than this (258 bytes from 2 bits), so a member that declares more is lying.
inline constexpr std::uint64_t kMaxDeflateRatio = 1032;

// Inflates one member piece by piece, never beyond its declared size.
class Inflater {
 public:
  Inflater(const ZipMember& member, std::string source);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `out` completely; InputError when the data ends before that or is damaged.
  void read(std::span<std::byte> out);

  // After all `size` bytes were read: checks that the data ends there and that its checksum is right.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// InputError unless the CRC-32 of a stored member is the declared one. Releases the memory of `file`, if given, behind
// the reading.
void check_stored(const ZipMember& member, const MappedFile* file, const std::string& source);

struct ZipOptions {
  bool deflate = false;
  bool force_zip64 = false;  // 64-bit directory entries even where 32 bits would do
};

// The content of a stored member begins at a multiple of 64 bytes, so that a mapped array is aligned. Entries carry no
// time of day: the same content gives the same bytes.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path, ZipOptions options = {});

  // One member, its content given in two parts so that a header needs no copy of the data.
  void add(const std::string& name, std::span<const std::byte> head, std::span<const std::byte> body);

  // Writes the directory and makes the file appear.
  void commit();

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint64_t compressed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
  };

  void write_local_header(const Entry& entry);
  std::uint64_t write_deflated(std::span<const std::byte> head, std::span<const std::byte> body);

  AtomicFile file_;
  ZipOptions options_;
  std::vector<Entry> entries_;
};

}  // namespace dissent
