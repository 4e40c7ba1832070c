#include "dissent/loop/answers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/loop/row_match.hpp"
#include "dissent/loop/tables.hpp"

namespace dissent {
namespace {

// Rows of the table whose targets are all empty are not answered yet; one that is half filled in is a mistake.
std::vector<std::size_t> answered_lines(const Table& table, const std::vector<std::string>& targets) {
  std::vector<std::size_t> lines;
  for (std::size_t line = 0; line < table.num_rows; ++line) {
    const auto is_missing = [&](const std::string& name) { return table.column(name).is_missing(line); };
    const auto num_missing = static_cast<std::size_t>(std::ranges::count_if(targets, is_missing));
    check(num_missing == 0 || num_missing == targets.size(),
          "line {} of the file has some of its targets and not all; fill in {}, or none of them", line_number(line),
          fmt::join(targets, ", "));
    if (num_missing == 0) {
      lines.push_back(line);
    }
  }
  check(!lines.empty(), "no row has its targets filled in ({})", fmt::join(targets, ", "));
  return lines;
}

// The number of a pool row is a whole one.
std::size_t row_at(const Table& table, const std::string& row_column, std::size_t line) {
  check(!table.column(row_column).is_missing(line),
        "line {} of the file has its targets, but its '{}' is empty; it says which row of the pool they are of",
        line_number(line), row_column);
  const double number = table.column(row_column).number(line);
  check(number >= 0 && number < 1e15 && number == std::floor(number), "row {} was never asked for", number);
  return static_cast<std::size_t>(number);
}

// Which line answered each row, so that one that comes twice can be named.
class Lines {
 public:
  void add(std::size_t row, std::size_t line) {
    const auto [first, is_new] = line_of_.try_emplace(row, line);
    check(is_new, "lines {} and {} of the file both answer row {} of the pool; a row is told once",
          line_number(first->second), line_number(line), row);
  }
  bool has(std::size_t row) const { return line_of_.contains(row); }

