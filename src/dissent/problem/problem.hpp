// Problems: labelled rows in three parts (training, pool, test) for active learning.
//
// name                            inputs          targets      training  pool     test
// hetero, bimodal                 x               y            100       100,000  20,000
// pendulum, hopper, ant, humanoid (state, action) next state   200       100,000  2,000
// pendulum:swing and the like     as above; only the expert's rows differ (simulator/variant.hpp)
// FILE.h5, .hdf5, .npz            (state, action) next state   200       rest     a tenth, at most 2,000
//
// Robots: training rows come from the random policy, test rows from the expert, the pool is 90% random and 10% expert
// unless PoolPolicy asks for only one of the two. They are collected once per data_seed, kept under a cache directory
// (checksums guard them; a damaged file is collected again), and shared by all runs; a run's own seed chooses its
// training rows out of 10,000. Pool and test rows are the same for every seed, so that runs can be compared. Matrices
// are row-major, in the environment's own units.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/table/encoding.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct ProblemRows {
  std::size_t num_rows = 0;
  std::vector<double> inputs;   // [num_rows][input_names.size()]
  std::vector<double> targets;  // [num_rows][target_names.size()]
  std::string source = {};      // the file they are from, for messages; may be empty
};

struct Problem {
  std::string name;
  std::vector<std::string> input_names;
  std::vector<std::string> target_names;
  ProblemRows train;
  ProblemRows pool;
  ProblemRows test;
  ProblemRows aim = {};           // inputs at which predictions will be needed, without targets; may have no rows
  std::vector<double> cost = {};  // of a label of each row of the pool; empty: all cost the same
  std::vector<std::uint8_t> left_out = {};     // 1 for each row of the pool that must not be chosen; empty: none
  std::vector<std::uint8_t> from_expert = {};  // 1 for each row of the pool that the expert acted in; empty: unknown
  // If inputs are made from a table's columns: how, and those columns of the pool (with those that tell rows apart) and
  // of the training rows, for whoever labels or reads the rows chosen. Otherwise without columns.
  TableEncoding encoding = {};
  Table pool_columns = {};
  Table train_columns = {};
  std::vector<std::string> told = {};  // what was made of the columns, one line each
};

// Who acted in the rows of a robot's pool.
//   mixed   90% random, 10% expert, as in the paper's code
//   random  as in the paper's text
//   expert  as in the test rows
enum class PoolPolicy { kMixed, kRandom, kExpert };
std::string_view pool_policy_name(PoolPolicy policy);
PoolPolicy pool_policy_from_name(std::string_view name);  // InputError for any other name
std::vector<std::string> pool_policy_names();

struct ProblemOptions {
  std::uint64_t seed = 0;       // of the run: which training rows
  std::uint64_t data_seed = 0;  // of the data: pool, test, and the rows to choose training rows from
  std::size_t train_rows = 0;   // 0: the sizes above
  std::size_t pool_rows = 0;
  std::size_t test_rows = 0;
  PoolPolicy pool_policy = PoolPolicy::kMixed;  // the others: InputError if no policy made the rows
  std::string cache_directory;                  // empty: default_cache_directory()
  int num_threads = 0;
  std::function<void(const std::string& message)> notice;                 // "collecting ...", "cache damaged ..."
  std::function<void(std::size_t rows_done, std::size_t rows)> progress;  // of the whole problem, while collecting
};

// hetero, bimodal, the environments and their variants.
const std::vector<std::string>& problem_names();

// Whether a problem is drawn from a formula; rows of one, drawn like its training rows: the first of a longer sample.
bool is_one_dimensional(std::string_view name);
ProblemRows draw_points(std::string_view name, std::size_t num_rows, std::uint64_t seed);

// A name from the table above or the path of a file (it contains a '.' or a '/').
Problem load_problem(std::string_view name, const ProblemOptions& options = {});

// $XDG_CACHE_HOME/dissent, else $HOME/.cache/dissent. InputError when neither variable is set. A relative path in the
// first is ignored, as the specification of these variables demands.
std::string default_cache_directory();

}  // namespace dissent
