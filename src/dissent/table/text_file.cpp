#include "dissent/table/text_file.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr int kGzipWindow = 15 + 16;  // gzip's header, and no other

struct Stream {
  z_stream z{};

  explicit Stream(const std::string& source) {
    if (inflateInit2(&z, kGzipWindow) != Z_OK) {
      fail_system("{}: cannot be unpacked: no memory", source);
    }
  }
  ~Stream() { inflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::string unpack_gzip(std::span<const std::byte> packed, const std::string& source, std::uint64_t most_bytes) {
  check_in(source, is_gzip(packed), "is not packed by gzip, which its name says");
  std::string text;
  std::string block(kBlock, '\0');
  Stream stream(source);
  while (!packed.empty()) {
    const std::size_t given = std::min<std::size_t>(packed.size(), std::numeric_limits<uInt>::max());
    // zlib declares its input writable but never writes to it.
    stream.z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    stream.z.avail_in = static_cast<uInt>(given);
    stream.z.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.z.avail_out = static_cast<uInt>(block.size());
    const int result = inflate(&stream.z, Z_NO_FLUSH);
    check_in(source, result == Z_OK || result == Z_STREAM_END, "is damaged: gzip cannot unpack it");
    packed = packed.subspan(given - stream.z.avail_in);
    text.append(block, 0, block.size() - stream.z.avail_out);
    check_in(source, text.size() <= most_bytes, "holds more than {} bytes when unpacked; unpack it first", most_bytes);
    if (result == Z_STREAM_END) {
      if (!is_gzip(packed)) {  // padding, or the end
        check_in(source, std::ranges::all_of(packed, [](std::byte byte) { return byte == std::byte{0}; }),
                 "has {} bytes behind what gzip packed; it is damaged, or two files in one", packed.size());
        return text;
      }
      inflateReset(&stream.z);
    }
  }
  // What zlib still holds back.
  while (true) {
    stream.z.avail_in = 0;
    stream.z.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.z.avail_out = static_cast<uInt>(block.size());
    const int result = inflate(&stream.z, Z_NO_FLUSH);
    text.append(block, 0, block.size() - stream.z.avail_out);
    check_in(source, text.size() <= most_bytes, "holds more than {} bytes when unpacked; unpack it first", most_bytes);
    if (result == Z_STREAM_END) {
      return text;
    }
    check_in(source, result == Z_OK, "is cut short: gzip's end is missing");
  }
}

std::string pack_gzip(std::string_view text) {
  z_stream z{};
  constexpr int kUsualMemory = 8;
  if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, kUsualMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    fail_system("a table cannot be packed: no memory");
  }
  std::string packed;
  std::string block(kBlock, '\0');
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t given = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(given);
    z.next_out = reinterpret_cast<Bytef*>(block.data());
    z.avail_out = static_cast<uInt>(block.size());
    result = deflate(&z, given == text.size() ? Z_FINISH : Z_NO_FLUSH);
    text.remove_prefix(given - z.avail_in);
    packed.append(block, 0, block.size() - z.avail_out);
  }
  deflateEnd(&z);
  return packed;
}

std::string read_standard_input() {
  const std::string source = "standard input";
  check_in(source, ::isatty(STDIN_FILENO) == 0, "a table is awaited there; '< FILE' or '|' brings one");
  std::string text;
  std::array<char, kBlock> block;
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      fail_system("{}: cannot be read: {}", source, std::strerror(errno));
    }
    if (count == 0) {
      break;
    }
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  const auto bytes = std::as_bytes(std::span(text));
  return is_gzip(bytes) ? unpack_gzip(bytes, source) : text;
}

}  // namespace dissent
