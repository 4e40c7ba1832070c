// Files in and out, safely: AtomicFile appears whole or not at all, MappedFile reads without copying.
//
// Both are plain owners of a resource: movable, not copyable, and every failure names the file and the reason.
// Hazard: if another program truncates a file while it is mapped, touching the lost part kills the process (SIGBUS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dissent {

// Writes to a temporary name beside the target and renames it over the target on commit(), after an fsync; a reader of
// the target sees the old file or the whole new one. Without commit() the temporary is removed and the target
// untouched.
//
// An existing file keeps its permissions, and a symbolic link stays a link (what it points at is replaced). A device or
// a pipe (/dev/stdout, /dev/null) cannot be replaced by renaming, so it is written in place, without the guarantee.
//
// InputError:  the path is empty, too long, or names a directory.
// SystemError: the file cannot be created (no such directory, no permission), or a write fails (disk full). Nothing is
//              left behind, and the object is spent: a further write() or commit() fails again.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Once; the file is closed afterwards.
  void commit();

  const std::string& path() const;
  std::uint64_t size() const;  // bytes written so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Removes the temporaries of all open AtomicFiles, for a process that a signal is about to end; may be called from a
// signal handler. A later commit() fails.
void remove_temporary_files() noexcept;

// A regular file mapped read-only into memory, for reading front to back. An empty file gives empty bytes().
// InputError: missing, a directory, not a regular file (a pipe cannot be mapped), or not readable.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  // Gives the memory of bytes [begin, end) back: they stay readable, from the file again. Called behind a reader it
  // keeps resident memory constant on a file of any length. The page that holds `end` is kept (the reader is still in
  // it), so ranges that follow each other give back every page. Safe to call from several threads.
  void release(std::size_t begin, std::size_t end) const;

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dissent
