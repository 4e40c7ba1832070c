// Data given by name: files embedded in the library, namely robot models (data/models) and trained policies
// (data/policies); and words that are either a name from a list or the path of a file.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"

namespace dissent {

// Generated at configure time (cmake/embed.cmake). Unknown names give an empty view.
std::string_view embedded_model(std::string_view environment);
std::string_view embedded_policy(std::string_view environment);

// True for a path, which contains a '.' or a '/'; false for one of `known`. Anything else is an InputError: it says how
// to write the path if a file of that name exists, else it suggests the nearest name.
inline bool is_path(std::string_view what, std::string_view text, const std::vector<std::string>& known) {
  if (text.find_first_of("./") != std::string_view::npos) {
    return true;
  }
  const bool is_known = std::find(known.begin(), known.end(), text) != known.end();
  std::error_code ignored;
  check(is_known || !std::filesystem::exists(text, ignored),
        "{} '{}' is not known; a file is given with its folder: ./{}", what, text, text);
  check_name(what, text, known);
  return false;
}

// A whole text file; InputError as for MappedFile: missing, a directory, not readable.
inline std::string read_text(const std::string& path) {
  const MappedFile file(path);
  return std::string(std::string_view(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()));
}

}  // namespace dissent
