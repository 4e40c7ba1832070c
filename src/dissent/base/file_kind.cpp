#include "dissent/base/file_kind.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace dissent {
namespace {

using namespace std::string_view_literals;

struct Beginning {
  std::string_view bytes;
  FileLook look;
};

constexpr Beginning kBeginnings[] = {
    {"SQLite format 3\0"sv, {FileKind::kSqlite, "a database of SQLite"}},
    {"\x1f\x8b", {FileKind::kGzip, "a file packed by gzip"}},
    {"\x89PNG", {FileKind::kOther, "a PNG picture"}},
    {"\xff\xd8\xff", {FileKind::kOther, "a JPEG picture"}},
    {"GIF8", {FileKind::kOther, "a GIF picture"}},
    {"%PDF", {FileKind::kOther, "a PDF document"}},
    {"PK\x03\x04", {FileKind::kOther, "a ZIP archive (.zip, .npz, .xlsx)"}},
    {"\x93NUMPY", {FileKind::kOther, "a NumPy array"}},
    {"\x89HDF", {FileKind::kOther, "an HDF5 file"}},
    {"PAR1", {FileKind::kOther, "a Parquet file"}},
    {"\xff\xfe", {FileKind::kOther, "text in UTF-16"}},
    {"\xfe\xff", {FileKind::kOther, "text in UTF-16"}},
};

std::string head_of(const std::string& path) {
  constexpr std::size_t kNumBytes = 512;
  std::string head(kNumBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return head;
}

// Eight bytes, the length of the header with the lowest byte first; then the header, which is JSON.
bool is_safetensors(std::string_view head) { return head.size() > 8 && head[8] == '{' && head[7] == '\0'; }

// Text in any encoding that leaves ASCII as it is.
bool is_text(std::string_view head) {
  return std::ranges::all_of(head, [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
}

FileLook look_at_content(const std::string& path) {
  const std::string head = head_of(path);
  if (head.empty()) {
    return {FileKind::kUnreadable, "a file that may not be read"};
  }
  if (is_safetensors(head)) {  // first: it begins with a length, which may be any bytes
    return {FileKind::kSafetensors, "a safetensors file"};
  }
  for (const Beginning& one : kBeginnings) {
    if (head.starts_with(one.bytes)) {
      return one.look;
    }
  }
  return is_text(head) ? FileLook{FileKind::kText, "text"} : FileLook{FileKind::kUnknown, "a file of some other kind"};
}

}  // namespace

bool is_other_than_safetensors(const FileLook& look) {
  return look.kind == FileKind::kFolder || look.kind == FileKind::kText || look.kind == FileKind::kGzip ||
         look.kind == FileKind::kSqlite || look.kind == FileKind::kOther;
}

FileLook look_at_file(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status)) {
    return {};
  }
  if (std::filesystem::is_directory(status)) {
    return {FileKind::kFolder, "a folder"};
  }
  if (!std::filesystem::is_regular_file(status)) {
    return {FileKind::kOther, "a pipe or a device"};  // reading would consume what it holds
  }
  if (std::filesystem::file_size(path, unknown) == 0) {
    return {FileKind::kEmpty, "an empty file"};
  }
  return look_at_content(path);
}

}  // namespace dissent
