#include "dissent/table/encoding_fit.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/table/column_cells.hpp"
#include "dissent/table/column_code.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "dissent/table/level_places.hpp"

namespace dissent {
namespace {

constexpr std::size_t kFewValues = 10;    // so few are never identifiers
constexpr std::size_t kShownLength = 40;  // of a text in a message
constexpr double kIdentifier = 0.5;       // different texts as a share of the rows

// 0 or 1 if each value is its row's number in the file, counted from there; else none.
std::optional<int> first_row_number(const Column& column, std::span<const std::size_t> rows) {
  constexpr std::size_t kFewest = 10;  // fewer may match by chance
  const auto in_file = [&](std::size_t row) { return static_cast<double>(rows.empty() ? row : rows[row]); };
  if (column.values.size() < kFewest) {
    return std::nullopt;
  }
  const double first = column.values[0] - in_file(0);
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (column.values[row] - in_file(row) != first) {
      return std::nullopt;
    }
  }
  return first == 0 || first == 1 ? std::optional(static_cast<int>(first)) : std::nullopt;
}

class Judge {
 public:
  // `rows` are the labelled rows' numbers in the file.
  Judge(const ColumnOptions& options, const Table& labelled, std::span<const std::size_t> rows, const Table* pool)
      : named_(!options.inputs.empty()),
        labelled_(labelled),
        pool_(pool),
        labelled_rows_(rows),
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
    check_refused();
    in_source(labelled.source, [&] {
      check(!fitted_.encoding.columns.empty(), "no column is left as input: {}", fmt::join(fitted_.told, "; "));
    });
    fitted_.encoding.ids = options.ids;
    group_categories();
  }

  FittedEncoding take() { return std::move(fitted_); }

 private:
  // All that is wrong at once, under the name of the first file that it is in.
  void check_refused() const {
    std::vector<std::string> wrong = refused_;
    for (const std::string& text : refused_in_pool_) {
      wrong.push_back(refused_.empty() ? text : fmt::format("{}: {}", pool_->source, text));
    }
    check_in(wrong.empty() || !refused_.empty() ? labelled_.source : pool_->source, wrong.empty(),
             "{}; correct {}, or leave the column out with `ignore`", fmt::join(wrong, "; "),
             wrong.size() == 1 ? "it" : "them");
  }

  // Columns of notes beside the labelled rows are common.
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

  // `labelled`: the column that was judged.
  void refuse(const CellFault& fault, const Column& labelled) {
    (fault.column == &labelled ? refused_ : refused_in_pool_).push_back(fault.text);
  }

  void judge(const Column& column) {
    if (!named_ && column.unnamed) {
      leave_out(column, "a column without a name");
      return;
    }
    const auto order = std::ranges::find(orders_, column.name, &ColumnOrder::column);
    const std::optional<int> first = first_row_number(column, labelled_rows_);
    if (!named_ && order == orders_.end() && first) {
      fitted_.told.push_back(fmt::format("{}: {}, {}, {}, ..., looks like row numbers; leave it out if it is",
                                         column.name, *first, *first + 1, *first + 2));
    }
    const auto found = in_pool_.find(column.name);
    const Column* in_pool = found == in_pool_.end() ? nullptr : found->second;
    if (const Column* doubted = !column.doubt.empty() ? &column : in_pool; doubted && !doubted->doubt.empty()) {
      const std::size_t row = *doubted->first_text_row;
      const std::size_t in_file = doubted == &column && !labelled_rows_.empty() ? labelled_rows_[row] : row;
      refuse({fmt::format("'{}' in row {}: '{}' {}", column.name, in_file + 1, doubted->text[row], doubted->doubt),
              doubted},
             column);
      return;
    }
    const ColumnCells cells = collect_cells(column, in_pool, order != orders_.end());
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
    if (!named_ && cells.counts.size() == 1 && !cells.any_missing() && order == orders_.end()) {
      leave_out(column, fmt::format("'{}' in every row", cells.counts.begin()->first.substr(0, kShownLength)));
      return;
    }
    if (pool_ != nullptr && in_pool == nullptr) {
      absent_.push_back(column.name);
      return;
    }
    add(cells, std::move(code));
  }

