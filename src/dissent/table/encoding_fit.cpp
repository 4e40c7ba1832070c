#include "dissent/table/encoding_fit.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/date.hpp"
#include "dissent/table/level_places.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostLevels = 50;   // with "other"
constexpr std::size_t kFewValues = 10;    // never an identifier, nor numbers with mistakes among them
constexpr double kIdentifier = 0.5;       // different texts as a share of the rows
constexpr double kMostlyNumbers = 0.8;    // of the cells: the others look like mistakes
constexpr std::size_t kShownLength = 40;  // of a text in a message

// The cells of one column, of all tables.
struct Cells {
  const Column* labelled = nullptr;
  const Column* pool = nullptr;
  std::size_t num_rows = 0;
  std::size_t num_missing = 0;          // of the labelled rows
  std::size_t num_missing_in_pool = 0;  // of the others
  bool is_text = false;
  std::map<std::string, std::size_t> counts = {};  // of different texts; numbers alone are not counted

  std::size_t num_present() const { return num_rows - num_missing - num_missing_in_pool; }
  bool any_missing() const { return num_missing + num_missing_in_pool > 0; }
};

std::vector<std::string> texts_of(const Cells& cells) {
  std::vector<std::string> texts;
  for (const auto& [text, count] : cells.counts) {
    texts.push_back(text);
  }
  return texts;
}

