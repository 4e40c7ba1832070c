#include "dissent/study/store.hpp"

#include <soci/soci.h>

#include <cmath>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "dissent/base/base64.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/campaign_file.hpp"
#include "dissent/study/database.hpp"
#include "dissent/study/store_schema.hpp"

namespace dissent {
namespace {

// A row of numbers by position; NaN is NULL.
class NumberBinder {
 public:
  explicit NumberBinder(std::size_t count) : values_(count), present_(count) {}

  template <class S>
  void take(const S& record) {
    std::size_t k = 0;
    for (const Field<S>& field : fields<S>()) {
      values_[k] = as_number(field.get(record));
      present_[k] = std::isnan(values_[k]) ? soci::i_null : soci::i_ok;
      ++k;
    }
  }

  void bind(soci::statement& statement) {
    for (std::size_t k = 0; k < values_.size(); ++k) {
      statement.exchange(soci::use(values_[k], present_[k]));
    }
  }

  template <class S>
  S record(const soci::row& row, std::size_t begin) const {
    S result;
    std::size_t k = begin;
    for (const Field<S>& field : fields<S>()) {
      const bool null = row.get_indicator(k) == soci::i_null;
      const double number = null ? std::nan("") : row.get<double>(k);
      field.set(result, field.type == FieldType::kWhole ? Value(static_cast<std::uint64_t>(number)) : Value(number));
      ++k;
    }
    return result;
  }

 private:
  std::vector<double> values_;
  std::vector<soci::indicator> present_;
};

template <class S>
std::string placeholders() {
  std::string text;
  for (std::size_t k = 0; k < fields<S>().size(); ++k) {
    text += fmt::format(", :v{}", k);
  }
  return text;
}

template <class S>
std::string updates() {
  std::string text;
  for (const std::string& name : field_names<S>()) {
    text += fmt::format("{}{} = excluded.{}", text.empty() ? "" : ", ", name, name);
  }
  return text;
}

class SqlStudyStore final : public StudyStore {
 public:
  SqlStudyStore(DatabaseUrl url, Access access) : database_(std::move(url), kPatience) {
    if (access == Access::kWrite) {
      database_.write([&](soci::session& sql) { prepare_schema(sql, database_); });
    } else {
      database_.read([&](soci::session& sql) { check_schema(sql, database_); });
    }
  }

  std::string name() const override { return database_.url().shown; }
  void add(const Grid& grid) override;
  std::optional<Claim> claim(const std::string& study, const std::string& worker, double lease,
                             const std::string& only) override;
  void renew(const Claim& claim) override { update(claim, fmt::format("lease_end = {}", lease_end(claim))); }
  void record(const Claim& claim, const Campaign& campaign) override;
  void finish(const Claim& claim) override { update(claim, "state = 2, error = ''"); }
  void fail(const Claim& claim, const std::string& error) override;
  void release(const Claim& claim) override { update(claim, "state = 0"); }
  std::size_t num_claimed(const std::string& study, const std::string& only) override;
  std::size_t retry(const std::string& study) override;
  std::optional<Campaign> load(const Claim& claim) override;
  std::vector<std::string> studies() override;
  std::vector<CellRecord> cells(const std::string& study) override;
  std::vector<CellRound> rounds(const std::string& study) override;
  std::vector<CellChoice> choices(const std::string& study) override;

 private:
  std::string lease_end(const Claim& claim) const { return fmt::format("{} + {}", database_.now(), claim.lease); }
  void update(const Claim& claim, const std::string& assignments);
  void update_in(soci::session& sql, const Claim& claim, const std::string& assignments);
  template <class S>
  void put(soci::session& sql, const Claim& claim, std::string_view table, std::string_view key, std::size_t first,
           const std::vector<S>& records);
  template <class S, class Row>
  std::vector<Row> collect(const std::string& study, std::string_view table, std::string_view order);

