// A grid of campaigns, as a TOML file describes it.
//
//     name = "quick"
//     rounds = 20                        # and data_seed, pool_policy, aim: of every campaign
//
//     [settings]                         # any setting of a campaign, by its name
//     preset = "paper"
//
//     [grid]                             # every combination
//     problem = ["hetero", "concrete"]
//     acquisition = ["random", "kl"]
//     seed = "0-9"                       # or a list
//
//     [[where]]                          # changes for some of them, in order
//     acquisition = "mc:5000"
//     set = { candidates = 1000 }        # or skip = true
//
//     [table.concrete]                   # a table as a problem
//     file = "concrete.csv"
//     targets = ["strength"]
//     labelled = 60                      # rows to begin with, drawn by the campaign's seed
//     test = 200                         # drawn by data_seed; the rest is the pool
//
// A problem is one of the program's, a file of transitions, or a table of the grid. What is wrong is an InputError with
// line and column: "quick.toml:9:1: 'acquisiton' is not known; did you mean 'acquisition'?".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/loop/settings.hpp"
#include "dissent/problem/problem.hpp"

namespace dissent {

// Rows of one file, split anew for each data_seed and seed.
struct GridTable {
  std::string file;
  std::vector<std::string> targets;
  std::vector<std::string> inputs = {};  // empty: all others
  std::size_t labelled = 0;
  std::size_t test = 0;
};

// The axes of a cell, from what Cell::describe() said.
std::vector<std::pair<std::string, std::string>> described_axes(const std::string& description);

// One campaign of the grid.
struct Cell {
  std::string name;  // values of the axes: "problem=hetero acquisition=kl seed=3"; unique in its grid
  std::vector<std::pair<std::string, std::string>> axes = {};  // names and values, in the order of the grid
  std::string problem;
  std::optional<GridTable> table = {};
  std::size_t rounds = 20;
  std::uint64_t data_seed = 0;
  PoolPolicy pool_policy = PoolPolicy::kMixed;
  std::string aim = {};  // "test", a table of inputs, or nothing
  Values settings = {};  // those given

  // InputError for values that cannot be.
  CampaignSettings campaign_settings() const;
  // All that its results follow from, as JSON: two cells of the same text are the same.
  std::string describe() const;
};

struct Grid {
  std::string name;
  std::vector<Cell> cells;  // seed by seed, so that an early look sees everything
};

Grid read_grid(const std::string& path);
Grid parse_grid(std::string_view text, const std::string& source);

}  // namespace dissent
