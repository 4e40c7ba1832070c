// One campaign of a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/loop/settings.hpp"
#include "dissent/problem/problem.hpp"

namespace dissent {

// The aim that stands for the test rows.
inline constexpr std::string_view kAimAtTest = "test";

// Rows of one file, split anew for each data_seed and seed.
struct GridTable {
  std::string file;
  std::vector<std::string> targets;
  std::vector<std::string> inputs = {};  // empty: all others
  std::size_t labelled = 0;
  std::size_t test = 0;
  std::string content = {};  // a digest of the file; see identify_tables()

  // Where the grid says so, "grid.toml:9:8": by the name of the entry, or by "column NAME" for a column.
  std::map<std::string, std::string> places = {};
};

// What differs between two texts of Cell::describe(): "rounds is 10 there, 20 in the grid".
std::string description_changes(const std::string& known, const std::string& given);

// The axes of a cell, from a text of Cell::describe().
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

  // InputError for invalid values.
  CampaignSettings campaign_settings() const;
  // Everything that determines its results, as JSON: two cells with the same text are the same.
  std::string describe() const;
};

}  // namespace dissent