  Database database_;
};

void SqlStudyStore::add(const Grid& grid) {
  database_.write([&](soci::session& sql) {
    std::unordered_map<std::string, std::string> known;
    soci::rowset<soci::row> rows =
        (sql.prepare << "SELECT name, description FROM cell WHERE study = :s", soci::use(grid.name));
    for (const soci::row& row : rows) {
      known[row.get<std::string>(0)] = row.get<std::string>(1);
    }
    long long position = static_cast<long long>(known.size());
    for (const Cell& cell : grid.cells) {
      const std::string description = cell.describe();
      if (const auto found = known.find(cell.name); found != known.end()) {
        check(found->second == description,
              "{}: study '{}' has '{}' with other settings: it has {}, the grid {}; give the grid another name, or use "
              "another store",
              name(), grid.name, cell.name, found->second, description);
        continue;
      }
      sql << "INSERT INTO cell (study, name, description, position) VALUES (:s, :n, :d, :p)", soci::use(grid.name),
          soci::use(cell.name), soci::use(description), soci::use(position);
      ++position;
    }
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
    sql << fmt::format(
        "UPDATE cell SET state = 1, worker = :w, version = :v, lease_end = {0} + {1}, changed = {0}, started = CASE "
        "WHEN started = 0 THEN {0} ELSE started END WHERE id = :i",
        database_.now(), lease),
        soci::use(worker, "w"), soci::use(std::string(kVersion), "v"), soci::use(id, "i");
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

// Inserts the records from `first` on, or replaces them.
template <class S>
void SqlStudyStore::put(soci::session& sql, const Claim& claim, std::string_view table, std::string_view key,
                        std::size_t first, const std::vector<S>& records) {
  const std::string text =
      fmt::format("INSERT INTO {} (cell, {}{}) VALUES (:cell, :key{}) ON CONFLICT (cell, {}) DO UPDATE SET {}", table,
                  key, column_list<S>(), placeholders<S>(), key, updates<S>());
  auto id = static_cast<long long>(claim.id);
  long long number = 0;
  NumberBinder binder(fields<S>().size());
  soci::statement statement(sql);
  statement.exchange(soci::use(id));
  statement.exchange(soci::use(number));
  binder.bind(statement);
  statement.alloc();
  statement.prepare(text);
  statement.define_and_bind();
  for (std::size_t k = first; k < records.size(); ++k) {
    number = static_cast<long long>(k);
    binder.take(records[k]);
    statement.execute(true);
  }
}

void SqlStudyStore::record(const Claim& claim, const Campaign& campaign) {
  const std::string state = to_base64(campaign_bytes(campaign));
  const std::vector<RoundRecord> measured = measured_models(campaign);
  database_.write([&](soci::session& sql) {
    const auto id = static_cast<long long>(claim.id);
    long long num_rounds = 0;
    long long num_chosen = 0;
    update_in(sql, claim, fmt::format("lease_end = {}", lease_end(claim)));
    sql << "SELECT rounds, chosen FROM cell WHERE id = :i", soci::use(id), soci::into(num_rounds),
        soci::into(num_chosen);
    // The last one may have been of a model that had not chosen yet.
    put(sql, claim, "round", "number", static_cast<std::size_t>(std::max(num_rounds - 1, 0LL)), measured);
    put(sql, claim, "choice", "number", static_cast<std::size_t>(num_chosen), campaign.chosen);
    num_rounds = static_cast<long long>(measured.size());
    num_chosen = static_cast<long long>(campaign.chosen.size());
    sql << "UPDATE cell SET campaign = :c, rounds = :r, chosen = :n WHERE id = :i", soci::use(state, "c"),
        soci::use(num_rounds, "r"), soci::use(num_chosen, "n"), soci::use(id, "i");
  });
}

void SqlStudyStore::fail(const Claim& claim, const std::string& error) {
  database_.write([&](soci::session& sql) {
    update_in(sql, claim, "lease_end = 0");
    const auto id = static_cast<long long>(claim.id);
    sql << "UPDATE cell SET state = 3, error = :e WHERE id = :i", soci::use(error, "e"), soci::use(id, "i");
  });
}

std::size_t SqlStudyStore::num_claimed(const std::string& study, const std::string& only) {
  int count = 0;
  database_.read([&](soci::session& sql) {
    sql << fmt::format("SELECT {} FROM cell WHERE study = :s AND (:o = '' OR name = :m) AND state = 1",
                       database_.is_sqlite() ? "count(*)" : "count(*)::int4"),
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

std::optional<Campaign> SqlStudyStore::load(const Claim& claim) {
  std::string state;
  database_.read([&](soci::session& sql) {
    const auto id = static_cast<long long>(claim.id);
    sql << "SELECT campaign FROM cell WHERE id = :i", soci::use(id), soci::into(state);
  });
  if (state.empty()) {
    return std::nullopt;
  }
  const std::string source = fmt::format("{}: {}", name(), claim.name);
  const std::optional<std::vector<std::byte>> bytes = from_base64(state);
  check(bytes.has_value(), "{}: its state is damaged", source);
  return parse_campaign(*bytes, source);
}

std::vector<std::string> SqlStudyStore::studies() {
  std::vector<std::string> names;
  database_.read([&](soci::session& sql) {
    names.clear();
    soci::rowset<std::string> rows = (sql.prepare << "SELECT study FROM cell GROUP BY study ORDER BY min(id)");
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

template <class S, class Row>
std::vector<Row> SqlStudyStore::collect(const std::string& study, std::string_view table, std::string_view order) {
  std::vector<Row> all;
  database_.read([&](soci::session& sql) {
    all.clear();
    const std::string query = fmt::format(
        "SELECT cell.name{} FROM cell JOIN {} AS record ON record.cell = cell.id WHERE cell.study = :s "
        "ORDER BY cell.position, record.{}",
        column_list<S>("record."), table, order);
    const NumberBinder binder(0);
    soci::rowset<soci::row> rows = (sql.prepare << query, soci::use(study));
    for (const soci::row& row : rows) {
      all.push_back({row.get<std::string>(0), binder.record<S>(row, 1)});
    }
  });
  return all;
}

std::vector<CellRound> SqlStudyStore::rounds(const std::string& study) {
  return collect<RoundRecord, CellRound>(study, "round", "number");
}

std::vector<CellChoice> SqlStudyStore::choices(const std::string& study) {
  return collect<ChosenRow, CellChoice>(study, "choice", "number");
}

}  // namespace

std::string_view cell_state_name(CellState state) {
  constexpr std::string_view kNames[] = {"waiting", "running", "done", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

std::unique_ptr<StudyStore> StudyStore::open(const std::string& url, Access access) {
  DatabaseUrl parsed = parse_database_url(url);
  if (access == Access::kRead && parsed.kind == DatabaseKind::kSqlite) {
    std::error_code unknown;
    check(std::filesystem::exists(parsed.target, unknown), "{}: there is no such file", parsed.target);
  }
  return std::make_unique<SqlStudyStore>(std::move(parsed), access);
}

}  // namespace dissent
