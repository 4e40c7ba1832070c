#include "dissent/table/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "dissent/table/csv_cell.hpp"
#include "dissent/table/date.hpp"

namespace dissent {
namespace {

constexpr std::array<std::pair<ColumnKind, std::string_view>, 5> kKindNames{{
    {ColumnKind::kNumber, "number"},
    {ColumnKind::kBoolean, "boolean"},
    {ColumnKind::kDate, "date"},
    {ColumnKind::kOrdered, "ordered"},
    {ColumnKind::kCategory, "category"},
}};

struct BooleanWord {
  std::string_view word;
  int value;
  std::size_t pair;
};
// Spreadsheets write the first pair in their own language: German, French, Spanish, Italian.
constexpr BooleanWord kBooleanWords[] = {
    {"false", 0, 0}, {"true", 1, 0},      {"falsch", 0, 0}, {"wahr", 1, 0}, {"faux", 0, 0}, {"vrai", 1, 0},
    {"falso", 0, 0}, {"verdadero", 1, 0}, {"vero", 1, 0},   {"no", 0, 1},   {"yes", 1, 1},  {"off", 0, 2},
    {"on", 1, 2},    {"f", 0, 3},         {"t", 1, 3},      {"n", 0, 4},    {"y", 1, 4}};

bool same_word(std::string_view typed, std::string_view lower) {
  return std::ranges::equal(typed, lower, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
  });
}

}  // namespace

std::string_view kind_name(ColumnKind kind) {
  return std::ranges::find(kKindNames, kind, [](const auto& entry) { return entry.first; })->second;
}

int boolean_value(std::string_view word, std::size_t* pair) {
  const auto known =
      std::ranges::find_if(kBooleanWords, [&](const BooleanWord& each) { return same_word(word, each.word); });
  if (known == std::end(kBooleanWords)) {
    return -1;
  }
  if (pair != nullptr) {
    *pair = known->pair;
  }
  return known->value;
}

bool is_missing_cell(const Column& column, std::size_t row) {
  return column.is_text() ? column.is_missing(row) : std::isnan(column.values[row]);
}

bool has_missing(const Column& column) {
  return !column.missing_rows.empty() ||
         std::ranges::any_of(column.values, [](double value) { return std::isnan(value); });
}

std::string cell_of(const Column& column, std::size_t row) {
  if (!column.is_text()) {
    const std::optional<std::string_view> spelling = column.spellings.of(row);
    return spelling ? std::string(*spelling) : fmt::format("{}", column.values[row]);
  }
  return std::string(trimmed_cell(column.text[row]));
}

std::size_t ColumnCode::num_features() const {
  const std::size_t own = kind == ColumnKind::kCategory ? levels.size() + (has_other ? 1 : 0) : 1;
  return own + (marks_missing ? 1 : 0);
}

std::vector<std::string> ColumnCode::feature_names() const {
  std::vector<std::string> names;
  if (kind == ColumnKind::kCategory) {
    for (const std::string& level : levels) {
      names.push_back(fmt::format("{}={}", column, level));
    }
    if (has_other) {
      names.push_back(column + "=other");
    }
  } else {
    names.push_back(column);
  }
  if (marks_missing) {
    names.push_back(column + " missing");
  }
  return names;
}

bool TableEncoding::is_plain() const {
  return std::ranges::all_of(columns, [](const ColumnCode& code) { return code.is_plain(); });
}

std::vector<std::string> TableEncoding::features() const {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (const ColumnCode& code : columns) {  // a feature that is a column itself keeps its name
    if (code.kind != ColumnKind::kCategory) {
      taken.insert(code.column);
    }
  }
  for (const ColumnCode& code : columns) {
    for (std::string& name : code.feature_names()) {
      const bool own = code.kind != ColumnKind::kCategory && name == code.column;
      while (!own && !taken.insert(name).second) {
        name += '_';
      }
      names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<std::string> TableEncoding::sources() const {
  std::vector<std::string> names;
  for (const ColumnCode& code : columns) {
    names.push_back(code.column);
  }
  return names;
}

std::size_t TableEncoding::column_of(std::size_t feature) const {
  std::size_t column = 0;
  while (feature >= columns[column].num_features()) {
    feature -= columns[column].num_features();
    ++column;
  }
  return column;
}

std::string TableEncoding::cell_text(std::size_t feature, std::span<const double> row) const {
  const std::size_t column = column_of(feature);
  std::size_t first = 0;
  for (std::size_t c = 0; c < column; ++c) {
    first += columns[c].num_features();
  }
  const ColumnCode& code = columns[column];
  const std::span<const double> own = row.subspan(first, code.num_features());
  if (code.marks_missing && own.back() != 0) {
    return "missing";
  }
  switch (code.kind) {
    case ColumnKind::kNumber:
      return "";
    case ColumnKind::kBoolean:
      return own[0] != 0 ? "true" : "false";
    case ColumnKind::kDate:
      return date_text(code.origin + own[0]);
    case ColumnKind::kOrdered:
      return code.levels[std::min(static_cast<std::size_t>(std::max(own[0], 0.0)), code.levels.size() - 1)];
    case ColumnKind::kCategory:
      break;
  }
  for (std::size_t k = 0; k < code.levels.size(); ++k) {
    if (own[k] != 0) {
      return code.levels[k];
    }
  }
  return code.has_other ? "other" : "new value";
}

}  // namespace dissent
