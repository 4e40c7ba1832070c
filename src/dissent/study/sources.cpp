#include "dissent/study/sources.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/study/refuse_source.hpp"
#include "dissent/study/source.hpp"

namespace dissent {
namespace {

// The named studies that the store has; its only study if no name is given.
std::vector<StudyResults> studies_of(StudyStore& store, std::span<const std::string> names) {
  if (names.empty()) {
    return {read_results(store)};
  }
  const std::vector<std::string> known = store.studies();
  std::vector<StudyResults> studies;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) {
      studies.push_back(read_results(store, name));
    }
  }
  return studies;
}

// Compares all but how far the runs came. A file of version 0.6 or before does not give epochs, nor an axis without a
// value. What all runs have is compared by itself: a file has columns for it, a store an axis only if the grid has one.
bool same_settings(const StudyRun& one, const StudyRun& other) {
  const auto axes = [](const StudyRun& run) {
    std::map<std::string, std::string> given(run.axes.begin(), run.axes.end());
    std::erase_if(given, [](const auto& axis) { return axis.second.empty() || is_task_axis(axis.first); });
    return given;
  };
  return std::tie(one.problem, one.model, one.acquisition, one.seed, one.data_seed) ==
             std::tie(other.problem, other.model, other.acquisition, other.seed, other.data_seed) &&
         axes(one) == axes(other) && (one.epochs == 0 || other.epochs == 0 || one.epochs == other.epochs);
}

// Which version of a campaign counts if two sources have it: the one with more rounds, then one that is done, then the
// newer.
auto progress_of(const StudyRun& run) {
  return std::tuple(run.rounds.size(), run.state == CellState::kDone, run.changed);
}

auto values_of(const Measurement& one) {
  return std::tie(one.kind, one.problem, one.model, one.estimator, one.outputs, one.components, one.samples, one.seed,
                  one.at, one.value);
}

// Adds only those that are not there: a store may be given beside its own export.
void add_measurements(StudyResults& whole, const StudyResults& more) {
  const auto less = [](const Measurement& one, const Measurement& other) { return values_of(one) < values_of(other); };
  const std::set<Measurement, decltype(less)> known(whole.measurements.begin(), whole.measurements.end(), less);
  std::ranges::copy_if(more.measurements, std::back_inserter(whole.measurements),
                       [&](const Measurement& measured) { return !known.contains(measured); });
}

void put_together(StudyResults& whole, const StudyResults& more) {
  std::map<std::string, std::size_t> position;
  for (std::size_t k = 0; k < whole.runs.size(); ++k) {
    position[whole.runs[k].name] = k;
  }
  for (const StudyRun& run : more.runs) {
    const auto found = position.find(run.name);
    if (found == position.end()) {
      whole.runs.push_back(run);
      continue;
    }
    StudyRun& before = whole.runs[found->second];
    check(same_settings(run, before), "{}: study '{}' has '{}' with other settings than {}; give one of them",
          more.source, whole.study, run.name, whole.source);
    if (progress_of(run) > progress_of(before)) {
      before = run;
    }
  }
  add_measurements(whole, more);
  whole.source += ", " + more.source;
}

void add(std::vector<StudyResults>& studies, StudyResults more) {
  const auto found = std::ranges::find(studies, more.study, &StudyResults::study);
  if (found == studies.end()) {
    studies.push_back(std::move(more));
  } else {
    put_together(*found, more);
  }
}

std::vector<std::string> study_names(std::span<const std::string> sources) {
  std::vector<std::string> known;
  for (const std::string& source : sources) {
    const StudySource found = study_source(source);
    const std::vector<std::string> more = found.is_store()
                                              ? StudyStore::open(found.url(), StudyStore::Access::kRead)->studies()
                                              : std::vector{read_results(found.place).study};
    known.insert(known.end(), more.begin(), more.end());
  }
  return known;
}

using Method = std::tuple<std::string, std::string, std::string>;  // with its problem and model

Method method_of(const StudyRun& run) { return {run.problem, run.model, run.method}; }

}  // namespace

std::vector<StudyResults> read_sources(std::span<const std::string> sources, std::span<const std::string> names) {
  std::vector<StudyResults> all;
  for (const std::string& source : sources) {
    const StudySource found = study_source(source);
    if (!found) {
      refuse_source(source);
    }
    if (!found.is_store()) {
      add(all, read_results(found.place));
      continue;
    }
    const auto store = StudyStore::open(found.url(), StudyStore::Access::kRead);
    for (StudyResults& study : studies_of(*store, names)) {
      add(all, std::move(study));
    }
  }
  if (names.empty()) {
    return all;
  }
  std::vector<StudyResults> chosen;  // in the order of the names
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &StudyResults::study);
    if (found == all.end()) {
      check_name("study", name, study_names(sources));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

StudyResults pooled(std::span<const StudyResults> studies) {
  check(!studies.empty(), "there is no study to show");
  StudyResults all = studies.front();
  std::set<Method> known;
  const auto learn = [&](const StudyResults& study) {
    std::ranges::transform(study.runs, std::inserter(known, known.end()), method_of);
  };
  learn(studies.front());
  for (const StudyResults& study : studies.subspan(1)) {
    all.study += ", " + study.study;
    all.source += ", " + study.source;
    for (StudyRun run : study.runs) {
      if (known.contains(method_of(run))) {
        run.axes.emplace_back("study", study.study);
        run.method = method_name(run);
      }
      all.runs.push_back(std::move(run));
    }
    learn(study);
    all.measurements.insert(all.measurements.end(), study.measurements.begin(), study.measurements.end());
  }
  return all;
}

}  // namespace dissent
