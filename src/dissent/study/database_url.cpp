// Where a database is: URLs and files, as connections want them.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "dissent/base/error.hpp"
#include "dissent/study/database.hpp"

namespace dissent {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

// A parameter of a connection to a server, and the variable that libpq reads it from, if there is one.
struct Timeout {
  const char* name;
  const char* value;
  const char* variable;
};

constexpr Timeout kTimeouts[] = {
    {"connect_timeout", "10", "PGCONNECT_TIMEOUT"},  // seconds
    {"keepalives_idle", "15", nullptr},
    {"keepalives_interval", "5", nullptr},
    {"keepalives_count", "3", nullptr},
    {"tcp_user_timeout", "30000", nullptr},  // milliseconds
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// postgresql://user:secret@host/database -> postgresql://user@host/database
std::string without_password(const std::string& url) {
  std::string shown = url.substr(0, url.find('?'));  // parameters may hold one too
  const std::size_t begin = shown.find("://") + 3;
  const std::size_t at = shown.find('@', begin);
  const std::size_t colon = shown.find(':', begin);
  return at == std::string::npos || colon > at ? shown : shown.substr(0, colon) + shown.substr(at);
}

bool has_content(const std::string& path) {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  return !none && size > 0;
}

// As part of a URI.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    text += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", c) : std::string(1, c);
  }
  return text;
}

}  // namespace

DatabaseUrl parse_database_url(const std::string& url) {
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size()) {
    const std::string path = url.substr(kSqlite.size());
    check(!contains(path, "\""), "store '{}': a path with quotes cannot be used", url);
    return {DatabaseKind::kSqlite, path, url};
  }
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) {
    return {DatabaseKind::kPostgresql, url, without_password(url)};
  }
  const bool is_path = !url.empty() && !contains(url, ":");
  fail("store '{}' is not known; give sqlite:FILE or postgresql://USER@HOST/DATABASE{}", url,
       is_path ? fmt::format("; did you mean '{}{}'?", kSqlite, url) : "");
}

std::string with_timeouts(const std::string& url) {
  std::string result = url;
  for (const Timeout& timeout : kTimeouts) {
    const bool by_variable = timeout.variable != nullptr && std::getenv(timeout.variable) != nullptr;
    if (!by_variable && !contains(url, std::string(timeout.name) + "=")) {
      result += fmt::format("{}{}={}", contains(result, "?") ? "&" : "?", timeout.name, timeout.value);
    }
  }
  return result;
}

std::string readable_file(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 || has_content(path + "-shm")) {
    return path;
  }
  if (has_content(path + "-wal")) {
    fail_system(
        "{0}{1}: its folder may not be written, and {1}-wal holds rounds that can be read only where it may: copy both "
        "files to a folder of yours and read the copy",
        kSqlite, path);
  }
  return fmt::format("file:{}?immutable=1", escaped(path));
}

}  // namespace dissent
