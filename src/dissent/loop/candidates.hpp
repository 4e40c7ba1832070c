// Which rows of a pool may be chosen and what their labels cost, by the settings of a campaign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dissent/loop/settings.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/table/outliers.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// Sets costs and left-out rows as the settings say, in place of those before. `pool` has the columns that they name.
void apply_settings(Problem& problem, const Table& pool, const CampaignSettings& settings);
// The same for a problem without tables, whose columns are its inputs.
void apply_settings(Problem& problem, const CampaignSettings& settings);

// InputError if there are fewer rows to choose from than `batch`.
void check_batch(const Problem& problem, std::size_t batch);

// What a label of each row costs. InputError unless that is finite and > 0.
std::vector<double> label_costs(const Table& pool, const std::string& column);
// By the conditions of the settings: 1 for each row that must not be chosen; empty if there are no conditions.
std::vector<std::uint8_t> left_out(const Table& pool, const CampaignSettings& settings);
// The names of the columns that conditions and costs look at.
std::vector<std::string> columns_of(const CampaignSettings& settings);

// What is usual in each input column of the pool and the labelled rows [T][C]. rows_to_compare() gives the pool rows
// that stand for all: at most 20,000, always the same ones, drawn at random so that the order of the rows does not
// matter.
std::vector<std::size_t> rows_to_compare(std::size_t num_rows);
std::vector<UsualRange> usual_inputs(std::span<const double> compared, std::span<const double> labelled,
                                     std::size_t num_columns);
std::vector<UsualRange> usual_inputs(const Problem& problem);

}  // namespace dissent
