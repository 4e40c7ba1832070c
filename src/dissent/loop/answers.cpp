#include "dissent/loop/answers.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/loop/answer_lines.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/loop/row_match.hpp"

namespace dissent {
namespace {

// Identifies an extra row, to the last bit: other inputs or other cells mean another experiment.
using ExtraKey = std::pair<std::vector<double>, std::vector<std::string>>;

template <class T>
std::span<const T> row_of(const std::vector<T>& matrix, std::size_t row, std::size_t num_rows) {
  const std::size_t width = matrix.size() / num_rows;
  return std::span(matrix).subspan(row * width, width);
}

ExtraKey key_of(const ExtraRows& extra, std::size_t row) {
  const std::span<const double> inputs = row_of(extra.inputs, row, extra.size());
  const std::span<const std::string> cells = row_of(extra.cells, row, extra.size());
  return {{inputs.begin(), inputs.end()}, {cells.begin(), cells.end()}};
}

void add_row(ExtraRows& extra, const ExtraKey& key, std::span<const double> targets, double now) {
  extra.inputs.insert(extra.inputs.end(), key.first.begin(), key.first.end());
  extra.cells.insert(extra.cells.end(), key.second.begin(), key.second.end());
  extra.targets.insert(extra.targets.end(), targets.begin(), targets.end());
  extra.told.push_back(now);
}

void take_extra(Campaign& campaign, const Problem& data, const Answers& answers, double now) {
  const std::size_t D = campaign.num_targets;
  ExtraRows& extra = campaign.extra;
  std::map<ExtraKey, std::size_t> places;
  for (std::size_t k = 0; k < extra.size(); ++k) {
    places.emplace(key_of(extra, k), k);
  }
  for (std::size_t k = 0; k < answers.extra.size(); ++k) {
    const std::span<const double> targets = std::span(answers.extra.targets).subspan(k * D, D);
    const auto [place, is_new] = places.emplace(key_of(answers.extra, k), extra.size());
    check(is_new || answers.correct,
          "a row that is not of the pool ({} = {}, ...) was told before; a row is told once, unless `correct` replaces "
          "it",
          data.input_names.front(), place->first.first.front());
    if (is_new) {
      add_row(extra, place->first, targets, now);
    } else {
      std::ranges::copy(targets, extra.targets.begin() + static_cast<std::ptrdiff_t>(place->second * D));
      extra.told[place->second] = now;
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
    AnsweredRows answered;
    for (const std::size_t line : answered_lines(table, target_names)) {
      const std::size_t row = row_at(table, row_column, line);
      answered.add(row, line);
      answers.add(row, targets_at(table, line, target_names));
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
      check_in_pool(answers.rows[k], data.pool.num_rows);
      const std::size_t position = found == position_of.end() ? place_of(campaign, answers.rows[k]) : found->second;
      tell(campaign, position, std::span(answers.targets).subspan(k * D, D), retell);
      campaign.chosen[position].told = now;
    }
    for (const std::size_t row : answers.dropped) {
      check_in_pool(row, data.pool.num_rows);
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
