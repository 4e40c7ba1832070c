#include "dissent/study/database.hpp"

#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFirstPause = 0.05;  // seconds; twice as long each time
constexpr double kLongestPause = 2;
constexpr double kLastPatience = 1;  // once it is asked to stop

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// One line, without the name of the function that found it: "sqlite3_statement_backend::loadOne: database is locked".
std::string plain_message(const soci::soci_error& error) {
  std::string message = error.get_error_message();
  std::ranges::replace_if(
      message, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  message.erase(message.find_last_not_of(' ') + 1);
  const std::size_t colons = message.find("::");
  const std::size_t end = message.find(": ", colons == std::string::npos ? colons : colons + 2);
  const bool named = end != std::string::npos && message.find(' ') > end;
  return named ? message.substr(end + 2) : message;
}

// Notices of a server that shuts down are not for the user: we wait for it.
void keep_quiet(soci::session& session) {
  auto* backend = static_cast<soci::postgresql_session_backend*>(session.get_backend());
  PQsetNoticeProcessor(
      backend->conn_, [](void*, const char*) {}, nullptr);
}

}  // namespace

Database::Database(DatabaseUrl url, double patience, bool writes)
    : url_(std::move(url)), patience_(patience), writes_(writes) {
  try {
    connect();
  } catch (const soci::soci_error& error) {
    explain(error);
  }
}

std::string_view Database::now() const {
  return is_sqlite() ? "((julianday('now') - 2440587.5) * 86400.0)" : "extract(epoch from clock_timestamp())::float8";
}

void Database::connect() {
  session_.reset();
  if (is_sqlite()) {
    const std::string file = writes_ ? url_.target : readable_file(url_.target);
    session_ = std::make_unique<soci::session>(soci::sqlite3, fmt::format("db=\"{}\" timeout=10", file));
    if (writes_) {
      std::string mode;
      *session_ << "PRAGMA journal_mode = WAL", soci::into(mode);
    }
    *session_ << "PRAGMA synchronous = NORMAL";
    *session_ << "PRAGMA foreign_keys = ON";
  } else {
    session_ = std::make_unique<soci::session>(soci::postgresql, with_timeouts(url_.target));
    keep_quiet(*session_);
    *session_ << "SET client_min_messages TO warning";
    // A server that crashes may then lose the rounds of the last moments; they are done again. See make_durable().
    *session_ << "SET synchronous_commit TO off";
  }
}

void Database::write(const std::function<void(soci::session& sql)>& work) { persist(work, true); }
void Database::read(const std::function<void(soci::session& sql)>& work) { persist(work, false); }

void Database::make_durable(soci::session& sql) const {
  if (!is_sqlite()) {
    sql << "SET LOCAL synchronous_commit TO on";
  }
}

void Database::exclude_others(soci::session& sql) const {
  if (!is_sqlite()) {
    sql << "SELECT pg_advisory_xact_lock(7305108)";
  }
}

void Database::attempt(const std::function<void(soci::session& sql)>& work, bool writes) {
  if (session_ == nullptr) {
    connect();
  }
  *session_ << (is_sqlite() && writes ? "BEGIN IMMEDIATE" : "BEGIN");
  try {
    work(*session_);
    *session_ << "COMMIT";
  } catch (...) {
    try {
      *session_ << "ROLLBACK";
    } catch (const soci::soci_error&) {
      session_.reset();  // the connection is gone, and with it the transaction
    }
    throw;
  }
}

void Database::persist(const std::function<void(soci::session& sql)>& work, bool writes) {
  const std::lock_guard lock(mutex_);
  for (double seconds = kFirstPause;; seconds = std::min(2 * seconds, kLongestPause)) {
    try {
      attempt(work, writes);
      lost_.reset();
      break;
    } catch (const soci::soci_error& error) {
      const bool lost = may_pass(error);
      if (lost && !is_sqlite()) {
        session_.reset();
      }
      if (!lost || is_past_waiting()) {
        explain(error);
      }
      pause(seconds);
    }
  }
  if (is_sqlite() && !writes_) {
    session_.reset();  // whether there are writers may change; see readable_file()
  }
}

bool Database::is_past_waiting() {
  if (!lost_) {
    lost_ = Clock::now();
  }
  const bool stopped = stop_ && stop_();
  return Clock::now() - *lost_ >
         std::chrono::duration<double>(stopped ? std::min(kLastPatience, patience_) : patience_);
}

void Database::pause(double seconds) const {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end && !(stop_ && stop_())) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kFirstPause));
  }
}

// Whether the same may work later.
bool Database::may_pass(const soci::soci_error& error) const {
  const std::string message = error.get_error_message();
  if (is_sqlite()) {
    return contains(message, "locked") || contains(message, "busy");
  }
  if (contains(message, "password") || contains(message, "does not exist")) {
    return false;
  }
  const auto category = error.get_error_category();
  return category == soci::soci_error::connection_error || category == soci::soci_error::system_error ||
         contains(message, "onnection") || contains(message, "server") || contains(message, "starting up") ||
         contains(message, "shutting down") || contains(message, "deadlock") || contains(message, "serialize");
}

void Database::explain(const soci::soci_error& error) const {
  const std::string message = plain_message(error);
  std::string advice;
  if (contains(message, "readonly") || contains(message, "unable to open")) {
    advice = "; the file and its folder must be writable";
  } else if (contains(message, "full") || contains(message, "disk I/O")) {
    advice = "; if the disk is full, make room and run the same command again: what was recorded is whole";
  } else if (contains(message, "not a database")) {
    advice = "; it is another kind of file: give another name";
  } else if (contains(message, "password") || contains(message, "role")) {
    advice = "; check user and password (the variable PGPASSWORD and the file ~/.pgpass are read)";
  } else if (!is_sqlite() && may_pass(error)) {
    advice = "; is the server running, and may this machine reach it?";
  }
  fail_system("{}: {}{}", url_.shown, message, advice);
}

}  // namespace dissent
