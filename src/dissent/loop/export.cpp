#include "dissent/loop/export.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "dissent/loop/kept_campaign.hpp"
#include "dissent/loop/status.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/date.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Where a labelled row comes from.
struct Source {
  const char* name = "given";
  const ChosenRow* chosen = nullptr;  // none for rows that are not in the pool
  double told = 0;
  std::size_t place = 0;  // among the given rows, or the extra ones
};

std::vector<Source> sources_of(const Campaign& campaign, const Problem& data) {
  std::vector<Source> sources;
  for (std::size_t k = 0; k < data.train.num_rows; ++k) {
    sources.push_back({.place = k});
  }
  for (const ChosenRow& chosen : campaign.chosen) {
    if (!chosen.targets.empty()) {
      sources.push_back({chosen.round == 0 ? "unasked" : "chosen", &chosen, chosen.told, 0});
    }
  }
  for (std::size_t k = 0; k < campaign.extra.size(); ++k) {
    sources.push_back({"extra", nullptr, campaign.extra.told[k], k});
  }
  return sources;
}

// Builds columns value by value.
class ColumnMaker {
 public:
  ColumnMaker(std::string name, bool is_text) {
    column_.name = std::move(name);
    if (is_text) {
      column_.first_text_row = 0;
    }
  }
  bool is_text() const { return column_.is_text(); }
  void add(double value) { column_.values.push_back(value); }
  void add(std::string text) {
    if (text.empty()) {
      column_.missing_rows.push_back(column_.text.size());
    }
    column_.text.push_back(std::move(text));
  }
  void add_missing() {
    if (column_.is_text()) {
      add(std::string());
    } else {
      column_.missing_rows.push_back(column_.values.size());
      column_.values.push_back(std::numeric_limits<double>::quiet_NaN());
    }
  }
  Column take() { return std::move(column_); }

 private:
  Column column_;
};

class Exporter {
 public:
  Exporter(const Campaign& campaign, const Problem& data, const Table& pool)
      : data_(data),
        pool_(pool),
        extra_(campaign.extra),
        inputs_(source_columns(data)),
        sources_(sources_of(campaign, data)),
        rows_(labelled_rows(campaign, data)) {}

  Table table() {
    table_ = {"the exported rows", sources_.size(), {}};
    add_text("source", [](const Source& source) { return std::string(source.name); });
    add_number("round", [](const Source& source) {
      return source.chosen != nullptr && source.chosen->round > 0 ? static_cast<double>(source.chosen->round) : NAN;
    });
    add_number("row", [](const Source& source) {
      return source.chosen != nullptr ? static_cast<double>(source.chosen->row) : NAN;
    });
    if (data_.encoding.columns.empty()) {
      add_matrix(data_.input_names, rows_.inputs);
    } else {
      add_encoded();
    }
    add_matrix(data_.target_names, rows_.targets);
    for (const Column& column : pool_.columns) {
      if (std::ranges::find(inputs_, column.name) == inputs_.end()) {
        add_other(column);
      }
    }
    for (const auto& [name, member] : {std::pair("score", &ChosenRow::score),
                                       {"epistemic", &ChosenRow::epistemic},
                                       {"aleatoric", &ChosenRow::aleatoric}}) {
      add_number(name, [value = member](const Source& source) {
        return source.chosen != nullptr ? source.chosen->*value : NAN;
      });
    }
    add_text("asked", [](const Source& source) {
      return source.chosen != nullptr ? time_text(source.chosen->asked) : std::string();
    });
    add_text("told", [](const Source& source) { return time_text(source.told); });
    add_text("why", [](const Source& source) { return source.chosen != nullptr ? source.chosen->why : std::string(); });
    return std::move(table_);
  }

 private:
  std::string free_name(std::string name) const {
    const auto is_taken = [&] {
      return pool_.has(name) || std::ranges::find(inputs_, name) != inputs_.end() ||
             std::ranges::find(data_.target_names, name) != data_.target_names.end();
    };
    while (is_taken()) {
      name += '_';
    }
    return name;
  }

  void add_text(const char* name, const std::function<std::string(const Source&)>& text) {
    ColumnMaker maker(free_name(name), true);
    for (const Source& source : sources_) {
      maker.add(text(source));
    }
    table_.columns.push_back(maker.take());
  }

