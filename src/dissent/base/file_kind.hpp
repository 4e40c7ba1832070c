// What a file seems to hold, by its first bytes: whatever its name says.
#pragma once

#include <string>
#include <string_view>

namespace dissent {

enum class FileKind { kMissing, kUnreadable, kFolder, kEmpty, kText, kGzip, kSqlite, kSafetensors, kOther, kUnknown };

struct FileLook {
  FileKind kind = FileKind::kMissing;
  std::string_view name;  // with its article, for messages: "a PNG picture"; empty where there is nothing
};

FileLook look_at_file(const std::string& path);

// Whether it is something known that no safetensors file is: a text, a picture, a folder. What is damaged, empty or not
// known is left to its reader, who can say more.
bool is_other_than_safetensors(const FileLook& look);

}  // namespace dissent
