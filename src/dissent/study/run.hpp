// Runs the campaigns of a grid, as one of any number of workers on the same store.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/study/grid.hpp"
#include "dissent/study/store.hpp"

namespace dissent {

// What a cell's campaign learns from. Tables are read, and problems collected, as `options` say, with the cell's seeds.
Problem cell_problem(const Cell& cell, ProblemOptions options = {});

class FitDevice;
class ScoreDevice;

struct StudyControl {
  std::string worker;  // HOST:PROCESS:THREAD:START, unique; see worker_name()
  double lease = 60;   // seconds; a worker is taken for dead if it has not renewed its claim for this long
  std::string only;    // a cell; empty: all
  Executor* executor = nullptr;
  FitDevice* device = nullptr;    // that trains networks; null: this processor
  ScoreDevice* scores = nullptr;  // that helps to choose; null: this processor
  ProblemOptions problem = {};
  std::function<void(const Claim& claim, const RoundRecord& record)> finished_round;
  std::function<void(const Claim& claim, const std::string& error)> ended;  // a cell; an empty error is success
  std::function<void(const std::vector<HeldCell>& cells)> waiting;  // while others have the last cells, again and again
  std::function<bool()> stop;                                       // asked between steps
};

// This process and, to tell threads apart, a number. And only the process: HOST:PROCESS.
std::string worker_name(std::size_t thread = 0);
std::string worker_process(std::string_view worker);

// Claims cells and runs them until all have ended or it is stopped; a cell that was stopped waits again. While others
// have the last cells, it waits to take them over if their workers die. A campaign that fails is recorded as failed,
// with its message, and the next begins. Cells that another worker has added and the grid lacks are left to that
// worker. Returns how many cells it ended.
std::size_t run_cells(StudyStore& store, const Grid& grid, const StudyControl& control);

}  // namespace dissent