  // NaN is missing.
  void add_number(const char* name, const std::function<double(const Source&)>& number) {
    ColumnMaker maker(free_name(name), false);
    for (const Source& source : sources_) {
      const double value = number(source);
      std::isnan(value) ? maker.add_missing() : maker.add(value);
    }
    table_.columns.push_back(maker.take());
  }

  void add_matrix(const std::vector<std::string>& names, std::span<const double> values) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      ColumnMaker maker(names[c], false);
      for (std::size_t row = 0; row < sources_.size(); ++row) {
        maker.add(values[row * names.size() + c]);
      }
      table_.columns.push_back(maker.take());
    }
  }

  // The columns that inputs are made from, as the tables have them.
  void add_encoded() {
    for (std::size_t c = 0; c < inputs_.size(); ++c) {
      const Column& given = data_.train_columns.column(inputs_[c]);
      const Column& pool = pool_.column(inputs_[c]);
      const bool is_text = data_.encoding.columns[c].kind != ColumnKind::kNumber || given.is_text() || pool.is_text();
      ColumnMaker maker(inputs_[c], is_text);
      for (const Source& source : sources_) {
        if (source.name == std::string_view("extra")) {
          add_text_cell(maker, extra_.cells[source.place * inputs_.size() + c]);
        } else {
          source.chosen != nullptr ? add_cell(maker, pool, source.chosen->row) : add_cell(maker, given, source.place);
        }
      }
      table_.columns.push_back(maker.take());
      if (data_.encoding.columns[c].kind == ColumnKind::kDate) {
        write_dates_alike(c, table_.columns.back());
      }
    }
  }

  // Tables may write dates in different styles. If one style does not read all dates of a column back to the days that
  // were learned from, they are written as 2020-03-01.
  void write_dates_alike(std::size_t c, Column& column) const {
    const std::vector<ColumnCode>& codes = data_.encoding.columns;
    std::size_t feature = 0;
    for (std::size_t k = 0; k < c; ++k) {
      feature += codes[k].num_features();
    }
    const auto day = [&](std::size_t row) {
      return codes[c].origin + rows_.inputs[row * data_.input_names.size() + feature];
    };
    const DateColumn dates = judge_dates(column.text);
    bool alike = dates.are_dates && !dates.ambiguous;
    for (std::size_t row = 0; alike && row < column.text.size(); ++row) {
      constexpr double kMoment = 1e-6;  // of a day
      const std::string& text = column.text[row];
      alike = text.empty() || std::abs(parse_date(text, dates.order).value_or(NAN) - day(row)) < kMoment;
    }
    for (std::size_t row = 0; !alike && row < column.text.size(); ++row) {
      if (!column.text[row].empty()) {
        column.text[row] = date_text(day(row));
      }
    }
  }

  static void add_cell(ColumnMaker& maker, const Column& column, std::size_t row) {
    if (is_missing_cell(column, row)) {
      maker.add_missing();
    } else if (maker.is_text()) {
      maker.add(cell_of(column, row));
    } else {
      maker.add(column.values[row]);
    }
  }

  // A cell of an extra row; empty if it is missing.
  static void add_text_cell(ColumnMaker& maker, const std::string& text) {
    double value = 0;
    if (maker.is_text()) {
      maker.add(text);
    } else {
      parse_cell(text, value) == NumberText::kNumber ? maker.add(value) : maker.add_missing();
    }
  }

  void add_other(const Column& column) {
    ColumnMaker maker(column.name, column.is_text());
    for (const Source& source : sources_) {
      const std::size_t row = source.chosen != nullptr ? source.chosen->row : kNone;
      if (row == kNone || column.is_missing(row)) {
        maker.add_missing();
      } else if (column.is_text()) {
        maker.add(column.text[row]);
      } else {
        maker.add(column.values[row]);
      }
    }
    table_.columns.push_back(maker.take());
  }

  const Problem& data_;
  const Table& pool_;
  const ExtraRows& extra_;
  std::vector<std::string> inputs_;  // their columns
  std::vector<Source> sources_;
  ProblemRows rows_;
  Table table_;
};

}  // namespace

Table exported_rows(const Campaign& campaign, const Problem& data, const Table& pool) {
  return Exporter(campaign, data, pool).table();
}

}  // namespace dissent
