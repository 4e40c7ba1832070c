#include "dissent/table/column_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "dissent/table/csv.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/level_places.hpp"
#include "dissent/table/unread_cells.hpp"

namespace dissent {
namespace {

constexpr std::size_t kFewValues = 10;    // so few are never numbers with mistakes among them
constexpr double kMostly = 0.8;           // of the cells: the others look like mistakes
constexpr std::size_t kShownLength = 40;  // of a text in a message
constexpr std::array<DateOrder, 3> kDateOrders{DateOrder::kYearFirst, DateOrder::kDayFirst, DateOrder::kMonthFirst};

std::size_t num_rows(const Column* column) {
  return column == nullptr ? 0 : column->text.size() + column->values.size();
}

std::vector<std::string> texts_of(const ColumnCells& cells) {
  std::vector<std::string> texts;
  for (const auto& [text, count] : cells.counts) {
    texts.push_back(text);
  }
  return texts;
}

// A number counts towards a text that already stands for it, in whatever spelling.
void add_counts(const Column* column, ColumnCells& cells) {
  if (column == nullptr) {
    return;
  }
  const std::vector<std::string> known = column->is_text() ? std::vector<std::string>() : texts_of(cells);
  const LevelPlaces places(known);
  for (std::size_t row = 0; row < num_rows(column); ++row) {
    if (!is_missing_cell(*column, row)) {
      std::string text = cell_of(*column, row);
      const std::optional<std::size_t> place = places.find(text, true);
      ++cells.counts[place ? known[*place] : std::move(text)];
    }
  }
}

std::size_t num_missing(const Column* column) {
  if (column == nullptr) {
    return 0;
  }
  return column->is_text()
             ? column->missing_rows.size()
             : static_cast<std::size_t>(std::ranges::count_if(column->values, [](double v) { return std::isnan(v); }));
}

bool is_number(const std::string& text) {
  double ignored = 0;
  return parse_cell(text, ignored) != NumberText::kText;
}

// A number as people write it for people: 1,234 or 12 % or $5.
bool looks_like_number(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == ' ' || c == '%' || c == '$'; });
  return !text.empty() && is_number(text);
}

// Whether `is` holds for most cells. Most columns have no such cells, which is soon known.
bool mostly(const ColumnCells& cells, bool (*is)(std::string_view)) {
  const double most_others = (1 - kMostly) * static_cast<double>(cells.num_present());
  std::size_t num_others = 0;
  for (const auto& [text, count] : cells.counts) {
    num_others += is(text) ? 0 : count;
    if (static_cast<double>(num_others) > most_others) {
      return false;
    }
  }
  return true;
}

// 4,64 but not 1,234, which may be a thousand.
bool has_decimal_comma(std::string text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || text.size() - comma - 1 == 3 || text.find('.') != std::string::npos) {
    return false;
  }
  text[comma] = '.';
  return is_number(text);
}

bool is_any_date(const std::string& text) {
  return std::ranges::any_of(kDateOrders, [&](DateOrder order) { return parse_date(text, order).has_value(); });
}

// "'<5' in row 8"
std::string cell_text(const ColumnCells& cells, std::span<const std::size_t> labelled_rows, const Column& column,
                      std::size_t row) {
  const bool renumbered = &column == cells.labelled && !labelled_rows.empty();
  return fmt::format("'{}' in row {}", cell_of(column, row).substr(0, kShownLength),
                     (renumbered ? labelled_rows[row] : row) + 1);
}

// The order that most cells of a column have.
DateOrder usual_order(const Column& column) {
  const std::vector<std::string> texts = present_cells(column);
  const auto num_read = [&](DateOrder order) {
    return std::ranges::count_if(texts, [&](const std::string& text) { return parse_date(text, order).has_value(); });
  };
  return *std::ranges::max_element(kDateOrders, {}, num_read);
}

// The first cell that is not a date like those around it.
CellFault find_date_mistake(const ColumnCells& cells, std::span<const std::size_t> labelled_rows) {
  for (const Column* column : {cells.labelled, cells.pool}) {
    const DateOrder order = column == nullptr ? DateOrder() : usual_order(*column);
    for (std::size_t row = 0; row < num_rows(column); ++row) {
      if (is_missing_cell(*column, row) || parse_date(cell_of(*column, row), order)) {
        continue;
      }
      const char* what =
          is_any_date(cell_of(*column, row)) ? "has dates of more than one style" : "is dates but for text";
      return {fmt::format("'{}' {} ({})", column->name, what, cell_text(cells, labelled_rows, *column, row)), column};
    }
  }
  return {};
}

bool mostly_dates(const ColumnCells& cells) {
  std::size_t num_dates = 0;
  for (const auto& [text, count] : cells.counts) {
    num_dates += is_any_date(text) ? count : 0;
  }
  return static_cast<double>(num_dates) >= kMostly * static_cast<double>(cells.num_present());
}

double earliest_day(const std::vector<std::string>& texts, DateOrder order) {
  std::optional<double> earliest;
  for (const std::string& text : texts) {
    const double day = std::floor(parse_date(text, order).value_or(0));
    earliest = std::min(earliest.value_or(day), day);
  }
  return earliest.value_or(0);
}

