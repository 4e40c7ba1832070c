#include "dissent/table/table.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/csv_cell.hpp"

namespace dissent {
namespace {

[[noreturn]] void fail_at(const Column& column, std::size_t row, std::string value, std::string rule) {
  throw InputError(Fault{.value = std::move(value), .rule = std::move(rule), .column = column.name, .row = row});
}

constexpr std::size_t kShownLength = 40;  // of a text in a message

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    names.push_back(column.name);
  }
  return names;
}

bool is_number(const std::string& text) {
  double ignored = 0;
  return parse_cell(text, ignored) != NumberText::kText;
}

// A guess at the name meant. Every name is near to one or two letters, so these only match a name in another case.
std::string near_text(const std::string& name, const std::vector<std::string>& names) {
  constexpr std::size_t kShortest = 3;
  const auto in_other_case = [&](const std::string& known) {
    return std::ranges::equal(
        known, name, {}, [](unsigned char c) { return std::tolower(c); },
        [](unsigned char c) { return std::tolower(c); });
  };
  return name.size() >= kShortest || std::ranges::any_of(names, in_other_case) ? did_you_mean(name, names) : "";
}

}  // namespace

bool Column::is_missing(std::size_t row) const { return std::ranges::binary_search(missing_rows, row); }

bool Column::is_sure_number(std::size_t row) const {
  return is_number(text[row]) && (!doubts_points || !is_grouped_by_points(text[row]));
}

void Column::check_numbers() const {
  if (is_text()) {
    fail_at(*this, *first_text_row, text[*first_text_row].substr(0, kShownLength),
            doubt.empty() ? "is text; a number is required" : doubt);
  }
  if (!missing_rows.empty()) {
    fail_at(*this, missing_rows.front(), "", "the value is missing; a number is required");
  }
}

double Column::number(std::size_t row) const {
  if (is_text()) {
    check_numbers();
  }
  return values[row];
}

double Column::finite_number(std::size_t row) const {
  const double value = number(row);
  if (!std::isfinite(value)) [[unlikely]] {
    fail_at(*this, row, fmt::format("{}", value), "is not a finite number");
  }
  return value;
}

bool Table::has(std::string_view name) const {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
}

const Column& Table::column(std::string_view name) const {
  for (const Column& column : columns) {
    if (column.name == name) {
      return column;
    }
  }
  const std::string missing(name);
  throw InputError(Fault{.source = source, .rule = missing_column_text({&missing, 1}, names_of(*this))});
}

std::vector<const Column*> Table::find(std::span<const std::string> names) const {
  std::unordered_map<std::string_view, const Column*> by_name;
  for (const Column& column : columns) {
    by_name.emplace(column.name, &column);
  }
  std::vector<const Column*> found;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const auto at = by_name.find(name);
    if (at == by_name.end()) {
      missing.push_back(name);
    } else {
      found.push_back(at->second);
    }
  }
  if (!missing.empty()) {
    throw InputError(Fault{.source = source, .rule = missing_column_text(missing, names_of(*this))});
  }
  return found;
}

std::vector<double> Table::matrix(std::span<const std::string> names) const {
  std::vector<double> out(num_rows * names.size());
  const std::vector<const Column*> found = find(names);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Column& from = *found[k];
    in_source(source, [&] {
      from.check_numbers();
      for (std::size_t row = 0; row < num_rows; ++row) {
        out[row * names.size() + k] = from.finite_number(row);
      }
    });
  }
  return out;
}

std::string missing_column_text(std::span<const std::string> missing, const std::vector<std::string>& names) {
  static constexpr std::size_t kMostNamed = 20;
  const auto listed = [](std::span<const std::string> all, std::string_view between) {
    std::string text = fmt::format("{}", fmt::join(all.first(std::min(all.size(), kMostNamed)), between));
    return all.size() > kMostNamed ? fmt::format("{} ... and {} more", text, all.size() - kMostNamed) : text;
  };
  std::vector<std::string> shown = names;
  for (std::string& name : shown) {
    name = name.find(',') == std::string::npos ? name : '"' + name + '"';
  }
  const std::string split = fmt::format("{}", fmt::join(missing, ","));
  const bool has_comma = std::ranges::find(names, split) != names.end();
  if (has_comma) {
    return fmt::format("has no columns '{}', but '{}'; a name with a comma stands in double quotes: '\"{}\"'",
                       listed(missing, "', '"), split, split);
  }
  const bool one = missing.size() == 1;
  const std::string near = one ? near_text(missing.front(), names) : "";
  const bool no_header = std::ranges::all_of(names, is_number);
  return fmt::format("has no column{} '{}'{}{}", one ? "" : "s", listed(missing, "', '"), near,
                     !near.empty() ? ""
                     : no_header   ? "; its first line holds numbers only; a header line with column names is required"
                                   : "; it has: " + listed(shown, ", "));
}

std::vector<std::size_t> complete_rows(const Table& table, std::span<const std::string> names) {
  const std::vector<const Column*> columns = table.find(names);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const auto has_none = [row](const Column* column) {
      return column->is_missing(row) || (!column->is_text() && std::isnan(column->values[row]));
    };
    if (std::ranges::none_of(columns, has_none)) {
      rows.push_back(row);
    }
  }
  return rows;
}

Table picked_rows(const Table& table, std::span<const std::size_t> rows) {
  Table part{table.source, rows.size(), {}, {}, table.style};
  for (const Column& column : table.columns) {
    Column& own = part.columns.emplace_back();
    own.name = column.name;
    own.unnamed = column.unnamed;
    own.doubt = column.doubt;
    own.doubts_points = column.doubts_points;
    const auto is_text = [&](std::size_t row) { return !column.is_missing(row) && !column.is_sure_number(row); };
    if (column.is_text()) {
      const auto first = std::ranges::find_if(rows, is_text);
      own.first_text_row = first == rows.end() ? 0 : static_cast<std::size_t>(first - rows.begin());
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (column.is_missing(rows[k])) {
        own.missing_rows.push_back(k);
      }
      if (column.is_text()) {
        own.text.push_back(column.text[rows[k]]);
      } else {
        own.values.push_back(column.values[rows[k]]);
        if (const auto spelling = column.spellings.of(rows[k])) {
          own.spellings.add(k, *spelling);
        }
      }
    }
  }
  return part;
}

void check_column_names(std::span<const std::string> names, const std::string& source) {
  in_source(source, [&] {
    check(!names.empty(), "has no columns; at least one is required");
    std::unordered_set<std::string_view> seen;
    for (std::size_t k = 0; k < names.size(); ++k) {
      check(!names[k].empty(), "column {} has no name; every column of the header must have one", k + 1);
      check(seen.insert(names[k]).second, "column name '{}' occurs twice; {}", names[k],
            std::ranges::all_of(names, is_number) ? "is the header line with column names missing?"
                                                  : "names must be unique");
    }
  });
}

}  // namespace dissent
