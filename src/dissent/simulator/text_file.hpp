// A whole text file as a string; InputError as for MappedFile: missing, a directory, not readable.
#pragma once

#include <string>
#include <string_view>

#include "dissent/base/file.hpp"

namespace dissent {

inline std::string read_text(const std::string& path) {
  const MappedFile file(path);
  return std::string(std::string_view(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()));
}

}  // namespace dissent