  void judge_order(const ColumnOrder& order, const ColumnCells& cells, ColumnCode& code) {
    code.kind = ColumnKind::kOrdered;
    code.levels = order.levels;
    const LevelPlaces places(order.levels);
    std::set<std::string> known(order.levels.begin(), order.levels.end());  // and those that were refused
    for (const Column* column : {cells.labelled, cells.pool}) {
      std::set<std::string> unknown;
      for (const std::string& text : column == nullptr ? std::vector<std::string>() : present_cells(*column)) {
        if (!places.find(text, true) && known.insert(text).second) {
          unknown.insert(text);
        }
      }
      if (!unknown.empty()) {
        refuse({fmt::format("`order` has no place for {} of '{}'", fmt::join(unknown, ", "), order.column), column},
               *cells.labelled);
      }
    }
  }

  // False if the column is left out or refused.
  bool judge_text(const ColumnCells& cells, ColumnCode& code) {
    if (are_booleans(cells)) {
      code.kind = ColumnKind::kBoolean;
      return true;
    }
    const DateCells dates = judge_date_cells(cells, labelled_rows_);
    if (dates.are_dates) {
      set_dates(dates, code);
      return true;
    }
    const CellFault mistake = dates.fault.found() ? dates.fault : find_mistake(cells, labelled_rows_);
    if (mistake.found()) {
      refuse(mistake, *cells.labelled);
      return false;
    }
    const std::size_t count = cells.counts.size();
    if (!named_ && static_cast<double>(count) > kIdentifier * static_cast<double>(cells.num_rows)) {
      const CellFault unread = find_unread(cells, labelled_rows_, count > kFewValues);
      if (unread.found()) {
        refuse(unread, *cells.labelled);
        return false;
      }
      if (count > kFewValues) {
        leave_out(*cells.labelled, fmt::format("{} different texts in {}", count, counted(cells.num_rows, "row")));
        return false;
      }
    }
    set_categories(cells, code);
    return true;
  }

  void add(const ColumnCells& cells, ColumnCode code) {
    code.marks_missing = cells.any_missing();
    in_source(labelled_.source, [&] { set_fill(cells, labelled_rows_, code); });
    const std::string kind = kind_text(cells, code);
    const std::string missing = missing_text(cells, code);
    if (code.kind == ColumnKind::kCategory && !code.has_other && missing.empty()) {
      categories_.push_back({fitted_.told.size(), code.column, fmt::format("{}", code.levels.size())});
    }
    if (!kind.empty() || !missing.empty()) {
      fitted_.told.push_back(
          fmt::format("{}: {}{}{}", code.column, kind, kind.empty() || missing.empty() ? "" : "; ", missing));
    }
    fitted_.encoding.columns.push_back(std::move(code));
  }

  // Joins the lines of many categories into one, in place of the first.
  void group_categories() {
    constexpr std::size_t kMostLines = 6;
    if (categories_.size() <= kMostLines) {
      return;
    }
    std::vector<std::string> names;
    std::vector<std::string> counts;
    for (const CategoryLine& line : categories_) {
      names.push_back(line.column);
      counts.push_back(line.count);
      fitted_.told[line.place].clear();
    }
    const std::string last = counts.back();
    counts.pop_back();
    fitted_.told[categories_.front().place] =
        fmt::format("{}: categories, one-hot ({} and {})", fmt::join(names, ", "), fmt::join(counts, ", "), last);
    std::erase(fitted_.told, "");
  }

  struct CategoryLine {
    std::size_t place;  // in fitted_.told
    std::string column;
    std::string count;
  };

  bool named_;  // the user named the inputs, so none is left out
  const Table& labelled_;
  const Table* pool_;
  std::span<const std::size_t> labelled_rows_;
  std::unordered_map<std::string_view, const Column*> in_pool_;
  std::vector<ColumnOrder> orders_;
  std::vector<std::string> refused_;          // what is wrong with the labelled rows
  std::vector<std::string> refused_in_pool_;  // and with the pool
  std::vector<std::string> absent_;           // from the pool
  std::vector<CategoryLine> categories_;
  FittedEncoding fitted_;
};

}  // namespace

FittedEncoding fit_encoding(const ColumnOptions& options, const Table& labelled, const Table* pool) {
  if (complete_rows(labelled, options.targets).size() == labelled.num_rows) {
    return Judge(options, labelled, {}, pool).take();
  }
  std::vector<std::size_t> rows;
  const Table learned_from = rows_with_targets(labelled, options.targets, rows);
  return Judge(options, learned_from, rows, pool).take();
}

}  // namespace dissent
