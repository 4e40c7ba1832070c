// Where a database is: URLs and files, as connections want them.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "dissent/base/error.hpp"
#include "dissent/study/database.hpp"
#include "dissent/study/source.hpp"

namespace dissent {
namespace {

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

// postgresql://user:secret@host/database -> postgresql://user@host/database. If it is not a URL, all that may be a
// password is left out: postgresql:host=h password=secret -> postgresql:host=h ...
std::string without_password(const std::string& url) {
  std::string shown = url;
  const std::size_t slashes = shown.find("://");
  const std::size_t begin = slashes == std::string::npos ? shown.find(':') + 1 : slashes + 3;
  const std::size_t at = shown.rfind('@');  // a password may have one
  const std::size_t colon = shown.find(':', begin);
  if (at != std::string::npos && colon < at) {
    shown = shown.substr(0, colon) + shown.substr(at);
  }
  shown = shown.substr(0, shown.find('?'));  // parameters may hold one too
  const std::size_t word = shown.find("pass");
  return word == std::string::npos || !contains(shown, "=") ? shown : shown.substr(0, word) + "...";
}

// An unescaped password, with signs that end one, would be taken for a host, which messages name.
void check_escaped(const std::string& url) {
  const std::string text = url.substr(url.find("://") + 3);
  const std::size_t end = text.find_first_of("/?@");
  const std::size_t colon = text.find(':');
  if (end == std::string::npos || colon > end || text.starts_with("[")) {
    return;
  }
  const bool is_port = text.find_first_not_of("0123456789", colon + 1) == end;
  const bool again = text[end] == '@' ? contains(text.substr(0, text.find('?')).substr(end + 1), "@")
                                      : contains(text.substr(end), "@") && !is_port;
  check(!again, "store '{}': write @, / and ? in a password as %40, %2F and %3F", without_password(url));
}

// The path of sqlite:PATH. Some programs write sqlite:///PATH, and two slashes would be the root of the disk.
std::string sqlite_path(const std::string& url) {
  const std::string path = url.substr(kSqliteScheme.size());
  check(!contains(path, "\""), "store '{}': a path with quotes cannot be used", url);
  if (path.starts_with("///")) {
    return path.substr(2);
  }
  check(!path.starts_with("//"), "store '{}' has two slashes; did you mean '{}{}'?", url, kSqliteScheme,
        path.substr(std::min<std::size_t>(path.size(), 2)));
  return path;
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
  if (url.starts_with(kSqliteScheme) && url.size() > kSqliteScheme.size()) {
    const std::string path = sqlite_path(url);
    return {DatabaseKind::kSqlite, path, fmt::format("{}{}", kSqliteScheme, path)};
  }
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) {
    check_escaped(url);
    return {DatabaseKind::kPostgresql, url, without_password(url)};
  }
  const bool is_path = !url.empty() && !contains(url, ":");
  const bool is_export = std::ranges::any_of(kExportEndings, [&](std::string_view end) { return url.ends_with(end); });
  fail("store '{}' is not known; give sqlite:FILE or postgresql://USER@HOST/DATABASE{}", without_password(url),
       is_path && is_export ? "; of a table that 'dissent study export' wrote there is 'dissent study show'"
       : is_path            ? fmt::format("; did you mean '{}{}'?", kSqliteScheme, url)
                            : "");
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
        kSqliteScheme, path);
  }
  return fmt::format("file:{}?immutable=1", escaped(path));
}

}  // namespace dissent
