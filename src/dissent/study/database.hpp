// A connection to a database through SOCI: opened by URL, it waits for a server that went away, and its errors say what
// to do. Internal.
#pragma once

#include <soci/soci.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dissent {

enum class DatabaseKind { kSqlite, kPostgresql };

struct DatabaseUrl {
  DatabaseKind kind = DatabaseKind::kSqlite;
  std::string target;  // a path, or the URL for the server
  std::string shown;   // without the password
};

// InputError, with the two valid forms, for anything else.
DatabaseUrl parse_database_url(const std::string& url);

// The server's URL with limits on how long a connection may be silent, unless it sets them itself: a machine that is
// gone does not answer, and we would wait for it without end.
std::string with_timeouts(const std::string& url);

// A file's name for a connection that only reads. If its folder is not writable, SQLite cannot keep the notes that
// readers and writers share; a file without writers is read without them. SystemError if it has writers.
std::string readable_file(const std::string& path);

class Database {
 public:
  // SystemError if it cannot be opened.
  // `writes`: a file may be set up for writers; else it is left as it is.
  Database(DatabaseUrl url, double patience, bool writes);

  // Ends the wait for a server that went away when `stop` returns true. It is called from any thread that works on it.
  void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  const DatabaseUrl& url() const { return url_; }
  bool is_sqlite() const { return url_.kind == DatabaseKind::kSqlite; }
  std::string_view now() const;  // an SQL expression: seconds since 1970

  // Runs `work` in a transaction that excludes other writers (a file) or locks what it touches (a server). Begins again
  // if the connection was lost or the database is busy, until the patience runs out. One thread at a time: others wait.
  void write(const std::function<void(soci::session& sql)>& work);
  void read(const std::function<void(soci::session& sql)>& work);

  // Inside write(): waits for the server's disk, so that not even a crash of the server loses what is written. Without
  // this a crash may lose the last moments.
  void make_durable(soci::session& sql) const;
  // For the rest of a write, others that call this wait; on a file every write excludes others.
  void exclude_others(soci::session& sql) const;

 private:
  void connect();
  void attempt(const std::function<void(soci::session& sql)>& work, bool writes);
  void persist(const std::function<void(soci::session& sql)>& work, bool writes);
  bool may_pass(const soci::soci_error& error) const;
  bool is_past_waiting();
  void pause(double seconds) const;
  [[noreturn]] void explain(const soci::soci_error& error) const;

  DatabaseUrl url_;
  double patience_;
  bool writes_;
  std::function<bool()> stop_;
  std::mutex mutex_;
  std::unique_ptr<soci::session> session_;
  std::optional<std::chrono::steady_clock::time_point> lost_;  // since when nothing has worked
};

}  // namespace dissent
