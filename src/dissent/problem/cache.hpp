// The collected data of a robot problem, and its file in the cache directory.
//
// File name: problems/<name>-<key>.npz, where the key hashes what the rows depend on: sizes, seed, model,
// policy, settings of a variant, simulator version, and a number that stands for the code that collects. So a change of
// any of them makes a new file instead of a wrong one.
#pragma once

#include <cstdint>
#include <string>

#include "dissent/problem/problem.hpp"
#include "dissent/simulator/collect.hpp"

namespace dissent {

struct CollectedProblem {
  Transitions train;  // random policy
  Transitions pool;   // shuffled, by ProblemOptions::pool_policy; says which rows are the expert's
  Transitions test;   // expert
};

struct CollectedSizes {
  std::size_t train = 0;
  std::size_t pool = 0;
  std::size_t test = 0;
};

// `name` is an environment's or a variant's. Reads the rows from the cache, or collects and stores them there.
CollectedProblem cached_problem(const std::string& name, const CollectedSizes& sizes, const ProblemOptions& options);

std::string cache_file(const std::string& name, const CollectedSizes& sizes, const ProblemOptions& options);

}  // namespace dissent
