#include "dissent/base/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

std::string parent_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

// What follows the last slash.
const char* last_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

// A temporary beside `target`: hidden, unique in this process, and short enough for any file system.
std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  const std::string name = last_name(target);
  const std::string directory = target.substr(0, target.size() - name.size());
  return fmt::format("{}.{}.{}-{}.tmp", directory, name.substr(0, 200), ::getpid(), counter++);
}

// The names that remove_temporary_files() finds, in a table that a signal handler may read: plain memory, never moved.
// A file beyond the table's end is merely not found.
struct TemporarySlot {
  std::atomic<bool> taken{false};
  std::atomic<bool> valid{false};
  char name[4096];
};
constexpr std::size_t kNumSlots = 16;
TemporarySlot temporary_slots[kNumSlots];

TemporarySlot* note_temporary(const std::string& name) noexcept {
  for (TemporarySlot& slot : temporary_slots) {
    if (name.size() < sizeof(slot.name) && !slot.taken.exchange(true)) {
      std::memcpy(slot.name, name.c_str(), name.size() + 1);
      slot.valid = true;
      return &slot;
    }
  }
  return nullptr;
}

void forget_temporary(TemporarySlot* slot) noexcept {
  if (slot != nullptr) {
    slot->valid = false;
    slot->taken = false;
  }
}

int open_parent(const std::string& path, const std::string& target) {
  const std::string parent = parent_directory(target);
  const int descriptor = ::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat info {};
  if (descriptor < 0 && ::stat(parent.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
    fail_system("{}: cannot be written: '{}' is not a directory", path, parent);
  }
  if (descriptor < 0) {
    fail_system("{}: cannot be written: directory '{}': {}; create it first", path, parent, std::strerror(errno));
  }
  return descriptor;
}

// A file system that cannot sync (a pipe, some network mounts) answers with these errors; no data is lost.
bool sync_refused(int error) { return error == EINVAL || error == ENOTSUP || error == EROFS; }

}  // namespace

struct AtomicFile::State {
  std::string path;       // as the caller wrote it, for messages
  std::string target;     // symbolic links resolved
  std::string temporary;  // empty when writing straight to a device or pipe
  TemporarySlot* slot = nullptr;
  std::string buffer;
  std::uint64_t size = 0;
  int descriptor = -1;
  int directory = -1;  // of the target: a file begun in one is not finished in another that took its name

  ~State() { discard(); }

  void open() {
    check(!path.empty(), "AtomicFile: the file name is empty");
    check(path.back() != '/', "{}: cannot be written: names a directory; give a file name", path);
    target = path;
    struct stat info {};
    const bool exists = ::stat(path.c_str(), &info) == 0;
    if (!exists) {
      check(errno != ENAMETOOLONG, "{}: cannot be written: {}", path, std::strerror(errno));
      if (errno != ENOENT && errno != ENOTDIR) {
        fail_system("{}: cannot be written: {}", path, std::strerror(errno));
      }
    } else if (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode)) {
      descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor < 0) {
        fail_system("{}: cannot be opened for writing: {}", path, std::strerror(errno));
      }
      return;
    } else {
      check(!S_ISDIR(info.st_mode), "{}: cannot be written: is a directory; give a file name", path);
      check(S_ISREG(info.st_mode), "{}: cannot be written: is not a regular file", path);
      if (char* resolved = ::realpath(path.c_str(), nullptr)) {
        target = resolved;
        std::free(resolved);
      }
    }
    directory = open_parent(path, target);
    do {
      forget_temporary(slot);
      temporary = temporary_name(target);
      slot = note_temporary(temporary);  // before it exists, so that it is never missed
      descriptor = ::openat(directory, last_name(temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST);
    if (descriptor < 0) {
      temporary.clear();
      forget_temporary(std::exchange(slot, nullptr));
      fail_system("{}: cannot be created: {}", path, std::strerror(errno));
    }
    if (exists) {
      // Best effort: an owner other than us may forbid it, and the content matters more than the mode.
      [[maybe_unused]] const int ignored = ::fchmod(descriptor, info.st_mode & 07777);
    }
  }

  void discard() noexcept {
    if (descriptor >= 0) {
      ::close(std::exchange(descriptor, -1));
    }
    if (!temporary.empty()) {
      ::unlinkat(directory, last_name(temporary), 0);
      temporary.clear();
    }
    if (directory >= 0) {
      ::close(std::exchange(directory, -1));
    }
    forget_temporary(std::exchange(slot, nullptr));
  }

  [[noreturn]] void give_up(const char* what, int error) {
    discard();
    fail_system("{}: {} failed: {}", path, what, std::strerror(error));
  }

  void check_open() const {
    if (descriptor < 0) {
      fail_system("{}: is closed; an earlier write failed or it was already committed", path);
    }
  }

  void put(const char* data, std::size_t count) {
    while (count > 0) {
      // One call moves at most about 2 GiB on Linux; smaller pieces keep the arithmetic plain everywhere.
      const ssize_t written = ::write(descriptor, data, std::min(count, std::size_t{1} << 30));
      if (written < 0) {
        if (errno == EINTR) {
          continue;
        }
        give_up("write", errno);
      }
      data += written;
      count -= static_cast<std::size_t>(written);
    }
  }

  void flush() {
    put(buffer.data(), buffer.size());
    buffer.clear();
  }
};

