// What a file seems to hold, by its first bytes, whatever its name says.
#pragma once

#include <string>
#include <string_view>

namespace dissent {

enum class FileKind { kMissing, kUnreadable, kFolder, kEmpty, kText, kGzip, kSqlite, kSafetensors, kOther, kUnknown };

struct FileLook {
  FileKind kind = FileKind::kMissing;
  std::string_view name;  // with its article, for messages: "a PNG picture"; empty if there is no file
};

FileLook look_at_file(const std::string& path);

// Whether it is of a known kind other than safetensors: a text, a picture, a folder. A damaged, empty or unknown file
// is left to its reader, which can say more.
bool is_other_than_safetensors(const FileLook& look);

}  // namespace dissent
