// A disk that is full: while an object of this class lives, no file of this process may grow beyond `bytes`.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <cstddef>

namespace dissent {

class FullDisk {
 public:
  explicit FullDisk(std::size_t bytes) {
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);  // else the process is killed instead of told
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int) = nullptr;
};

}  // namespace dissent
