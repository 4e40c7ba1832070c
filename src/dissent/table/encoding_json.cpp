// An encoding as JSON: {"columns": [{"column": "cut", "kind": "category", "levels": [...]}, ...], "ids": [...]}.
// Defaults are left out. The reader trusts nothing.
#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/table/date.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostFeatures = 10'000'000;

ColumnKind kind_from_name(std::string_view name) {
  for (const ColumnKind kind :
       {ColumnKind::kNumber, ColumnKind::kBoolean, ColumnKind::kDate, ColumnKind::kOrdered, ColumnKind::kCategory}) {
    if (kind_name(kind) == name) {
      return kind;
    }
  }
  fail("there is no kind of column '{}'", name);
}

Json to_json(const ColumnCode& code) {
  Json json{{"column", code.column}, {"kind", kind_name(code.kind)}};
  if (!code.levels.empty()) {
    json["levels"] = code.levels;
  }
  if (code.has_other) {
    json["other"] = true;
  }
  if (code.marks_missing) {
    json["missing"] = true;
  }
  if (code.kind != ColumnKind::kCategory) {
    json["fill"] = code.fill;
  }
  if (code.kind == ColumnKind::kDate) {
    json["order"] = static_cast<int>(code.date_order);
    json["origin"] = code.origin;
  }
  return json;
}

ColumnCode code_from_json(const Json& json) {
  ColumnCode code;
  code.column = json.at("column").get<std::string>();
  code.kind = kind_from_name(json.at("kind").get<std::string>());
  code.levels = json.value("levels", code.levels);
  code.has_other = json.value("other", false);
  code.marks_missing = json.value("missing", false);
  code.fill = json.value("fill", 0.0);
  code.origin = json.value("origin", 0.0);
  const int order = json.value("order", 0);
  check(order >= 0 && order <= 2, "a date has no order {}", order);
  code.date_order = static_cast<DateOrder>(order);
  check(std::isfinite(code.fill) && std::isfinite(code.origin), "a column is filled with what is not finite");
  const bool ordered = code.kind == ColumnKind::kOrdered;
  check(code.kind == ColumnKind::kCategory || (!code.has_other && code.levels.empty() != ordered),
        "a {} column cannot have these categories", kind_name(code.kind));
  check(code.num_features() > 0 && code.num_features() < kMostFeatures, "column '{}' has no features", code.column);
  return code;
}

}  // namespace

std::string format_encoding(const TableEncoding& encoding) {
  Json json{{"columns", Json::array()}};
  for (const ColumnCode& code : encoding.columns) {
    json["columns"].push_back(to_json(code));
  }
  if (!encoding.ids.empty()) {
    json["ids"] = encoding.ids;
  }
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    fail("a column or a value in it is not UTF-8 text, and files of ours hold no other; save the table as UTF-8");
  }
}

TableEncoding parse_encoding(std::string_view text) {
  TableEncoding encoding;
  try {
    const Json json = Json::parse(text);
    for (const Json& code : json.at("columns")) {
      encoding.columns.push_back(code_from_json(code));
    }
    encoding.ids = json.value("ids", encoding.ids);
  } catch (const Json::exception&) {
    fail("the description of its columns cannot be read; the file is damaged");
  }
  return encoding;
}

}  // namespace dissent
