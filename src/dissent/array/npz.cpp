#include "dissent/array/npz.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::uint64_t half_of_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  return pages * page / 2;
}

// Memory that grows as data arrives. realloc moves large blocks by remapping their pages, so growing copies little.
class GrowingBytes {
 public:
  explicit GrowingBytes(const std::string& source) : source_(source) {}
  ~GrowingBytes() { std::free(data_); }
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;

  std::span<std::byte> bytes() const { return {data_, size_}; }

  // Makes room for `count` more bytes at the end and returns it.
  std::span<std::byte> extend(std::size_t count) {
    void* grown = std::realloc(data_, std::max<std::size_t>(size_ + count, 1));
    if (grown == nullptr) {
      fail_system("{}: out of memory: {} bytes are needed", source_, size_ + count);
    }
    data_ = static_cast<std::byte*>(grown);
    size_ += count;
    return {data_ + size_ - count, count};
  }

  std::shared_ptr<const std::byte> share() && {
    return std::shared_ptr<const std::byte>(std::exchange(data_, nullptr),
                                            [](const std::byte* data) { std::free(const_cast<std::byte*>(data)); });
  }

 private:
  const std::string& source_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

NpzFile::NpzFile(const std::string& path, NpzOptions options)
    : source_(path), options_(options), file_(std::make_shared<const MappedFile>(path)) {
  list_members(file_->bytes());
}

NpzFile::NpzFile(std::span<const std::byte> archive, const std::string& source, NpzOptions options)
    : source_(source), options_(options) {
  list_members(archive);
}

void NpzFile::list_members(std::span<const std::byte> archive) {
  if (options_.max_bytes == 0) {
    options_.max_bytes = half_of_memory();
  }
  const std::string_view text(reinterpret_cast<const char*>(archive.data()), archive.size());
  check_in(source_, !text.starts_with("\x93NUMPY"), "is a single NPY array, not an NPZ archive; name it .npy");
  for (ZipMember& member : parse_zip(archive, source_)) {
    if (member.name.size() > kSuffix.size() && member.name.ends_with(kSuffix)) {
      names_.push_back(member.name.substr(0, member.name.size() - kSuffix.size()));
      members_.push_back(std::move(member));
    }
  }
}

bool NpzFile::contains(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

NpyFile NpzFile::open(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  check_in(source_, found != names_.end(), "has no array '{}'; it has: {}", name,
           names_.empty() ? "none" : fmt::format("{}", fmt::join(names_, ", ")));
  const ZipMember& member = members_[static_cast<std::size_t>(found - names_.begin())];
  const std::string source = fmt::format("{}[{}]", source_, name);
  check_in(source, member.refusal.empty(), "{}", member.refusal);
  if (member.deflated) {
    return open_deflated(member, source);
  }
  NpyHeader header = parse_npy_header(member.content, member.content.size(), source);
  check_stored(member, file_.get(), source);
  return NpyFile(std::move(header), file_, member.content.data(), file_, source);
}

NpyFile NpzFile::open_deflated(const ZipMember& member, const std::string& source) const {
  check_in(source, member.size <= options_.max_bytes,
           "would take {} bytes of memory, the limit is {}; save it uncompressed "
           "(numpy.savez), so that it can be streamed",
           member.size, options_.max_bytes);
  Inflater inflater(member, source);
  GrowingBytes memory(source);
  inflater.read(memory.extend(std::min<std::size_t>(member.size, kMaxNpyHeaderBytes)));
  NpyHeader header = parse_npy_header(memory.bytes(), member.size, source);
  while (memory.bytes().size() < member.size) {
    const std::size_t now = memory.bytes().size();
    inflater.read(memory.extend(std::min<std::size_t>(now, member.size - now)));
  }
  inflater.finish();
  const std::shared_ptr<const std::byte> owner = std::move(memory).share();
  return NpyFile(std::move(header), owner, owner.get(), nullptr, source);
}

std::vector<std::pair<std::string, Array>> read_npz(const std::string& path, NpzOptions options) {
  const NpzFile file(path, options);
  std::vector<std::pair<std::string, Array>> arrays;
  for (const std::string& name : file.names()) {
    arrays.emplace_back(name, file.load(name));
  }
  return arrays;
}

void write_npz(const std::string& path, const std::vector<std::pair<std::string, ArrayView>>& arrays,
               ZipOptions options) {
  ZipWriter writer(path, options);
  for (const auto& [name, array] : arrays) {
    const std::string header = format_npy_header(array.dtype(), array.shape());
    writer.add(name + std::string(kSuffix), std::as_bytes(std::span(header)), array.bytes());
  }
  writer.commit();
}

}  // namespace dissent
