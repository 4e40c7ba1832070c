// What a name of results means: the one place that tells stores and exported tables apart. Nothing here needs a
// database, so a program without studies can say what it was given.
#pragma once

#include <string>
#include <string_view>

#include "dissent/base/file_kind.hpp"

namespace dissent {

inline constexpr std::string_view kSqliteScheme = "sqlite:";
inline constexpr std::string_view kServerSchemes[] = {"postgresql:", "postgres:"};
inline constexpr std::string_view kExportEndings[] = {".csv", ".csv.gz"};

// For messages, after "is", "give" or "expected".
inline constexpr std::string_view kKnownSources =
    "a store of studies (sqlite:FILE or postgresql://USER@HOST/DATABASE) or a table that 'dissent study export' wrote "
    "(.csv or .csv.gz)";

enum class SourceKind { kNone, kStoreFile, kServer, kExport };

struct StudySource {
  SourceKind kind = SourceKind::kNone;
  std::string place;  // a path, or the URL of a server

  explicit operator bool() const { return kind != SourceKind::kNone; }
  bool is_store() const { return kind == SourceKind::kStoreFile || kind == SourceKind::kServer; }
  // The URL that StudyStore::open() takes.
  std::string url() const { return kind == SourceKind::kStoreFile ? std::string(kSqliteScheme) + place : place; }
  // The file that is read; empty for a server.
  std::string file() const { return kind == SourceKind::kServer ? "" : place; }
};

// Decides by the name's beginning; else tells a store by the file's content, and an export by its ending. kNone for the
// rest. Anything that looks like a URL is a server's, though perhaps misspelt: it may hold a password, which no message
// about a file may show.
inline StudySource study_source(const std::string& name) {
  if (name.starts_with(kSqliteScheme)) {
    return {SourceKind::kStoreFile, name.substr(kSqliteScheme.size())};
  }
  for (const std::string_view scheme : kServerSchemes) {
    if (name.starts_with(scheme)) {
      return {SourceKind::kServer, name};
    }
  }
  if (name.find("://") != std::string::npos) {
    return {SourceKind::kServer, name};
  }
  if (look_at_file(name).kind == FileKind::kSqlite) {
    return {SourceKind::kStoreFile, name};
  }
  for (const std::string_view ending : kExportEndings) {
    if (name.ends_with(ending)) {
      return {SourceKind::kExport, name};
    }
  }
  return {SourceKind::kNone, name};
}

}  // namespace dissent
