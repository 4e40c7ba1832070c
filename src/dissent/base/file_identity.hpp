// Whether two names mean the same file, however they lead there: `./a`, symbolic links, hard links.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace dissent {

// Identifies a file, whatever it is called.
struct FileIdentity {
  dev_t device;
  ino_t number;

  static FileIdentity of(const struct stat& info) { return {info.st_dev, info.st_ino}; }
  // Follows links; none if there is no file.
  static std::optional<FileIdentity> of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? std::optional(of(info)) : std::nullopt;
  }
  bool operator==(const FileIdentity&) const = default;
};

// For files that do not exist yet, compares where they would be.
inline bool same_file(const std::string& one, const std::string& other) {
  const std::optional<FileIdentity> first = FileIdentity::of(one);
  const std::optional<FileIdentity> second = FileIdentity::of(other);
  if (first && second) {
    return first == second;
  }
  std::error_code ignored;
  const auto full = [&](const std::string& path) {  // absolute, since a bare name has no existing part to resolve
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return full(one) == full(other);
}

}  // namespace dissent