 private:
  std::map<std::size_t, std::size_t> line_of_;
};

// Words in the place of numbers. Most often they say that an experiment failed, so what to do then is said.
void check_no_text(const Table& table, const std::vector<std::string>& targets, const std::string& row_column) {
  constexpr std::size_t kShownLength = 40;
  for (const Column* column : table.find(targets)) {
    if (!column->is_text()) {
      continue;
    }
    const std::size_t line = *column->first_text_row;
    const bool has_number =
        table.has(row_column) && !table.column(row_column).is_text() && !table.column(row_column).is_missing(line);
    const std::string remedy = has_number ? fmt::format("; `drop` takes row {} if its experiment failed",
                                                        table.column(row_column).values[line])
                                          : "";
    throw InputError(Fault{.value = column->text[line].substr(0, kShownLength),
                           .rule = fmt::format("is text; a number is required: leave it empty{}", remedy),
                           .column = column->name,
                           .row = line});
  }
}

std::vector<double> targets_at(const Table& table, std::size_t line, const std::vector<std::string>& names) {
  std::vector<double> targets;
  for (const std::string& name : names) {
    targets.push_back(table.column(name).number(line));
  }
  return targets;
}

// The inputs [C] of a line, made of its columns as those of the problem are.
std::vector<double> inputs_at(const Table& table, std::size_t line, const Problem& data) {
  const TableEncoding encoding = table_encoding(data);
  Table row{table.source, 1, {}};
  for (const Column* column : table.find(encoding.sources())) {
    row.columns.push_back(picked_rows(*column, std::vector{line}));
  }
  for (std::size_t k = 0; k < row.columns.size(); ++k) {
    if (!encoding.columns[k].marks_missing && is_missing_cell(row.columns[k], 0)) {
      throw InputError(Fault{.rule = "it is empty; no labelled row lacks it, so a model cannot know what that means",
                             .column = row.columns[k].name,
                             .row = line});
    }
  }
  try {
    return encoding.matrix(row);
  } catch (const InputError& error) {
    Fault fault = error.fault();
    fault.row = fault.row ? std::optional(line) : std::nullopt;
    throw InputError(fault);
  }
}

void add_answer(Answers& answers, std::size_t row, std::span<const double> targets) {
  answers.rows.push_back(row);
  answers.targets.insert(answers.targets.end(), targets.begin(), targets.end());
}

void check_in_pool(std::span<const std::size_t> rows, std::size_t num_rows) {
  for (const std::size_t row : rows) {
    check(row < num_rows, "row {} is not in the pool of {}", row, counted(num_rows, "row"));
  }
}

// Of rows with equal inputs: one that waits, else one that was never chosen, else the first.
std::size_t best_of(std::span<const std::size_t> rows, const Campaign& campaign, const Lines& lines) {
  std::map<std::size_t, const ChosenRow*> chosen;
  for (const ChosenRow& row : campaign.chosen) {
    chosen[row.row] = &row;
  }
  const auto rank = [&](std::size_t row) {
    const auto found = chosen.find(row);
    const int of_campaign = found == chosen.end() ? 1 : found->second->is_pending() ? 0 : 2;
    return of_campaign + (lines.has(row) ? 3 : 0);
  };
  return *std::ranges::min_element(rows, {}, rank);
}

// The row of the pool that has the inputs of a line, if any.
std::optional<std::size_t> find_row(const Table& table, std::size_t line, const Table& pool,
                                    const std::vector<std::string>& names, const Campaign& campaign,
                                    const Lines& lines) {
  const std::vector<std::size_t> found = RowFinder(pool, names).find(table, line);
  if (found.empty()) {
    return std::nullopt;
  }
  check(all_equal(pool, found, names),
        "line {} of the file could be any of {} of the pool, whose inputs differ little; give the number in a column "
        "'row'",
        line_number(line), counted(found.size(), "row"));
  return best_of(found, campaign, lines);
}

// The extra row with these inputs [C].
std::optional<std::size_t> find_extra(const ExtraRows& extra, std::span<const double> inputs) {
  for (std::size_t k = 0; k < extra.size(); ++k) {
    if (std::ranges::equal(std::span(extra.inputs).subspan(k * inputs.size(), inputs.size()), inputs, same_number)) {
      return k;
    }
  }
  return std::nullopt;
}

void take_extra(Campaign& campaign, const Problem& data, const Answers& answers, double now) {
  const std::size_t C = data.input_names.size();
  const std::size_t D = campaign.num_targets;
  for (std::size_t k = 0; k < answers.extra.size(); ++k) {
    const std::span<const double> inputs = std::span(answers.extra.inputs).subspan(k * C, C);
    const std::span<const double> targets = std::span(answers.extra.targets).subspan(k * D, D);
    ExtraRows& extra = campaign.extra;
    const std::optional<std::size_t> known = find_extra(extra, inputs);
    check(!known || answers.correct,
          "a row that is not of the pool ({} = {}, ...) was told before; a row is told once, unless `correct` replaces "
          "it",
          data.input_names.front(), inputs.front());
    if (!known) {
      extra.inputs.insert(extra.inputs.end(), inputs.begin(), inputs.end());
      extra.targets.insert(extra.targets.end(), targets.begin(), targets.end());
      extra.told.push_back(now);
    } else {
      std::ranges::copy(targets, extra.targets.begin() + static_cast<std::ptrdiff_t>(*known * D));
      extra.told[*known] = now;
    }
    campaign.fitted.reset();
    campaign.model_fingerprint = 0;
  }
}

}  // namespace

Answers read_answers(const Table& table, const std::vector<std::string>& target_names, const std::string& row_column) {
  Answers answers{table.source};
  in_source(table.source, [&] {
    check(table.has(row_column),
          "has no column '{}'; answers carry the numbers of the rows that were asked for, and `extra` takes rows that "
          "nobody asked for",
          row_column);
    check_no_text(table, target_names, row_column);
    Lines lines;
    for (const std::size_t line : answered_lines(table, target_names)) {
      const std::size_t row = row_at(table, row_column, line);
      lines.add(row, line);
      add_answer(answers, row, targets_at(table, line, target_names));
    }
  });
  return answers;
}

Answers read_answers(const Table& table, const Problem& data, const Table& pool, const std::string& row_column) {
  Answers answers = read_answers(table, data.target_names, row_column);
  in_source(table.source, [&] {
    for (const std::size_t row : answers.rows) {
      check(row < data.pool.num_rows, "row {} was never asked for", row);
    }
    check_inputs(table, answered_lines(table, data.target_names), pool, answers.rows, source_columns(data));
  });
  return answers;
}

Answers read_unasked(const Table& table, const Campaign& campaign, const Problem& data, const Table& pool,
                     const std::string& row_column) {
  const std::vector<std::string> names = source_columns(data);
  Answers answers{table.source};
  answers.unasked = true;
  in_source(table.source, [&] {
    check_no_text(table, data.target_names, row_column);
    const std::vector<std::size_t> told = answered_lines(table, data.target_names);
    Lines lines;
    for (const std::size_t line : told) {
      const std::vector<double> targets = targets_at(table, line, data.target_names);
      for (const double value : targets) {
        check(std::isfinite(value), "line {} of the file is told {}; answers must be finite numbers", line_number(line),
              value);
      }
      std::optional<std::size_t> row;
      std::vector<double> inputs;
      if (table.has(row_column) && !table.column(row_column).is_missing(line)) {
        row = row_at(table, row_column, line);
        check_in_pool(std::vector{*row}, data.pool.num_rows);
        check_inputs(table, std::vector{line}, pool, std::vector{*row}, names);
      } else {
        inputs = inputs_at(table, line, data);
        row = find_row(table, line, pool, names, campaign, lines);
      }
      if (row) {
        lines.add(*row, line);
        add_answer(answers, *row, targets);
      } else {
        answers.extra.inputs.insert(answers.extra.inputs.end(), inputs.begin(), inputs.end());
        answers.extra.targets.insert(answers.extra.targets.end(), targets.begin(), targets.end());
        answers.extra.told.push_back(0);
      }
    }
  });
  return answers;
}

void take_answers(Campaign& campaign, const Problem& data, const Answers& answers, double now) {
  const std::size_t D = campaign.num_targets;
  const Retell retell = answers.correct ? Retell::kAllowed : Retell::kRefused;
  in_source(answers.source, [&] {
    check(answers.targets.size() == answers.rows.size() * D, "{} target values for {} rows of {}",
          answers.targets.size(), answers.rows.size(), D);
    const Campaign before = campaign;
    std::map<std::size_t, std::size_t> position_of;
    for (std::size_t k = 0; k < campaign.chosen.size(); ++k) {
      position_of[campaign.chosen[k].row] = k;
    }
    for (std::size_t k = 0; k < answers.rows.size(); ++k) {
      const auto found = position_of.find(answers.rows[k]);
      check(found != position_of.end() || answers.unasked,
            "row {} was never asked for; `extra` takes rows that nobody asked for", answers.rows[k]);
      check_in_pool(std::vector{answers.rows[k]}, data.pool.num_rows);
      const std::size_t position = found == position_of.end() ? place_of(campaign, answers.rows[k]) : found->second;
      tell(campaign, position, std::span(answers.targets).subspan(k * D, D), retell);
      campaign.chosen[position].told = now;
    }
    check_in_pool(answers.dropped, data.pool.num_rows);
    for (const std::size_t row : answers.dropped) {
      const std::size_t position = place_of(campaign, row);
      check(std::ranges::find(answers.rows, row) == answers.rows.end(), "row {} is told and dropped at once", row);
      drop(campaign, position, retell);
      campaign.chosen[position].told = now;
    }
    check_labels(before, data, answers.rows, answers.targets);
    check_extra(before, data, answers.extra);
    take_extra(campaign, data, answers, now);
  });
}

}  // namespace dissent
