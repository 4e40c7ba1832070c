// One process at a time in a directory, and always the same directory: a lock, and a watch over what the path names.
//
// The directory stays open while it is held. It is locked itself (flock), and so is a file `lock` in it, for file
// systems that cannot lock directories and for earlier versions, which lock only that file. The death of the process
// releases both. A forked child does not hold the directory, but if its parent dies without letting go, it keeps others
// out as long as it lives.
#pragma once

#include <string>

#include "dissent/base/file_identity.hpp"

namespace dissent {

class DirectoryHold {
 public:
  // InputError if another process, or this one, holds the directory, or `lock` in it is not a regular file.
  explicit DirectoryHold(std::string path);
  ~DirectoryHold();
  DirectoryHold(const DirectoryHold&) = delete;
  DirectoryHold& operator=(const DirectoryHold&) = delete;

  // Call before each write. InputError in a forked child. SystemError if the path now leads to another directory or to
  // none, so that we would write into somebody else's, or if the lock is gone, so that somebody else may write here.
  void check() const;

 private:
  void lock_directory() const;
  void lock_file();
  [[noreturn]] void fail_occupied() const;

  std::string path_;
  int process_;
  int directory_ = -1;
  int lock_ = -1;
  FileIdentity directory_identity_{};
  FileIdentity lock_identity_{};
};

}  // namespace dissent
