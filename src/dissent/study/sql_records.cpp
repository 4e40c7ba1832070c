// What campaigns record: their state, and the fields of rounds and chosen rows as columns of numbers.
#include <soci/soci.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dissent/base/base64.hpp"
#include "dissent/base/error.hpp"
#include "dissent/loop/campaign_file.hpp"
#include "dissent/study/sql_store.hpp"
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
      if (field.type != FieldType::kWhole) {
        field.set(result, null ? std::nan("") : row.get<double>(k));
      } else if (!null) {
        field.set(result, static_cast<std::uint64_t>(row.get<double>(k)));
      }
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

// ", record.round, record.labelled, NULL, ...": fields that an earlier version did not record are NULL.
template <class S>
std::string recorded_columns(const std::set<std::string>& known) {
  std::string list;
  for (const std::string& name : field_names<S>()) {
    list += known.contains(name) ? ", record." + name : ", NULL";
  }
  return list;
}

// Inserts the records from `first` on, or replaces them.
template <class S>
void put(soci::session& sql, const Claim& claim, std::string_view table, std::size_t first,
         const std::vector<S>& records) {
  if (first >= records.size()) {
    return;
  }
  const std::string text =
      fmt::format("INSERT INTO {} (cell, number{}) VALUES (:c, :n{}) ON CONFLICT (cell, number) DO UPDATE SET {}",
                  table, column_list<S>(), placeholders<S>(), updates<S>());
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

template <class S, class Row>
std::vector<Row> collect(Database& database, const std::string& study, const std::string& table) {
  std::vector<Row> all;
  database.read([&](soci::session& sql) {
    all.clear();
    const std::string query = fmt::format(
        "SELECT cell.name{} FROM cell JOIN {} AS record ON record.cell = cell.id WHERE cell.study = :s "
        "ORDER BY cell.position, record.number",
        recorded_columns<S>(table_columns(sql, database, table)), table);
    const NumberBinder binder(0);
    soci::rowset<soci::row> rows = (sql.prepare << query, soci::use(study));
    for (const soci::row& row : rows) {
      all.push_back({row.get<std::string>(0), binder.record<S>(row, 1)});
    }
  });
  return all;
}

}  // namespace

void SqlStudyStore::record(const Claim& claim, const Campaign& campaign) {
  const std::string state = to_base64(bytes_without_targets(campaign));
  const std::vector<RoundRecord> measured = measured_models(campaign);
  database_.write([&](soci::session& sql) {
    const auto id = static_cast<long long>(claim.id);
    long long num_rounds = 0;
    long long num_chosen = 0;
    update_in(sql, claim, fmt::format("lease_end = {}", lease_end(claim)));
    sql << "SELECT rounds, chosen FROM cell WHERE id = :i", soci::use(id), soci::into(num_rounds),
        soci::into(num_chosen);
    // The last record may be of a model that had not chosen yet.
    put(sql, claim, "round", static_cast<std::size_t>(std::max(num_rounds - 1, 0LL)), measured);
    put(sql, claim, "choice", static_cast<std::size_t>(num_chosen), campaign.chosen);
    num_rounds = static_cast<long long>(measured.size());
    num_chosen = static_cast<long long>(campaign.chosen.size());
    sql << "UPDATE cell SET campaign = :c, rounds = :r, chosen = :n WHERE id = :i", soci::use(state, "c"),
        soci::use(num_rounds, "r"), soci::use(num_chosen, "n"), soci::use(id, "i");
  });
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

std::vector<CellRound> SqlStudyStore::rounds(const std::string& study) {
  return collect<RoundRecord, CellRound>(database_, study, "round");
}

std::vector<CellChoice> SqlStudyStore::choices(const std::string& study) {
  return collect<ChosenRow, CellChoice>(database_, study, "choice");
}

}  // namespace dissent
