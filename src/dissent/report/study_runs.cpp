#include "dissent/report/study_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dissent/base/names.hpp"
#include "dissent/loop/status.hpp"
#include "dissent/report/chart.hpp"
#include "dissent/report/study_view.hpp"

namespace dissent::report {
namespace {

std::size_t num_in(const StudyResults& results, CellState state) {
  return static_cast<std::size_t>(
      std::ranges::count_if(results.runs, [&](const StudyRun& run) { return run.state == state; }));
}

// A worker is HOST:PROCESS:THREAD:START.
std::string machine_of(const std::string& worker) { return worker.substr(0, worker.find(':')); }

// HOST:PROCESS and the thread, without what makes the name unique for ever.
std::string short_name(const std::string& worker) {
  std::size_t end = 0;
  for (int k = 0; k < 3 && end != std::string::npos; ++k) {
    end = worker.find(':', end + (k > 0 ? 1 : 0));
  }
  return worker.substr(0, end);
}

std::string duration_text(double seconds) {
  constexpr double kMost = 120;  // of a unit, before the next one is taken
  if (seconds < kMost) {
    return fmt::format("{:.2g} s", seconds);
  }
  return seconds < kMost * 60 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.0f} h", seconds / 3600);
}

Json time_cell(double seconds) { return seconds > 0 ? Json(time_text(seconds)) : Json(); }

bool has_times(const StudyRun& run) { return run.started > 0 && run.changed >= run.started; }

}  // namespace

KeyNumbers run_numbers(const StudyResults& results) {
  std::set<std::string> machines;
  std::size_t num_rounds = 0;
  double seconds = 0;
  for (const StudyRun& run : results.runs) {
    if (!run.worker.empty()) {
      machines.insert(machine_of(run.worker));
    }
    num_rounds += run.rounds.size();
    for (const RoundRecord& record : run.rounds) {
      seconds += std::isfinite(record.fit_seconds) ? record.fit_seconds : 0;
      seconds += std::isfinite(record.score_seconds) ? record.score_seconds : 0;
    }
  }
  KeyNumbers numbers{{{"Campaigns done", fmt::format("{}", num_in(results, CellState::kDone)),
                       fmt::format("of {}", results.runs.size())}}};
  const auto add = [&](const char* name, CellState state, const char* note, bool always) {
    if (const std::size_t count = num_in(results, state); count > 0 || always) {
      numbers.list.push_back({name, fmt::format("{}", count), note});
    }
  };
  add("Running", CellState::kRunning, "", false);
  add("Waiting", CellState::kWaiting, "", false);
  add("Failed", CellState::kFailed, "the last section says why", false);
  const StudyNames names = study_names(results);
  numbers.list.push_back(
      {"Methods", fmt::format("{}", names.methods.size()),
       fmt::format("on {}, {}", counted(names.problems.size(), "problem"), counted(names.models.size(), "model"))});
  numbers.list.push_back({"Models fitted", fmt::format("{}", num_rounds), ""});
  numbers.list.push_back({"Work", duration_text(seconds), "to fit and to choose"});
  if (!machines.empty()) {
    numbers.list.push_back({"Machines", fmt::format("{}", machines.size()),
                            machines.size() > 3 ? "" : fmt::format("{}", fmt::join(machines, ", "))});
  }
  return numbers;
}

std::optional<Chart> timeline_chart(const StudyResults& results) {
  Chart chart{.id = "timeline", .title = "When campaigns ran", .caption = ""};
  chart.data.columns = {{"campaign", "Campaign"}, {"worker", "Worker"},       {"state", "State"},
                        {"started", "Started"},   {"changed", "Last change"}, {"minutes", "Minutes"}};
  double first = INFINITY;
  double last = 0;
  std::vector<std::string> workers;
  for (const StudyRun& run : results.runs) {
    if (has_times(run)) {
      chart.data.rows.push_back({run.name, short_name(run.worker), std::string(cell_state_name(run.state)),
                                 time_text(run.started), time_text(run.changed), (run.changed - run.started) / 60});
      workers.push_back(short_name(run.worker));
      first = std::min(first, run.started);
      last = std::max(last, run.changed);
    }
  }
  if (chart.data.rows.empty()) {
    return std::nullopt;
  }
  workers = distinct(workers);
  chart.caption =
      fmt::format("{} by {}, from {} to {} (UTC). The shape at the end of a line says how the campaign stands.",
                  counted(chart.data.rows.size(), "campaign"), counted(workers.size(), "worker"), time_text(first),
                  time_text(last));
  const auto time = [](const char* field) -> Json {
    return {{"field", field}, {"type", "temporal"}, {"title", "Time"}, {"scale", {{"type", "utc"}, {"padding", 10}}}};
  };
  const Json y = names_axis("worker", workers);
  Json line{{"x", time("started")}, {"x2", {{"field", "changed"}}}, {"y", y}, {"tooltip", tooltip(chart.data.columns)}};
  Json end{{"x", time("changed")}, {"y", y}, {"tooltip", tooltip(chart.data.columns)}};
  std::vector<Group> groups{{"done", kBlue, "circle"},
                            {"running", kGreen, "triangle-right"},
                            {"failed", kVermillion, "cross"},
                            {"waiting", kGrey, "square"}};
  const std::vector<std::string> states = texts_of(chart.data, "state");
  std::erase_if(groups, [&](const Group& group) { return std::ranges::find(states, group.name) == states.end(); });
  add_groups(end, "state", groups);
  chart.spec = chart_spec(
      chart.caption,
      Json::array({{{"mark", {{"type", "rule"}, {"color", "currentColor"}, {"opacity", 0.5}, {"strokeWidth", 2}}},
                    {"encoding", line}},
                   {{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}}, {"encoding", end}}}));
  chart.spec["height"] = height_of(workers, 30);
  return chart;
}

TableBlock runs_table(const StudyResults& results) {
  TableBlock table{.id = "campaigns", .title = "Campaigns"};
  table.grid.columns = {{"campaign", "Campaign"},
                        {"state", "State"},
                        {"models", "Models"},
                        {"started", "Started, UTC"},
                        {"changed", "Last change, UTC"},
                        {"minutes", "Minutes"},
                        {"worker", "Worker"},
                        {"version", "Version"},
                        {"error", "Error"}};
  for (const StudyRun& run : results.runs) {
    table.grid.rows.push_back({run.name, std::string(cell_state_name(run.state)), run.rounds.size(),
                               time_cell(run.started), time_cell(run.changed),
                               has_times(run) ? Json((run.changed - run.started) / 60) : Json(), run.worker,
                               run.version, run.error});
  }
  return table;
}

}  // namespace dissent::report
