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

void create_tables(soci::session& sql, const Database& database) {
  const std::string_view key = database.is_sqlite() ? "INTEGER PRIMARY KEY" : "BIGSERIAL PRIMARY KEY";
  sql << fmt::format(
      "CREATE TABLE cell (id {}, study TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, position INTEGER "
      "NOT NULL, state INTEGER NOT NULL DEFAULT 0, worker TEXT NOT NULL DEFAULT '', version TEXT NOT NULL DEFAULT '', "
      "error TEXT NOT NULL DEFAULT '', lease_end double precision NOT NULL DEFAULT 0, started double precision NOT "
      "NULL DEFAULT 0, changed double precision NOT NULL DEFAULT 0, rounds INTEGER NOT NULL DEFAULT 0, chosen INTEGER "
      "NOT NULL DEFAULT 0, campaign TEXT NOT NULL DEFAULT '', UNIQUE (study, name))",
      key);
  sql << "CREATE INDEX cell_by_state ON cell (study, state, position)";
  const std::string_view reference = database.is_sqlite() ? "INTEGER" : "BIGINT";
  sql << fmt::format(
      "CREATE TABLE round (cell {} NOT NULL REFERENCES cell, number INTEGER NOT NULL{}, PRIMARY KEY (cell, number))",
      reference, number_columns<RoundRecord>());
  sql << fmt::format(
      "CREATE TABLE choice (cell {} NOT NULL REFERENCES cell, number INTEGER NOT NULL{}, PRIMARY KEY (cell, number))",
      reference, number_columns<ChosenRow>());
  sql << "CREATE TABLE dissent (version INTEGER NOT NULL)";
  const int version = kSchemaVersion;
  sql << "INSERT INTO dissent (version) VALUES (:v)", soci::use(version);
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

}  // namespace

void prepare_schema(soci::session& sql, const Database& database) {
  if (!database.is_sqlite()) {
    sql << "SELECT pg_advisory_xact_lock(7305108)";  // one process makes the tables, others wait
  }
  if (schema_version(sql, database) == 0) {
    create_tables(sql, database);
  }
  check_schema(sql, database);
}

void check_schema(soci::session& sql, const Database& database) {
  const int version = schema_version(sql, database);
  check(version != 0, "{}: there are no studies in it", database.url().shown);
  check(version == kSchemaVersion, "{}: it has version {} of the store, which a later version of the program made",
        database.url().shown, version);
}

}  // namespace dissent
