// A comparison as tables for people, and as records with every digit for programs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/field.hpp"
#include "dissent/study/claims.hpp"
#include "dissent/study/comparison.hpp"
#include "dissent/table/text_table.hpp"

namespace dissent {

// Rounds that tables have a column for: those of the paper's tables that the study reached, and its last.
std::vector<std::size_t> shown_rounds(const Comparison& comparison);

// One table per task: methods by rounds, mean and deviation over seeds, the paper's beside them in brackets. Marks are
// those of significance_mark() for a method of ours that is better than every baseline. Notes that hold for all tables
// are below the first.
std::vector<TextTable> curve_tables(const Comparison& comparison, std::span<const std::size_t> rounds);
// Per task, one table of areas under curves, and two of the tests paired by seed: of areas and after the last round.
std::vector<TextTable> paired_tables(const Comparison& comparison);
// By model: scores over problems; wins, ties and losses; what so few seeds can show.
std::vector<TextTable> overall_tables(const Comparison& comparison);
// The verdicts, and what they rest on.
std::vector<TextTable> claim_tables(std::span<const JudgedClaim> claims);

// Rows of values; an unknown one is NaN or empty.
struct RecordTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows = {};
};

// Names of the tables there are: curves, contrasts, areas, paired, scores, profiles, wins, power, verdicts, findings.
const std::vector<std::string>& record_names();
std::vector<RecordTable> record_tables(const Comparison& comparison, std::span<const JudgedClaim> claims);
// One of them, for several studies: the first column names the study, or all of them if they are judged together.
RecordTable record_table(std::span<const Comparison> comparisons, std::span<const JudgedClaim> claims,
                         std::string_view name);
std::string format_csv(const RecordTable& table);

}  // namespace dissent
