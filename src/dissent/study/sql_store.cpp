#include "dissent/study/sql_store.hpp"

#include <filesystem>
#include <unordered_map>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/file_kind.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/study/refuse_source.hpp"
#include "dissent/study/source.hpp"
#include "dissent/study/store_schema.hpp"

namespace dissent {
namespace {

void check_place(const std::string& file, StudyStore::Access access) {
  std::error_code unknown;
  check(!std::filesystem::is_directory(file, unknown), "store 'sqlite:{}' is a folder; name a file", file);
  if (access == StudyStore::Access::kRead && look_at_file(file).kind != FileKind::kSqlite) {
    refuse_source(file);
  }
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const auto state = std::filesystem::status(folder, unknown).type();
  check(folder.empty() || state != std::filesystem::file_type::not_found, "store 'sqlite:{}': there is no folder '{}'",
        file, folder.string());
}

}  // namespace

std::string_view cell_state_name(CellState state) {
  constexpr std::string_view kNames[] = {"waiting", "running", "done", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

std::unique_ptr<StudyStore> StudyStore::open(const std::string& url, Access access, double patience) {
  const StudySource source = study_source(url);
  DatabaseUrl parsed = parse_database_url(source.is_store() ? source.url() : url);
  if (parsed.kind == DatabaseKind::kSqlite) {
    check_place(parsed.target, access);
  }
  return std::make_unique<SqlStudyStore>(std::move(parsed), access, patience);
}

SqlStudyStore::SqlStudyStore(DatabaseUrl url, Access access, double patience)
    : database_(std::move(url), patience, access == Access::kWrite) {
  if (access == Access::kWrite) {
    database_.write([&](soci::session& sql) {
      database_.make_durable(sql);
      prepare_schema(sql, database_);
    });
  } else {
    database_.read([&](soci::session& sql) { check_schema(sql, database_); });
  }
}

void SqlStudyStore::add(const Grid& grid) {
  database_.write([&](soci::session& sql) {
    database_.make_durable(sql);
    database_.exclude_others(sql);  // workers that begin together bring the same cells
    struct Known {
      std::string description;
      bool failed;  // before its first round
    };
    std::unordered_map<std::string, Known> known;
    soci::rowset<soci::row> rows =
        (sql.prepare << "SELECT name, description, state, rounds FROM cell WHERE study = :s", soci::use(grid.name));
    for (const soci::row& row : rows) {
      const bool failed = row.get<int>(2) == static_cast<int>(CellState::kFailed);
      known[row.get<std::string>(0)] = {row.get<std::string>(1), failed && row.get<int>(3) == 0};
    }
    long long position = static_cast<long long>(known.size());
    for (const Cell& cell : grid.cells) {
      const std::string description = cell.describe();
      if (const auto found = known.find(cell.name); found != known.end()) {
        const bool same = found->second.description == description;
        check(same || found->second.failed,
              "{}: study '{}' has '{}' with other settings: {}; give the grid another name, or use another store",
              name(), grid.name, cell.name, same ? "" : description_changes(found->second.description, description));
        if (!same) {  // what made it fail may have been put right
          sql << "UPDATE cell SET description = :d WHERE study = :s AND name = :n", soci::use(description),
              soci::use(grid.name), soci::use(cell.name);
        }
        known.erase(found);
        continue;
      }
      sql << "INSERT INTO cell (study, name, description, position) VALUES (:s, :n, :d, :p)", soci::use(grid.name),
          soci::use(cell.name), soci::use(description), soci::use(position);
      ++position;
    }
    check(known.empty(),
          "{}: study '{}' has {} that the grid has not, such as '{}'; let the grid have them too, or use another store",
          name(), grid.name, counted(known.size(), "campaign"), known.empty() ? "" : known.begin()->first);
  });
}

std::optional<Claim> SqlStudyStore::claim(const std::string& study, const std::string& worker, double lease,
                                          const std::string& only) {
  std::optional<Claim> claimed;
  database_.write([&](soci::session& sql) {
    claimed.reset();
    const std::string query = fmt::format(
        "SELECT id, name FROM cell WHERE study = :s AND (:o = '' OR name = :m) AND (state = 0 OR (state = 1 AND "
        "lease_end < {})) ORDER BY position LIMIT 1{}",
        database_.now(), database_.is_sqlite() ? "" : " FOR UPDATE SKIP LOCKED");
    long long id = 0;
    std::string cell;
    sql << query, soci::use(study, "s"), soci::use(only, "o"), soci::use(only, "m"), soci::into(id), soci::into(cell);
    if (!sql.got_data()) {
      return;
    }
    const std::string version(kVersion);  // must live until the statement ends
    sql << fmt::format(
        "UPDATE cell SET state = 1, worker = :w, version = :v, lease_end = {0} + {1}, changed = {0}, started = CASE "
        "WHEN started = 0 THEN {0} ELSE started END WHERE id = :i",
        database_.now(), lease),
        soci::use(worker, "w"), soci::use(version, "v"), soci::use(id, "i");
    claimed = Claim{id, cell, worker, lease};
  });
  return claimed;
}

void SqlStudyStore::update(const Claim& claim, const std::string& assignments) {
  database_.write([&](soci::session& sql) { update_in(sql, claim, assignments); });
}

void SqlStudyStore::update_in(soci::session& sql, const Claim& claim, const std::string& assignments) {
  const auto id = static_cast<long long>(claim.id);
  soci::statement statement =
      (sql.prepare << fmt::format("UPDATE cell SET {}, changed = {} WHERE id = :i AND worker = :w AND state = 1",
                                  assignments, database_.now()),
       soci::use(id, "i"), soci::use(claim.worker, "w"));
  statement.execute(true);
  if (statement.get_affected_rows() != 1) {
    throw LeaseLost(fmt::format("{}: '{}' was taken over by another worker", name(), claim.name));
  }
}

void SqlStudyStore::finish(const Claim& claim) {
  database_.write([&](soci::session& sql) {
    database_.make_durable(sql);
    update_in(sql, claim, "state = 2, error = ''");
  });
}

void SqlStudyStore::fail(const Claim& claim, const std::string& error) {
  database_.write([&](soci::session& sql) {
    database_.make_durable(sql);
    update_in(sql, claim, "lease_end = 0");
    const auto id = static_cast<long long>(claim.id);
    sql << "UPDATE cell SET state = 3, error = :e WHERE id = :i", soci::use(error, "e"), soci::use(id, "i");
  });
}

std::vector<HeldCell> SqlStudyStore::held(const std::string& study, const std::string& only) {
  std::vector<HeldCell> cells;
  database_.read([&](soci::session& sql) {
    cells.clear();
    HeldCell cell;
    soci::statement statement =
        (sql.prepare << fmt::format("SELECT name, worker, lease_end - {} FROM cell WHERE study = :s AND (:o = '' OR "
                                    "name = :m) AND state = 1 ORDER BY position",
                                    database_.now()),
         soci::use(study, "s"), soci::use(only, "o"), soci::use(only, "m"), soci::into(cell.name),
         soci::into(cell.worker), soci::into(cell.seconds));
    statement.execute();
    while (statement.fetch()) {
      cells.push_back(cell);
    }
  });
  return cells;
}

std::size_t SqlStudyStore::count(const std::string& study, const char* condition, const std::string& only) {
  int count = 0;
  database_.read([&](soci::session& sql) {
    sql << fmt::format("SELECT {} FROM cell WHERE study = :s AND (:o = '' OR name = :m) AND {}",
                       database_.is_sqlite() ? "count(*)" : "count(*)::int4", condition),
        soci::use(study, "s"), soci::use(only, "o"), soci::use(only, "m"), soci::into(count);
  });
  return static_cast<std::size_t>(count);
}

std::size_t SqlStudyStore::retry(const std::string& study) {
  long long count = 0;
  database_.write([&](soci::session& sql) {
    soci::statement statement =
        (sql.prepare << "UPDATE cell SET state = 0 WHERE study = :s AND state = 3", soci::use(study));
    statement.execute(true);
    count = statement.get_affected_rows();
  });
  return static_cast<std::size_t>(count);
}

std::vector<std::string> SqlStudyStore::studies() {
  std::vector<std::string> names;
  database_.read([&](soci::session& sql) {
    names.clear();
    const bool measures = !table_columns(sql, database_, "measurement").empty();  // not in a store of version 1
    soci::rowset<std::string> rows =
        (sql.prepare << fmt::format("SELECT study FROM (SELECT study, 0 AS later, id FROM cell{}) AS named GROUP BY "
                                    "study ORDER BY min(later), min(id)",
                                    measures ? " UNION ALL SELECT study, 1 AS later, id FROM measurement" : ""));
    names.assign(rows.begin(), rows.end());
  });
  return names;
}

std::vector<CellRecord> SqlStudyStore::cells(const std::string& study) {
  std::vector<CellRecord> cells;
  database_.read([&](soci::session& sql) {
    cells.clear();
    soci::rowset<soci::row> rows = (sql.prepare << "SELECT name, description, state, rounds, worker, version, error, "
                                                   "started, changed FROM cell WHERE study = :s ORDER BY position",
                                    soci::use(study));
    for (const soci::row& row : rows) {
      cells.push_back({.study = study,
                       .name = row.get<std::string>(0),
                       .description = row.get<std::string>(1),
                       .state = static_cast<CellState>(row.get<int>(2)),
                       .rounds = static_cast<std::size_t>(row.get<int>(3)),
                       .worker = row.get<std::string>(4),
                       .version = row.get<std::string>(5),
                       .error = row.get<std::string>(6),
                       .started = row.get<double>(7),
                       .changed = row.get<double>(8)});
    }
  });
  return cells;
}

}  // namespace dissent
