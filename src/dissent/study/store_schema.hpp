// The tables of a store of studies, by version. Internal.
//
//   dissent      version of the schema, one row
//   cell         one campaign each: where it stands, who has it until when, its state
//   round        one row per round of a cell, and the last model: the fields of RoundRecord
//   choice       one row per chosen row: the fields of ChosenRow
//   measurement  one number of a side study each; since version 2
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "dissent/base/field.hpp"
#include "dissent/study/database.hpp"

namespace dissent {

constexpr int kSchemaVersion = 2;

// ", round, labelled, ...": the fields of a record as columns; `round` and `row` are words of SQL.
template <class S>
std::string column_list() {
  std::string list;
  for (const std::string& name : field_names<S>()) {
    list += ", " + name;
  }
  return list;
}

// Makes the tables, or brings those of an earlier version up to this one: adds the tables and the columns for fields
// that are new since. InputError for a later version, which is left as it is.
void prepare_schema(soci::session& sql, const Database& database);
// InputError for a database without studies, and for a later version. An earlier one can be read, without what it
// lacks.
void check_schema(soci::session& sql, const Database& database);

// Names of a table's columns; none if there is no such table.
std::set<std::string> table_columns(soci::session& sql, const Database& database, const std::string& table);

}  // namespace dissent