AtomicFile::AtomicFile(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->open();
}

AtomicFile::~AtomicFile() = default;
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;

const std::string& AtomicFile::path() const { return state_->path; }
std::uint64_t AtomicFile::size() const { return state_->size; }

void AtomicFile::write(std::span<const std::byte> bytes) {
  State& state = *state_;
  state.check_open();
  const char* data = reinterpret_cast<const char*>(bytes.data());
  if (state.buffer.size() + bytes.size() > kBufferBytes) {
    state.flush();
  }
  if (bytes.size() >= kBufferBytes) {
    state.put(data, bytes.size());
  } else {
    state.buffer.append(data, bytes.size());
  }
  state.size += bytes.size();
}

void AtomicFile::commit() {
  State& state = *state_;
  state.check_open();
  state.flush();
  const bool in_place = state.temporary.empty();
  if (!in_place && ::fsync(state.descriptor) != 0 && !sync_refused(errno)) {
    state.give_up("fsync", errno);
  }
  if (::close(std::exchange(state.descriptor, -1)) != 0 && errno != EINTR) {
    state.give_up("close", errno);
  }
  if (in_place) {
    return;
  }
  if (::renameat(state.directory, last_name(state.temporary), state.directory, last_name(state.target)) != 0) {
    state.give_up("rename", errno);
  }
  state.temporary.clear();
  forget_temporary(std::exchange(state.slot, nullptr));
  // Makes the rename itself survive a power cut. The file is already whole, so a refusal here is no error.
  const int directory = ::openat(state.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void remove_temporary_files() noexcept {
  for (const TemporarySlot& slot : temporary_slots) {
    if (slot.valid) {
      ::unlink(slot.name);
    }
  }
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must end in an error below, not wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  check(descriptor >= 0, "{}: cannot be read: {}", path, std::strerror(errno));
  struct stat info {};
  int error = ::fstat(descriptor, &info) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    size_ = static_cast<std::size_t>(info.st_size);
    void* mapping = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    error = mapping == MAP_FAILED ? errno : 0;
    data_ = error == 0 ? static_cast<const std::byte*>(mapping) : nullptr;
  }
  ::close(descriptor);
  if (error != 0) {
    fail_system("{}: cannot be mapped into memory: {}", path, std::strerror(error));
  }
  check(!S_ISDIR(info.st_mode), "{}: cannot be read: is a directory; give a file name", path);
  check(S_ISREG(info.st_mode),
        "{}: cannot be read: is not a regular file (a pipe or device cannot be mapped); "
        "write it to a file first",
        path);
  if (size_ > 0) {
    ::madvise(const_cast<std::byte*>(data_), size_, MADV_SEQUENTIAL);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::release(std::size_t begin, std::size_t end) const {
  static const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  end = end >= size_ ? size_ : end / page * page;
  if (begin < end) {
    ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
  }
}

}  // namespace dissent