CellFault ambiguous_dates(const Column& column, const std::string& date) {
  return {fmt::format("'{}' has dates like {}, of which nothing tells the day from the month; write them as 2020-03-01",
                      column.name, date),
          &column};
}

}  // namespace

std::vector<std::string> present_cells(const Column& column) {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < num_rows(&column); ++row) {
    if (!is_missing_cell(column, row)) {
      texts.push_back(cell_of(column, row));
    }
  }
  return texts;
}

ColumnCells collect_cells(const Column& labelled, const Column* pool, bool as_text) {
  ColumnCells cells{&labelled, pool};
  cells.num_rows = num_rows(&labelled) + num_rows(pool);
  cells.num_missing = num_missing(&labelled);
  cells.num_missing_in_pool = num_missing(pool);
  cells.is_text = as_text || labelled.is_text() || (pool != nullptr && pool->is_text());
  if (cells.is_text) {
    const bool pool_first = !labelled.is_text();  // text before numbers
    add_counts(pool_first ? pool : &labelled, cells);
    add_counts(pool_first ? &labelled : pool, cells);
  }
  return cells;
}

bool are_booleans(const ColumnCells& cells) {
  constexpr std::size_t kUnmistakable = 2;  // pairs, the first ones
  std::optional<std::size_t> common;
  std::array<bool, 2> occurs{};
  for (const auto& [text, count] : cells.counts) {
    std::size_t pair = 0;
    const int value = boolean_value(text, &pair);
    if (value < 0 || common.value_or(pair) != pair) {
      return false;
    }
    common = pair;
    occurs[static_cast<std::size_t>(value)] = true;
  }
  return common.has_value() && ((occurs[0] && occurs[1]) || *common < kUnmistakable);
}

DateCells judge_date_cells(const ColumnCells& cells, std::span<const std::size_t> labelled_rows) {
  std::vector<std::string> texts;
  for (const auto& [text, count] : cells.counts) {
    texts.push_back(text);
  }
  const DateColumn all = judge_dates(texts);
  if (all.are_dates && !all.ambiguous) {
    return {.are_dates = true, .order = all.order, .earliest = earliest_day(texts, all.order)};
  }
  if (!all.ambiguous && !mostly_dates(cells)) {
    return {};
  }
  const std::vector<std::string> own = present_cells(*cells.labelled);
  const std::vector<std::string> others = cells.pool == nullptr ? own : present_cells(*cells.pool);
  if (all.ambiguous) {
    return {.fault = own.empty() ? ambiguous_dates(*cells.pool, others.front())
                                 : ambiguous_dates(*cells.labelled, own.front())};
  }
  const DateColumn labelled = judge_dates(own);
  const DateColumn pool = judge_dates(others);
  if (!labelled.are_dates || !pool.are_dates) {
    return {.fault = find_date_mistake(cells, labelled_rows)};
  }
  if (labelled.ambiguous || pool.ambiguous) {
    return {.fault = labelled.ambiguous ? ambiguous_dates(*cells.labelled, own.front())
                                        : ambiguous_dates(*cells.pool, others.front())};
  }
  return {.are_dates = true,
          .order = labelled.order,
          .earliest = std::min(earliest_day(own, labelled.order), earliest_day(others, pool.order))};
}

CellFault find_mistake(const ColumnCells& cells, std::span<const std::size_t> labelled_rows) {
  std::size_t num_numbers = 0;
  std::size_t num_plain = 0;
  for (const auto& [text, count] : cells.counts) {
    num_numbers += looks_like_number(text) ? count : 0;
    num_plain += is_number(text) ? count : 0;
  }
  const bool measured =  // such as 1,5 and 1.5 in four rows, but not 5% and 10% in many
      num_numbers == cells.num_present() && 2 * cells.counts.size() > cells.num_present();
  if (num_plain == cells.num_present() || (cells.counts.size() <= kFewValues && !measured)) {
    return {};
  }
  const Column& column = cells.labelled->is_text() ? *cells.labelled : *cells.pool;
  const std::string cell = cell_text(cells, labelled_rows, column, *column.first_text_row);
  if (static_cast<double>(num_numbers) >= kMostly * static_cast<double>(cells.num_present())) {
    const bool mixed = has_decimal_comma(cell_of(column, *column.first_text_row)) &&
                       std::ranges::any_of(cells.counts, [](const auto& text_and_count) {
                         const std::string& text = text_and_count.first;
                         return text.find('.') != std::string::npos && is_number(text);
                       });
    return {fmt::format("'{}' is numbers but for text ({}){}", column.name, cell,
                        mixed ? ", some with a decimal comma and some with a point" : ""),
            &column};
  }
  return {};
}

CellFault find_unread(const ColumnCells& cells, std::span<const std::size_t> labelled_rows, bool also_times) {
  const bool times = also_times && mostly(cells, looks_like_time);
  if (!times && !mostly(cells, is_measurement)) {
    return {};
  }
  const Column& column = cells.labelled->is_text() ? *cells.labelled : *cells.pool;
  return {fmt::format(
              "'{}' is {}, which are not read ({})", column.name,
              times ? "dates or times of day in another style than 2020-03-01 14:05" : "numbers with signs or units",
              cell_text(cells, labelled_rows, column, *column.first_text_row)),
          &column};
}

}  // namespace dissent
