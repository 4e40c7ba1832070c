// Turns cells into features, column by column, and reports cells that the fit never saw.
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/table/column_cells.hpp"
#include "dissent/table/date.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/level_places.hpp"

namespace dissent {
namespace {

[[noreturn]] void fail_cell(const Column& column, std::size_t row, std::string value, std::string rule) {
  throw InputError(Fault{.value = std::move(value), .rule = std::move(rule), .column = column.name, .row = row});
}

// How a table writes its dates: like the fit's, or else in a style of its own if that is unambiguous.
DateOrder order_in(const Column& column, DateOrder fitted) {
  const std::vector<std::string> texts = present_cells(column);
  const auto is_date = [fitted](const std::string& text) { return parse_date(text, fitted).has_value(); };
  if (std::ranges::all_of(texts, is_date)) {
    return fitted;
  }
  const DateColumn own = judge_dates(texts);
  return own.are_dates && !own.ambiguous ? own.order : fitted;
}

// What a column has that the fit did not.
struct Unseen {
  std::set<std::string> values = {};
  std::size_t num_rows = 0;
  std::size_t num_filled = 0;  // missing cells that are not marked
};

std::string fill_text(const ColumnCode& code) {
  if (code.kind == ColumnKind::kDate) {
    return date_text(code.origin + code.fill);
  }
  return fmt::format("{:.6g}", code.fill);
}

void tell(const ColumnCode& code, const Unseen& unseen, std::vector<std::string>& told) {
  constexpr std::size_t kMostNamed = 5;
  if (!unseen.values.empty()) {
    std::vector<std::string> named;
    for (const std::string& value : unseen.values) {
      if (named.size() == kMostNamed) {
        named.push_back(fmt::format("{} more", unseen.values.size() - kMostNamed));
        break;
      }
      named.push_back("'" + value + "'");
    }
    told.push_back(fmt::format("{}: {} not seen in the fit ({}), taken for {}", code.column, fmt::join(named, ", "),
                               counted(unseen.num_rows, "row"),
                               code.kind != ColumnKind::kCategory ? "missing"
                               : code.has_other                   ? "'other'"
                                                                  : "none of its categories"));
  }
  if (unseen.num_filled > 0) {
    told.push_back(fmt::format("{}: {} missing, none in the fit, {}", code.column, unseen.num_filled,
                               code.kind == ColumnKind::kCategory ? "taken for none of its categories"
                                                                  : fmt::format("filled with {}", fill_text(code))));
  }
}

// Writes one column as its features: to[row * stride + k] for feature k.
class CellWriter {
 public:
  CellWriter(const ColumnCode& code, const Column& column, Unseen& unseen)
      : code_(code),
        column_(column),
        unseen_(unseen),
        date_order_(code.kind == ColumnKind::kDate ? order_in(column, code.date_order) : code.date_order),
        places_(code.levels) {}

  void put(std::size_t row, double* to) const {
    if (is_missing_cell(column_, row)) {
      put_missing(to);
      unseen_.num_filled += code_.marks_missing ? 0 : 1;
    } else if (code_.kind == ColumnKind::kCategory) {
      put_category(row, to);
    } else if (code_.kind == ColumnKind::kOrdered) {
      put_ordered(row, to);
    } else if (code_.kind == ColumnKind::kBoolean) {
      put_boolean(row, to);
    } else {
      to[0] = value(row);
    }
  }

 private:
  void put_missing(double* to) const {
    if (code_.kind != ColumnKind::kCategory) {
      to[0] = code_.fill;
    }
    if (code_.marks_missing) {
      to[code_.num_features() - 1] = 1;
    }
  }

  void note_unseen(std::string text) const {
    unseen_.values.insert(std::move(text));
    ++unseen_.num_rows;
  }

  void put_category(std::size_t row, double* to) const {
    std::string text = cell_of(column_, row);
    if (const auto place = places_.find(text, !column_.is_text())) {
      to[*place] = 1;
      return;
    }
    if (code_.has_other) {
      to[code_.levels.size()] = 1;  // whether it is rare or new is no longer known
      return;
    }
    note_unseen(std::move(text));
  }

  void put_ordered(std::size_t row, double* to) const {
    std::string text = cell_of(column_, row);
    if (const auto place = places_.find(text, true)) {
      to[0] = static_cast<double>(*place);
      return;
    }
    put_missing(to);
    note_unseen(std::move(text));
  }

  void put_boolean(std::size_t row, double* to) const {
    std::string text = cell_of(column_, row);
    const bool is_number = !column_.is_text();
    const int truth = text == "0" || (is_number && column_.values[row] == 0)   ? 0
                      : text == "1" || (is_number && column_.values[row] == 1) ? 1
                                                                               : boolean_value(text);
    if (truth >= 0) {
      to[0] = truth;
      return;
    }
    put_missing(to);
    note_unseen(std::move(text));
  }

  double value(std::size_t row) const {
    if (code_.kind == ColumnKind::kNumber) {
      if (column_.is_text()) {
        column_.check_numbers();
      }
      return column_.finite_number(row);
    }
    const std::string text = cell_of(column_, row);
    const std::optional<double> days = parse_date(text, date_order_);
    if (!days) {
      fail_cell(column_, row, text, "is no date like those of the fit");
    }
    return *days - code_.origin;
  }

  const ColumnCode& code_;
  const Column& column_;
  Unseen& unseen_;
  DateOrder date_order_;
  LevelPlaces places_;
};

}  // namespace

std::vector<double> TableEncoding::matrix(const Table& table, std::vector<std::string>* told) const {
  const std::vector<std::string> names = sources();
  const std::vector<const Column*> found = table.find(names);
  std::size_t stride = 0;
  for (const ColumnCode& code : columns) {
    stride += code.num_features();
  }
  if (told != nullptr) {
    told->insert(told->end(), table.notes.begin(), table.notes.end());
  }
  std::vector<double> out(table.num_rows * stride, 0.0);
  std::size_t first = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    Unseen unseen;
    const CellWriter writer(columns[c], *found[c], unseen);
    in_source(table.source, [&] {
      for (std::size_t row = 0; row < table.num_rows; ++row) {
        writer.put(row, out.data() + row * stride + first);
      }
    });
    if (told != nullptr) {
      tell(columns[c], unseen, *told);
    }
    first += columns[c].num_features();
  }
  return out;
}

Table TableEncoding::features_of(const Table& table, std::vector<std::string>* told) const {
  const std::vector<std::string> names = features();
  const std::vector<double> values = matrix(table, told);
  Table out{table.source, table.num_rows, {}};
  for (std::size_t k = 0; k < names.size(); ++k) {
    Column& column = out.columns.emplace_back();
    column.name = names[k];
    column.values.resize(table.num_rows);
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      column.values[row] = values[row * names.size() + k];
    }
  }
  return out;
}

}  // namespace dissent
