// A connection to a database by SOCI: opened by URL, with the patience to wait for a server that went away, and with
// errors that say what to do. Internal.
#pragma once

#include <soci/soci.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace dissent {

enum class DatabaseKind { kSqlite, kPostgresql };

struct DatabaseUrl {
  DatabaseKind kind = DatabaseKind::kSqlite;
  std::string target;  // a path, or the URL for the server
  std::string shown;   // without the password
};

// InputError, with the two forms there are, for anything else.
DatabaseUrl parse_database_url(const std::string& url);

class Database {
 public:
  // SystemError when it cannot be opened.
  // `writes`: a file may be set up for writers; else it is left as it is.
  Database(DatabaseUrl url, double patience, bool writes);

  const DatabaseUrl& url() const { return url_; }
  bool is_sqlite() const { return url_.kind == DatabaseKind::kSqlite; }
  std::string_view now() const;  // an SQL expression: seconds since 1970

  // Runs `work` in a transaction that excludes other writers (a file) or locks what it touches (a server). Begins again
  // when the connection was lost or the database busy, for as long as the patience lasts. One thread at a time: others
  // wait.
  void write(const std::function<void(soci::session& sql)>& work);
  void read(const std::function<void(soci::session& sql)>& work);

  // Inside of write(): waits for the server's disk, so that not even a crash of the server loses what is written.
  // Elsewhere the last moments may be lost then.
  void make_durable(soci::session& sql) const;
  // For the rest of a write, others that ask for the same wait; on a file every write is so.
  void exclude_others(soci::session& sql) const;

 private:
  void connect();
  void attempt(const std::function<void(soci::session& sql)>& work, bool writes);
  void persist(const std::function<void(soci::session& sql)>& work, bool writes);
  bool may_pass(const soci::soci_error& error) const;
  [[noreturn]] void explain(const soci::soci_error& error) const;

  DatabaseUrl url_;
  double patience_;
  bool writes_;
  std::mutex mutex_;
  std::unique_ptr<soci::session> session_;
};

}  // namespace dissent
