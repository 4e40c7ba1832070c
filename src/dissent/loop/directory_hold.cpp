#include "dissent/loop/directory_hold.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr const char* kLock = "lock";
// The directories that this process holds, so as not to blame another. A forked child has those of its parent here too.
class OwnHolds {
 public:
  void add(const FileIdentity& directory) {
    const std::lock_guard lock(mutex_);
    held_.emplace_back(directory, ::getpid());
  }
  void remove(const FileIdentity& directory) {
    const std::lock_guard lock(mutex_);
    if (const auto found = find(directory); found != held_.end()) {
      held_.erase(found);
    }
  }
  bool contains(const FileIdentity& directory) {
    const std::lock_guard lock(mutex_);
    return find(directory) != held_.end();
  }

 private:
  std::vector<std::pair<FileIdentity, pid_t>>::iterator find(const FileIdentity& directory) {
    return std::ranges::find(held_, std::pair(directory, ::getpid()));
  }

  std::mutex mutex_;
  std::vector<std::pair<FileIdentity, pid_t>> held_;
};

OwnHolds& own_holds() {
  static OwnHolds& holds = *new OwnHolds;  // holds may go after static objects
  return holds;
}

void close_if_open(int& descriptor) noexcept {
  if (descriptor >= 0) {
    ::close(std::exchange(descriptor, -1));
  }
}

}  // namespace

DirectoryHold::DirectoryHold(std::string path) : path_(std::move(path)), process_(::getpid()) {
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
    own_holds().add(directory_identity_);
  } catch (...) {
    close_if_open(lock_);
    close_if_open(directory_);
    throw;
  }
}

DirectoryHold::~DirectoryHold() {
  if (::getpid() == process_) {  // a forked child has the locks too, and must leave them alone
    own_holds().remove(directory_identity_);
    ::flock(lock_, LOCK_UN);
    ::flock(directory_, LOCK_UN);
  }
  close_if_open(lock_);
  close_if_open(directory_);
}

// If directories cannot be locked, as on some network file systems, the file in it must do.
void DirectoryHold::lock_directory() const {
  if (::flock(directory_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail_occupied();
  }
}

void DirectoryHold::fail_occupied() const {
  throw InputError(Fault{.source = path_,
                         .rule = own_holds().contains(directory_identity_)
                                     ? "this process has the campaign open already; close it there first"
                                     : "another process is at work on this campaign; wait for its end, or stop it"});
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
    if (errno == EWOULDBLOCK) {
      fail_occupied();
    }
    fail_system("{}: cannot be locked: {}", name, std::strerror(errno));
  }
}

void DirectoryHold::check() const {
  check_in(path_, ::getpid() == process_,
           "the campaign was opened by the process that this one was forked from; open it here, after that one has "
           "closed it");
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
