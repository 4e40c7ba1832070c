// What a study has found, as plain values: from its store, or from the file that `dissent study export` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dissent/loop/campaign.hpp"
#include "dissent/study/store.hpp"

namespace dissent {

// One campaign of the study.
struct StudyRun {
  std::string name;                                            // of its cell
  std::vector<std::pair<std::string, std::string>> axes = {};  // of the grid, in its order
  std::string problem;
  std::string model;        // "flow", "pne", "gp", ...
  std::string acquisition;  // as given: "kl", "mc:5000"
  // What tells methods apart: the acquisition, and the values of all axes but problem, model, seed and data_seed.
  std::string method;
  std::uint64_t seed = 0;
  std::uint64_t data_seed = 0;
  std::size_t epochs = 0;  // of a fit; 0: not known, as in a file of version 0.6 or before
  CellState state = CellState::kWaiting;
  std::string worker = {};
  std::string version = {};
  std::string error = {};
  double started = 0;  // seconds since 1970
  double changed = 0;
  std::vector<RoundRecord> rounds = {};
};

struct StudyResults {
  std::string study;
  std::string source;  // the store or the file, for people
  std::vector<StudyRun> runs = {};
  std::vector<Measurement> measurements = {};
};

// Whether every run has a field for this axis, even if its grid has no such axis.
bool is_task_axis(std::string_view name);

// "kl, candidates=1000": StudyRun::method, from its acquisition and axes.
std::string method_name(const StudyRun& run);

// InputError if there is no such study; an empty name means the only one there is.
StudyResults read_results(StudyStore& store, const std::string& study = {});
// A file of `dissent study export`, .csv or .csv.gz: rounds, or only measurements.
StudyResults read_results(const std::string& path);

}  // namespace dissent
