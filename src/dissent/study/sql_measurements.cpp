// What side studies measure: one row per number.
#include <soci/soci.h>

#include <cmath>
#include <set>
#include <utility>

#include "dissent/study/sql_store.hpp"
#include "dissent/study/store_schema.hpp"

namespace dissent {
namespace {

void insert(soci::session& sql, const std::string& study, const Measurement& measurement) {
  const auto outputs = static_cast<long long>(measurement.outputs);
  const auto components = static_cast<long long>(measurement.components);
  const auto samples = static_cast<long long>(measurement.samples);
  const auto seed = static_cast<long long>(measurement.seed);
  sql << "INSERT INTO measurement (study, kind, problem, model, estimator, outputs, components, samples, seed, at, "
         "value) VALUES (:y, :k, :p, :m, :e, :o, :c, :n, :s, :a, :v)",
      soci::use(study, "y"), soci::use(measurement.kind, "k"), soci::use(measurement.problem, "p"),
      soci::use(measurement.model, "m"), soci::use(measurement.estimator, "e"), soci::use(outputs, "o"),
      soci::use(components, "c"), soci::use(samples, "n"), soci::use(seed, "s"), soci::use(measurement.at, "a"),
      soci::use(measurement.value, "v");
}

Measurement measurement_of(const soci::row& row) {
  return {.kind = row.get<std::string>(0),
          .problem = row.get<std::string>(1),
          .model = row.get<std::string>(2),
          .estimator = row.get<std::string>(3),
          .outputs = static_cast<std::size_t>(row.get<long long>(4)),
          .components = static_cast<std::size_t>(row.get<long long>(5)),
          .samples = static_cast<std::size_t>(row.get<long long>(6)),
          .seed = static_cast<std::uint64_t>(row.get<long long>(7)),
          .at = row.get<double>(8),
          .value = row.get<double>(9)};
}

}  // namespace

void SqlStudyStore::record(const std::string& study, const std::vector<Measurement>& measurements) {
  std::set<std::pair<std::string, std::string>> replaced;
  for (const Measurement& measurement : measurements) {
    replaced.emplace(measurement.kind, measurement.problem);
  }
  database_.write([&](soci::session& sql) {
    for (const auto& [kind, problem] : replaced) {
      const std::string& of_kind = kind;
      const std::string& of_problem = problem;
      sql << "DELETE FROM measurement WHERE study = :s AND kind = :k AND problem = :p", soci::use(study, "s"),
          soci::use(of_kind, "k"), soci::use(of_problem, "p");
    }
    for (const Measurement& measurement : measurements) {
      if (std::isfinite(measurement.value)) {  // ranks that are all tied have no correlation
        insert(sql, study, measurement);
      }
    }
  });
}

std::vector<Measurement> SqlStudyStore::measurements(const std::string& study) {
  std::vector<Measurement> all;
  database_.read([&](soci::session& sql) {
    all.clear();
    if (table_columns(sql, database_, "measurement").empty()) {
      return;  // a store of version 1
    }
    soci::rowset<soci::row> rows =
        (sql.prepare << "SELECT kind, problem, model, estimator, outputs, components, samples, seed, at, value FROM "
                        "measurement WHERE study = :s ORDER BY id",
         soci::use(study));
    for (const soci::row& row : rows) {
      all.push_back(measurement_of(row));
    }
  });
  return all;
}

}  // namespace dissent
