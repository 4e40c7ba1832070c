// One process at a time in a directory, and always the same directory: a lock, and a watch over what the path names.
//
// The directory stays open while it is held. It is locked itself (flock), and so is a file `lock` in it, for file
// systems that lock no directories and for earlier versions, which knew that file alone. The death of the process
// releases both.
#pragma once

#include <string>

#include "dissent/base/file_identity.hpp"

namespace dissent {

class DirectoryHold {
 public:
  // InputError when another process holds the directory, or `lock` in it is no regular file.
  explicit DirectoryHold(std::string path);
  ~DirectoryHold();
  DirectoryHold(const DirectoryHold&) = delete;
  DirectoryHold& operator=(const DirectoryHold&) = delete;

  // To be asked before each write. SystemError when the path now leads to another directory or to none, so that what is
  // written would reach somebody else's, or when the lock is gone, so that somebody else may write here.
  void check() const;

 private:
  void lock_directory() const;
  void lock_file();

  std::string path_;
  int directory_ = -1;
  int lock_ = -1;
  FileIdentity directory_identity_{};
  FileIdentity lock_identity_{};
};

}  // namespace dissent
