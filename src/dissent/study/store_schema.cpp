#include "dissent/study/store_schema.hpp"

#include "dissent/base/error.hpp"
#include "dissent/loop/campaign.hpp"

namespace dissent {
namespace {

template <class S>
std::string number_columns() {
  std::string list;
  for (const std::string& name : field_names<S>()) {
    list += fmt::format(", {} double precision", name);
  }
  return list;
}

std::string_view key_type(const Database& database) {
  return database.is_sqlite() ? "INTEGER PRIMARY KEY" : "BIGSERIAL PRIMARY KEY";
}

// Version 1.
void create_tables(soci::session& sql, const Database& database) {
  sql << fmt::format(
      "CREATE TABLE cell (id {}, study TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, position INTEGER "
      "NOT NULL, state INTEGER NOT NULL DEFAULT 0, worker TEXT NOT NULL DEFAULT '', version TEXT NOT NULL DEFAULT '', "
      "error TEXT NOT NULL DEFAULT '', lease_end double precision NOT NULL DEFAULT 0, started double precision NOT "
      "NULL DEFAULT 0, changed double precision NOT NULL DEFAULT 0, rounds INTEGER NOT NULL DEFAULT 0, chosen INTEGER "
      "NOT NULL DEFAULT 0, campaign TEXT NOT NULL DEFAULT '', UNIQUE (study, name))",
      key_type(database));
  sql << "CREATE INDEX cell_by_state ON cell (study, state, position)";
  const std::string_view reference = database.is_sqlite() ? "INTEGER" : "BIGINT";
  sql << fmt::format(
      "CREATE TABLE round (cell {} NOT NULL REFERENCES cell, number INTEGER NOT NULL{}, PRIMARY KEY (cell, number))",
      reference, number_columns<RoundRecord>());
  sql << fmt::format(
      "CREATE TABLE choice (cell {} NOT NULL REFERENCES cell, number INTEGER NOT NULL{}, PRIMARY KEY (cell, number))",
      reference, number_columns<ChosenRow>());
  sql << "CREATE TABLE dissent (version INTEGER NOT NULL)";
  sql << "INSERT INTO dissent (version) VALUES (1)";
}

// Version 2.
void create_measurements(soci::session& sql, const Database& database) {
  sql << fmt::format(
      "CREATE TABLE measurement (id {}, study TEXT NOT NULL, kind TEXT NOT NULL, problem TEXT NOT NULL, model TEXT NOT "
      "NULL, estimator TEXT NOT NULL, outputs BIGINT NOT NULL, components BIGINT NOT NULL, samples BIGINT NOT NULL, "
      "seed BIGINT NOT NULL, at double precision NOT NULL, value double precision NOT NULL)",
      key_type(database));
  sql << "CREATE INDEX measurement_by_study ON measurement (study, kind)";
  sql << "UPDATE dissent SET version = 2";
}

// Adds columns for fields that records have gained since the table was made.
template <class S>
void add_columns(soci::session& sql, const Database& database, const std::string& table) {
  const std::set<std::string> known = table_columns(sql, database, table);
  for (const std::string& name : field_names<S>()) {
    if (!known.contains(name)) {
      sql << fmt::format("ALTER TABLE {} ADD COLUMN {} double precision", table, name);
    }
  }
}

// 0: the tables are not there.
int schema_version(soci::session& sql, const Database& database) {
  int count = 0;
  sql << (database.is_sqlite() ? "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'dissent'"
                               : "SELECT count(*)::int4 FROM information_schema.tables WHERE table_schema = "
                                 "current_schema() AND table_name = 'dissent'"),
      soci::into(count);
  if (count == 0) {
    return 0;
  }
  int version = 0;
  sql << "SELECT version FROM dissent", soci::into(version);
  return version;
}

// A file with other tables is not ours. On a server many share a database.
void check_empty(soci::session& sql, const Database& database) {
  if (database.is_sqlite()) {
    int count = 0;
    sql << "SELECT count(*) FROM sqlite_master WHERE type = 'table'", soci::into(count);
    check(count == 0, "{}: it is a database of something else; give another file", database.url().shown);
  }
}

}  // namespace

void prepare_schema(soci::session& sql, const Database& database) {
  database.exclude_others(sql);  // one process makes the tables
  const int version = schema_version(sql, database);
  if (version < 1) {
    check_empty(sql, database);
    create_tables(sql, database);
  }
  if (version < 2) {
    create_measurements(sql, database);
  }
  if (version <= kSchemaVersion) {
    add_columns<RoundRecord>(sql, database, "round");
    add_columns<ChosenRow>(sql, database, "choice");
  }
  check_schema(sql, database);
}

void check_schema(soci::session& sql, const Database& database) {
  const int version = schema_version(sql, database);
  check(version != 0, "{}: there are no studies in it", database.url().shown);
  check(version <= kSchemaVersion,
        "{}: it has version {} of the store, this program knows {}: a later program made it; use that one, or another "
        "store",
        database.url().shown, version, kSchemaVersion);
}

std::set<std::string> table_columns(soci::session& sql, const Database& database, const std::string& table) {
  soci::rowset<std::string> names =
      (sql.prepare << (database.is_sqlite() ? "SELECT name FROM pragma_table_info(:t)"
                                            : "SELECT column_name::text FROM information_schema.columns WHERE "
                                              "table_schema = current_schema() AND table_name = :t"),
       soci::use(table));
  return {names.begin(), names.end()};
}

}  // namespace dissent