// Numbers count for the text that has them already, in whatever spelling.
void add_counts(const Column* column, Cells& cells) {
  if (column == nullptr) {
    return;
  }
  const std::vector<std::string> known = column->is_text() ? std::vector<std::string>() : texts_of(cells);
  const LevelPlaces places(known);
  for (std::size_t row = 0; row < column->text.size() + column->values.size(); ++row) {
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

Cells collect(const Column& labelled, const Column* pool, bool as_text) {
  Cells cells{&labelled, pool};
  const auto rows = [](const Column* column) {
    return column == nullptr ? 0 : column->text.size() + column->values.size();
  };
  cells.num_rows = rows(&labelled) + rows(pool);
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

bool is_number(const std::string& text) {
  double ignored = 0;
  return parse_cell(text, ignored) != NumberText::kText;
}

// A number as people write it for people: 1,234 or 12 % or $5.
bool looks_like_number(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == ' ' || c == '%' || c == '$'; });
  return !text.empty() && is_number(text);
}

bool are_booleans(const Cells& cells) {
  std::optional<std::size_t> common;
  for (const auto& [text, count] : cells.counts) {
    std::size_t pair = 0;
    if (boolean_value(text, &pair) < 0 || common.value_or(pair) != pair) {
      return false;
    }
    common = pair;
  }
  return common.has_value();
}

// Numbers with a few cells of text among them, and what to say of it; empty for any other column.
std::string mistake_text(const Cells& cells) {
  std::size_t num_numbers = 0;
  std::size_t num_plain = 0;
  for (const auto& [text, count] : cells.counts) {
    num_numbers += looks_like_number(text) ? count : 0;
    num_plain += is_number(text) ? count : 0;
  }
  const double share = static_cast<double>(num_numbers) / static_cast<double>(cells.num_present());
  if (share < kMostlyNumbers || num_plain == cells.num_present() || cells.counts.size() <= kFewValues) {
    return "";
  }
  const Column& column = cells.labelled->is_text() ? *cells.labelled : *cells.pool;
  const std::size_t row = *column.first_text_row;
  return fmt::format("'{}' is numbers but for text ('{}' in row {})", column.name,
                     column.text[row].substr(0, kShownLength), row + 1);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.empty() ? 0 : values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The values of a code's only feature, where cells have them.
std::vector<double> present_values(const ColumnCode& code, const Column* column) {
  std::vector<double> values;
  if (column == nullptr) {
    return values;
  }
  const Table table{"", column->text.size() + column->values.size(), {*column}};
  ColumnCode unmarked = code;
  unmarked.marks_missing = false;
  const std::vector<double> all = TableEncoding{{unmarked}}.matrix(table);
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    if (!is_missing_cell(*column, row)) {
      values.push_back(all[row]);
    }
  }
  return values;
}

// Of the labelled rows, or where they have none those of the pool.
void set_fill(const Cells& cells, ColumnCode& code) {
  if (code.kind == ColumnKind::kCategory) {
    return;
  }
  std::vector<double> values = present_values(code, cells.labelled);
  code.fill = median(values.empty() ? present_values(code, cells.pool) : std::move(values));
  if (code.kind != ColumnKind::kNumber && code.kind != ColumnKind::kDate) {
    code.fill = std::floor(code.fill);  // one there is
  }
}

void set_dates(const Cells& cells, DateOrder order, ColumnCode& code) {
  code.kind = ColumnKind::kDate;
  code.date_order = order;
  for (const auto& [text, count] : cells.counts) {
    const double day = std::floor(parse_date(text, order).value_or(0));
    code.origin = text == cells.counts.begin()->first ? day : std::min(code.origin, day);
  }
}

void set_categories(const Cells& cells, ColumnCode& code) {
  code.kind = ColumnKind::kCategory;
  code.levels = texts_of(cells);
  if (code.levels.size() > kMostLevels) {
    std::ranges::stable_sort(code.levels, std::ranges::greater(),
                             [&](const std::string& level) { return cells.counts.at(level); });
    code.levels.resize(kMostLevels - 1);
    std::ranges::sort(code.levels);
    code.has_other = true;
  }
}

std::string missing_text(const Cells& cells, const ColumnCode& code) {
  if (!cells.any_missing()) {
    return "";
  }
  const std::string fill = code.kind == ColumnKind::kDate      ? date_text(code.origin + code.fill)
                           : code.kind == ColumnKind::kOrdered ? code.levels[static_cast<std::size_t>(code.fill)]
                                                               : fmt::format("{:.6g}", code.fill);
  const std::string count = cells.num_missing_in_pool == 0 ? fmt::format("{} missing", cells.num_missing)
                                                           : fmt::format("{} missing and {} in the pool",
                                                                         cells.num_missing, cells.num_missing_in_pool);
  return code.kind == ColumnKind::kCategory ? count + ", marked"
                                            : fmt::format("{}, filled with the median {} and marked", count, fill);
}

std::string kind_text(const Cells& cells, const ColumnCode& code) {
  switch (code.kind) {
    case ColumnKind::kNumber:
      return "";
    case ColumnKind::kBoolean:
      return "true or false, as 1 or 0";
    case ColumnKind::kDate:
      return "days since " + date_text(code.origin);
    case ColumnKind::kOrdered:
      return fmt::format("{} as 0 to {}", fmt::join(code.levels, " < "), code.levels.size() - 1);
    case ColumnKind::kCategory:
      break;
  }
  const std::size_t count = cells.counts.size();
  return code.has_other
             ? fmt::format("{} categories, the {} most frequent one-hot, others as 'other'", count, code.levels.size())
             : fmt::format("{} {}, one-hot", count, count == 1 ? "category" : "categories");
}

class Judge {
 public:
  Judge(const ColumnOptions& options, const Table& labelled, const Table* pool)
      : named_(!options.inputs.empty()),
        labelled_(labelled),
        pool_(pool),
        orders_(parse_orders(options.order, labelled)) {
    for (std::size_t k = 0; pool != nullptr && k < pool->columns.size(); ++k) {
      in_pool_.emplace(pool->columns[k].name, &pool->columns[k]);
    }
    const std::vector<std::string> names = options.input_names(labelled);
    for (const ColumnOrder& order : orders_) {
      check_argument(std::ranges::find(names, order.column) != names.end(), "order", order.column, "it is no input");
    }
    for (const Column* column : labelled.find(names)) {
      judge(*column);
    }
    check_pool();
    in_source(labelled.source, [&] {
      check(refused_.empty(), "{}; correct {}, or leave the column out with `ignore`", fmt::join(refused_, "; "),
            refused_.size() == 1 ? "it" : "them");
      check(!fitted_.encoding.columns.empty(), "no column is left as input: {}", fmt::join(fitted_.told, "; "));
    });
    fitted_.encoding.ids = options.ids;
  }

  FittedEncoding take() { return std::move(fitted_); }

 private:
  // Notes beside the labelled rows are common.
  void check_pool() const {
    if (absent_.empty()) {
      return;
    }
    std::vector<std::string> names;
    for (const Column& column : pool_->columns) {
      names.push_back(column.name);
    }
    throw InputError(Fault{.source = pool_->source,
                           .rule = missing_column_text(absent_, names) + "; `ignore` leaves out what is no input"});
  }

  void leave_out(const Column& column, const std::string& why) {
    fitted_.told.push_back(fmt::format("{}: {}, left out", column.name, why));
  }

  void judge(const Column& column) {
    if (!named_ && column.unnamed) {
      leave_out(column, "a column without a name");
      return;
    }
    const auto order = std::ranges::find(orders_, column.name, &ColumnOrder::column);
    const auto found = in_pool_.find(column.name);
    const Column* in_pool = found == in_pool_.end() ? nullptr : found->second;
    if (const Column* doubted = !column.doubt.empty() ? &column : in_pool; doubted && !doubted->doubt.empty()) {
      refused_.push_back(fmt::format("'{}' in row {}: {}", column.name, *doubted->first_text_row + 1, doubted->doubt));
      return;
    }
    const Cells cells = collect(column, in_pool, order != orders_.end());
    if (cells.num_present() == 0 && cells.num_rows > 0) {
      named_ ? refused_.push_back(fmt::format("'{}' has no values", column.name)) : leave_out(column, "no values");
      return;
    }
    ColumnCode code{column.name};
    if (order != orders_.end()) {
      judge_order(*order, cells, code);
    } else if (cells.is_text && !judge_text(cells, code)) {
      return;
    }
    if (pool_ != nullptr && in_pool == nullptr) {
      absent_.push_back(column.name);
      return;
    }
    add(cells, std::move(code));
  }

  void judge_order(const ColumnOrder& order, const Cells& cells, ColumnCode& code) {
    code.kind = ColumnKind::kOrdered;
    code.levels = order.levels;
    std::vector<std::string> unknown;
    const LevelPlaces places(order.levels);
    for (const auto& [text, count] : cells.counts) {
      if (!places.find(text, true)) {
        unknown.push_back(text);
      }
    }
    if (!unknown.empty()) {
      refused_.push_back(fmt::format("`order` has no place for {} of '{}'", fmt::join(unknown, ", "), order.column));
    }
  }

  // False where the column is left out or refused.
  bool judge_text(const Cells& cells, ColumnCode& code) {
    if (are_booleans(cells)) {
      code.kind = ColumnKind::kBoolean;
      return true;
    }
    const DateColumn dates = judge_dates(texts_of(cells));
    if (dates.ambiguous) {
      refused_.push_back(
          fmt::format("'{}' has dates like {}, of which nothing tells the day from the month; write them "
                      "as 2020-03-01",
                      code.column, cells.counts.begin()->first));
      return false;
    }
    if (dates.are_dates) {
      set_dates(cells, dates.order, code);
      return true;
    }
    if (const std::string mistake = mistake_text(cells); !mistake.empty()) {
      refused_.push_back(mistake);
      return false;
    }
    const std::size_t count = cells.counts.size();
    if (!named_ && count > kFewValues &&
        static_cast<double>(count) > kIdentifier * static_cast<double>(cells.num_rows)) {
      leave_out(*cells.labelled, fmt::format("{} different texts in {}", count, counted(cells.num_rows, "row")));
      return false;
    }
    set_categories(cells, code);
    return true;
  }

  void add(const Cells& cells, ColumnCode code) {
    code.marks_missing = cells.any_missing();
    in_source(labelled_.source, [&] { set_fill(cells, code); });
    const std::string kind = kind_text(cells, code);
    const std::string missing = missing_text(cells, code);
    if (!kind.empty() || !missing.empty()) {
      fitted_.told.push_back(
          fmt::format("{}: {}{}{}", code.column, kind, kind.empty() || missing.empty() ? "" : "; ", missing));
    }
    fitted_.encoding.columns.push_back(std::move(code));
  }

  bool named_;  // whoever names inputs gets them
  const Table& labelled_;
  const Table* pool_;
  std::unordered_map<std::string_view, const Column*> in_pool_;
  std::vector<ColumnOrder> orders_;
  std::vector<std::string> refused_;
  std::vector<std::string> absent_;  // from the pool
  FittedEncoding fitted_;
};

}  // namespace

FittedEncoding fit_encoding(const ColumnOptions& options, const Table& labelled, const Table* pool) {
  return Judge(options, labelled, pool).take();
}

}  // namespace dissent
