#include <zlib.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "dissent/array/zip.hpp"
#include "dissent/array/zip_format.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

using namespace zip_format;

// Little-endian fields of a record whose bounds were checked when it was cut out of the file.
class Record {
 public:
  explicit Record(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(get(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(get(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return get(at, 8); }
  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> part(std::size_t at, std::size_t count) const { return bytes_.subspan(at, count); }

 private:
  std::uint64_t get(std::size_t at, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t k = count; k-- > 0;) {
      value = value << 8 | static_cast<std::uint64_t>(bytes_[at + k]);
    }
    return value;
  }
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t num_members = 0;
  std::uint64_t end = 0;  // where the end record (or its zip64 form) begins
};

struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
  const std::string* name;
};

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class Reader {
 public:
  Reader(std::span<const std::byte> archive, const std::string& source) : archive_(archive), source_(source) {}

  std::vector<ZipMember> read() {
    const Directory directory = find_directory();
    check_in(source_, directory.offset <= directory.end && directory.size == directory.end - directory.offset,
             "ZIP directory is damaged: {} bytes at {} do not end at {}, where the end record is; the file may be "
             "truncated",
             directory.size, directory.offset, directory.end);
    check_in(source_, directory.num_members <= directory.size / kCentralBytes,
             "ZIP directory is damaged: {} bytes cannot hold {} members", directory.size, directory.num_members);
    data_end_ = directory.offset;
    std::vector<ZipMember> members;
    members.reserve(directory.num_members);
    std::vector<Extent> extents;
    std::unordered_set<std::string> names;
    std::uint64_t at = directory.offset;
    for (std::uint64_t k = 0; k < directory.num_members; ++k) {
      Extent extent{};
      members.push_back(read_member(at, directory.end, extent));
      extent.name = &members.back().name;
      extents.push_back(extent);
      check_in(source_, names.insert(members.back().name).second, "ZIP member '{}' occurs twice", members.back().name);
    }
    check_in(source_, at == directory.end, "ZIP directory is damaged: it goes on after its {} members",
             directory.num_members);
    check_overlap(extents);
    return members;
  }

 private:
  Record record(std::uint64_t at, std::uint64_t size, std::uint64_t limit, std::string_view what) const {
    check_in(source_, at <= limit && size <= limit - at,
             "ZIP {} at byte {} reaches beyond byte {}; the file is damaged or "
             "truncated",
             what, at, limit);
    return Record(archive_.subspan(at, size));
  }

  // The end record comes last, followed by at most a comment whose length it states.
  Directory find_directory() const {
    check_in(source_, !archive_.empty(), "is empty; a ZIP archive was expected");
    check_in(source_, archive_.size() >= kEndBytes, "is not a ZIP archive (too short)");
    const std::uint64_t last = archive_.size() - kEndBytes;
    const std::uint64_t first = last > kFull16 ? last - kFull16 : 0;
    for (std::uint64_t at = last + 1; at-- > first;) {
      const Record end(archive_.subspan(at, kEndBytes));
      if (end.u32(0) == kEndSignature && end.u16(20) == last - at) {
        return read_end(end, at);
      }
    }
    fail_in(source_, "is not a ZIP archive, or is truncated (no end record)");
  }

  Directory read_end(const Record& end, std::uint64_t at) const {
    Directory directory{end.u32(16), end.u32(12), end.u16(10), at};
    std::uint64_t disks = end.u16(4) | end.u16(6);
    const bool full = directory.offset == kFull32 || directory.size == kFull32 || directory.num_members == kFull16;
    const bool located =
        at >= kLocator64Bytes && Record(archive_.subspan(at - kLocator64Bytes)).u32(0) == kLocator64Signature;
    if (full && located) {
      const Record locator(archive_.subspan(at - kLocator64Bytes, kLocator64Bytes));
      directory.end = locator.u64(8);
      const Record end64 = record(directory.end, kEnd64Bytes, at - kLocator64Bytes, "zip64 end record");
      check_in(source_, end64.u32(0) == kEnd64Signature, "zip64 end record is missing at byte {}", directory.end);
      directory.num_members = end64.u64(32);
      directory.size = end64.u64(40);
      directory.offset = end64.u64(48);
      disks = end64.u32(16) | end64.u32(20) | locator.u32(4);
    }
    check_in(source_, disks == 0, "is one part of a ZIP archive split over several files; join them first");
    return directory;
  }

  // Reads the directory entry at `at` and moves `at` past it.
  ZipMember read_member(std::uint64_t& at, std::uint64_t limit, Extent& extent) const {
    const Record entry = record(at, kCentralBytes, limit, "directory entry");
    check_in(source_, entry.u32(0) == kCentralSignature, "ZIP directory is damaged at byte {}", at);
    const std::uint16_t flags = entry.u16(8);
    const std::uint16_t method = entry.u16(10);
    const std::size_t name_size = entry.u16(28);
    const std::size_t extra_size = entry.u16(30);
    const Record tail = record(at + kCentralBytes, name_size + extra_size + entry.u16(32), limit, "directory entry");
    at += kCentralBytes + tail.size();

    ZipMember member;
    member.name = text_of(tail.part(0, name_size));
    check_in(source_, !member.name.empty() && member.name.find('\0') == std::string::npos,
             "ZIP directory is damaged: a member's name is empty or holds a zero byte");
    member.crc = entry.u32(16);
    member.deflated = method == kMethodDeflated;
    std::uint64_t content_size = entry.u32(20);
    std::uint64_t offset = entry.u32(42);
    member.size = entry.u32(24);
    read_zip64(Record(tail.part(name_size, extra_size)), member.name, {&member.size, &content_size, &offset});

    if ((flags & (kFlagEncrypted | kFlagMasked)) != 0) {
      member.refusal = "is encrypted; save it without a password";
    } else if (method != kMethodStored && method != kMethodDeflated) {
      member.refusal = fmt::format("is compressed by method {}; stored and deflated members are read", method);
    }
    extent.begin = offset;
    member.content = find_content(member, method, offset, content_size);
    extent.end = static_cast<std::uint64_t>(member.content.data() - archive_.data()) + content_size;
    check_in(source_, method != kMethodStored || !member.refusal.empty() || member.size == content_size,
             "ZIP member '{}' is stored in {} bytes but declares {}", member.name, content_size, member.size);
    check_in(source_, !member.deflated || member.size / kMaxDeflateRatio <= content_size,
             "ZIP member '{}' declares {} bytes; {} deflated bytes cannot hold that many", member.name, member.size,
             content_size);
    return member;
  }

  // Replaces the fields that are full with their 64-bit values, which come in this order.
  void read_zip64(const Record& extra, const std::string& name, std::initializer_list<std::uint64_t*> fields) const {
    for (std::size_t at = 0; at + 4 <= extra.size();) {
      const std::size_t size = extra.u16(at + 2);
      const std::size_t begin = at + 4;
      at = begin + size;
      if (extra.u16(begin - 4) != kExtraZip64 || at > extra.size()) {
        continue;
      }
      std::size_t next = begin;
      for (std::uint64_t* field : fields) {
        if (*field == kFull32) {
          check_in(source_, next + 8 <= at, "zip64 sizes of ZIP member '{}' are cut short", name);
          *field = extra.u64(next);
          next += 8;
        }
      }
      return;
    }
  }

  std::span<const std::byte> find_content(const ZipMember& member, std::uint16_t method, std::uint64_t offset,
                                          std::uint64_t content_size) const {
    const Record local = record(offset, kLocalBytes, data_end_, "member");
    check_in(source_, local.u32(0) == kLocalSignature,
             "ZIP member '{}' does not begin at byte {}, as the directory says", member.name, offset);
    const std::size_t name_size = local.u16(26);
    const Record name = record(offset + kLocalBytes, name_size + local.u16(28), data_end_, "member");
    check_in(source_, text_of(name.part(0, name_size)) == member.name && local.u16(8) == method,
             "ZIP member '{}' has another name or method in its own header than in the directory", member.name);
    const std::uint64_t begin = offset + kLocalBytes + name.size();
    check_in(source_, content_size <= data_end_ - begin,
             "ZIP member '{}' is truncated: {} bytes at {} reach beyond byte {}", member.name, content_size, begin,
             data_end_);
    return archive_.subspan(begin, content_size);
  }

  // Members that share bytes are how a small archive unpacks to a huge one.
  void check_overlap(std::vector<Extent>& extents) const {
    std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (std::size_t k = 1; k < extents.size(); ++k) {
      check_in(source_, extents[k - 1].end <= extents[k].begin, "ZIP members '{}' and '{}' overlap",
               *extents[k - 1].name, *extents[k].name);
    }
  }

  std::span<const std::byte> archive_;
  const std::string& source_;
  std::uint64_t data_end_ = 0;
};

}  // namespace

std::vector<ZipMember> parse_zip(std::span<const std::byte> archive, const std::string& source) {
  return Reader(archive, source).read();
}

struct Inflater::State {
  std::string source;
  std::span<const std::byte> input;  // not yet given to zlib
  std::uint32_t expected_crc = 0;
  std::uint32_t crc = 0;
  z_stream stream{};
};

Inflater::Inflater(const ZipMember& member, std::string source) : state_(std::make_unique<State>()) {
  state_->source = std::move(source);
  state_->input = member.content;
  state_->expected_crc = member.crc;
  if (inflateInit2(&state_->stream, -MAX_WBITS) != Z_OK) {
    fail_system("{}: zlib cannot start: out of memory", state_->source);
  }
}

Inflater::~Inflater() { inflateEnd(&state_->stream); }

namespace {

constexpr std::size_t kMaxPiece = std::size_t{1} << 30;  // zlib counts in 32 bits

// Advances the stream by one call: at most `room` bytes out.
int inflate_some(z_stream& stream, std::span<const std::byte>& input, std::byte* out, std::size_t room) {
  const std::size_t piece = std::min(input.size(), kMaxPiece);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
  stream.avail_in = static_cast<uInt>(piece);
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(std::min(room, kMaxPiece));
  const int status = inflate(&stream, Z_NO_FLUSH);
  input = input.subspan(piece - stream.avail_in);
  return status;
}

}  // namespace

void Inflater::read(std::span<std::byte> out) {
  State& state = *state_;
  std::byte* at = out.data();
  std::byte* const end = at + out.size();
  while (at < end) {
    const int status = inflate_some(state.stream, state.input, at, static_cast<std::size_t>(end - at));
    std::byte* const now = reinterpret_cast<std::byte*>(state.stream.next_out);
    state.crc = static_cast<std::uint32_t>(
        crc32_z(state.crc, reinterpret_cast<const Bytef*>(at), static_cast<std::size_t>(now - at)));
    at = now;
    if (status == Z_MEM_ERROR) {
      fail_system("{}: zlib is out of memory", state.source);
    }
    check_in(state.source, status == Z_OK || (status == Z_STREAM_END && at == end),
             "deflated data is damaged or shorter than its declared size ({})",
             state.stream.msg != nullptr ? state.stream.msg : "ends too early");
  }
}

void Inflater::finish() {
  State& state = *state_;
  std::byte beyond;
  const int status = inflate_some(state.stream, state.input, &beyond, 1);
  const bool produced = state.stream.avail_out == 0;
  check_in(state.source, !produced && status == Z_STREAM_END && state.input.empty(),
           "deflated data goes on beyond its declared size");
  check_in(state.source, state.crc == state.expected_crc,
           "checksum (CRC-32) is 0x{:08x}, but 0x{:08x} is declared; the file is "
           "damaged",
           state.crc, state.expected_crc);
}

void check_stored(const ZipMember& member, const MappedFile* file, const std::string& source) {
  constexpr std::size_t kPiece = std::size_t{1} << 22;
  uLong crc = 0;
  for (std::size_t at = 0; at < member.content.size(); at += kPiece) {
    const std::span<const std::byte> piece = member.content.subspan(at, std::min(kPiece, member.content.size() - at));
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    if (file != nullptr) {
      const std::size_t begin = static_cast<std::size_t>(piece.data() - file->bytes().data());
      file->release(begin, begin + piece.size());
    }
  }
  check_in(source, crc == member.crc, "checksum (CRC-32) is 0x{:08x}, but 0x{:08x} is declared; the file is damaged",
           crc, member.crc);
}

}  // namespace dissent
