#include "dissent/loop/directory_hold.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "dissent/base/check_in.hpp"

namespace dissent {
namespace {

constexpr const char* kLock = "lock";
constexpr const char* kOccupied = "another process is at work on this campaign; wait for its end, or stop it";

void close_if_open(int& descriptor) noexcept {
  if (descriptor >= 0) {
    ::close(std::exchange(descriptor, -1));
  }
}

}  // namespace

DirectoryHold::DirectoryHold(std::string path) : path_(std::move(path)) {
  try {
    directory_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat info {};
    if (directory_ < 0 || ::fstat(directory_, &info) != 0) {
      fail_system("{}: cannot be opened: {}", path_, std::strerror(errno));
    }
    directory_identity_ = FileIdentity::of(info);
    lock_directory();
    lock_file();
    check();
  } catch (...) {
    close_if_open(lock_);
    close_if_open(directory_);
    throw;
  }
}

DirectoryHold::~DirectoryHold() {
  close_if_open(lock_);
  close_if_open(directory_);
}

// If directories cannot be locked, as on some network file systems, the file in it must do.
void DirectoryHold::lock_directory() const {
  check_in(path_, ::flock(directory_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK, "{}", kOccupied);
}

void DirectoryHold::lock_file() {
  const std::string name = path_ + "/" + kLock;
  // O_NONBLOCK: a pipe in its place must not make anybody wait.
  lock_ = ::openat(directory_, kLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  check_in(name, lock_ >= 0 || (errno != ELOOP && errno != EISDIR && errno != ENXIO),
           "is not a regular file; remove it while no process is at work on this campaign");
  struct stat info {};
  if (lock_ < 0 || ::fstat(lock_, &info) != 0) {
    fail_system("{}: cannot be created: {}", name, std::strerror(errno));
  }
  check_in(name, S_ISREG(info.st_mode),
           "is not a regular file; remove it while no process is at work on this campaign");
  lock_identity_ = FileIdentity::of(info);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    check_in(path_, errno != EWOULDBLOCK, "{}", kOccupied);
    fail_system("{}: cannot be locked: {}", name, std::strerror(errno));
  }
}

void DirectoryHold::check() const {
  if (FileIdentity::of(path_) != directory_identity_) {
    fail_system(
        "{}: the campaign's directory was moved, removed or replaced while a process was at work on it; nothing more "
        "is written, and what was saved before is where the directory is now",
        path_);
  }
  struct stat info {};
  if (::fstatat(directory_, kLock, &info, AT_SYMLINK_NOFOLLOW) != 0 || FileIdentity::of(info) != lock_identity_) {
    fail_system(
        "{}/{}: was removed or replaced while a process was at work on the campaign, so another may be at work on it "
        "too; nothing more is written, and what was saved before stays",
        path_, kLock);
  }
}

}  // namespace dissent
