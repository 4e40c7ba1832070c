// Whether two names are of one file, by whatever way they lead there: `./a`, symbolic links, hard links.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace dissent {

// What a file is, whatever it is called.
struct FileIdentity {
  dev_t device;
  ino_t number;

  static FileIdentity of(const struct stat& info) { return {info.st_dev, info.st_ino}; }
  // Links are followed; none when there is nothing.
  static std::optional<FileIdentity> of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? std::optional(of(info)) : std::nullopt;
  }
  bool operator==(const FileIdentity&) const = default;
};

// Of files that are not there yet, the places are compared where they would be.
inline bool same_file(const std::string& one, const std::string& other) {
  const std::optional<FileIdentity> first = FileIdentity::of(one);
  const std::optional<FileIdentity> second = FileIdentity::of(other);
  if (first && second) {
    return first == second;
  }
  std::error_code ignored;
  const auto full = [&](const std::string& path) {  // absolute, for a name alone has no existing part to resolve
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return full(one) == full(other);
}

}  // namespace dissent
