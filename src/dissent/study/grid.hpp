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
// A problem is one of the program's, a file of transitions, or a table of the grid. A mistake is an InputError with
// line and column: "quick.toml:9:1: 'acquisiton' is not known; did you mean 'acquisition'?".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/study/cell.hpp"

namespace dissent {

struct Grid {
  std::string name;
  std::vector<Cell> cells;                             // seed by seed, so that an early look sees everything
  std::map<std::string, std::string> aim_places = {};  // where the grid names the files of aims: "grid.toml:9:7"

  // The cell of this name, whatever the order of its axes. InputError, with the nearest name, if there is none.
  const Cell& find(const std::string& name) const;
};

// Notes what the tables hold, so that campaigns on a changed file are told apart from earlier ones. InputError, with
// line and column of the grid, for a table that cannot be read or lacks columns or rows, and likewise for the file of
// an aim.
void identify_tables(Grid& grid);

Grid read_grid(const std::string& path);
Grid parse_grid(std::string_view text, const std::string& source);

}  // namespace dissent
