// dissent study status: what a store of studies holds.
#include <fmt/chrono.h>

#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/study/store.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct StudyStatusArguments {
  std::string store;
  std::string study;  // empty: all
  bool json = false;
};

struct Counts {
  std::map<CellState, std::size_t> cells;
  std::size_t rounds = 0;
};

Counts count_cells(const std::vector<CellRecord>& cells) {
  Counts counts;
  for (const CellRecord& cell : cells) {
    ++counts.cells[cell.state];
    counts.rounds += cell.rounds;
  }
  return counts;
}

nlohmann::ordered_json time_json(double time) {
  return time == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(time);
}

nlohmann::ordered_json status_json(const std::string& study, const std::vector<CellRecord>& cells,
                                   const std::set<std::string>& silent) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CellRecord& cell : cells) {
    list.push_back({{"name", cell.name},
                    {"state", cell_state_name(cell.state)},
                    {"rounds", cell.rounds},
                    {"worker", cell.worker},
                    {"version", cell.version},
                    {"started", time_json(cell.started)},
                    {"changed", time_json(cell.changed)},
                    {"lease_over", cell.state == CellState::kRunning && silent.contains(cell.name)},
                    {"error", cell.error}});
  }
  return {{"study", study}, {"campaigns", list}};
}

// Campaigns that run, but whose worker has been silent for longer than its lease.
std::set<std::string> silent_cells(StudyStore& store, const std::string& study) {
  std::set<std::string> names;
  for (const HeldCell& cell : store.held(study)) {
    if (cell.seconds < 0) {
      names.insert(cell.name);
    }
  }
  return names;
}

std::string silence_of(const CellRecord& cell) {
  return fmt::format(", silent since {:%Y-%m-%d %H:%M:%S}, lease over",
                     fmt::localtime(static_cast<std::time_t>(cell.changed)));
}

void run_study_status(const StudyStatusArguments& arguments) {
  const auto store = StudyStore::open(arguments.store, StudyStore::Access::kRead);
  std::vector<std::string> names = store->studies();
  if (!arguments.study.empty()) {
    check_name("study", arguments.study, names);
    names = {arguments.study};
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& study : names) {
    const std::set<std::string> silent = silent_cells(*store, study);
    const std::vector<CellRecord> cells = store->cells(study);
    if (arguments.json) {
      all.push_back(status_json(study, cells, silent));
      continue;
    }
    Counts counts = count_cells(cells);
    print_line("{}: {}: {} done, {} running, {} waiting, {} failed; {} recorded", study,
               counted(cells.size(), "campaign"), counts.cells[CellState::kDone], counts.cells[CellState::kRunning],
               counts.cells[CellState::kWaiting], counts.cells[CellState::kFailed], counted(counts.rounds, "model"));
    for (const CellRecord& cell : cells) {
      if (cell.state == CellState::kRunning) {
        print_line("  running  {}, {}, by {}{}", cell.name, counted(cell.rounds, "model"), cell.worker,
                   silent.contains(cell.name) ? silence_of(cell) : "");
      } else if (cell.state == CellState::kFailed) {
        print_line("  failed   {}: {}", cell.name, cell.error);
      }
    }
  }
  if (arguments.json) {
    print_json({{"version", kVersion}, {"store", store->name()}, {"studies", all}});
  }
}

}  // namespace

void add_study_status(Command& study) {
  Command& command =
      study.add("status", "What is done, what runs, what failed and why", "  dissent study status sqlite:runs.db");
  const auto arguments = std::make_shared<StudyStatusArguments>();
  command.argument("STORE", arguments->store, "sqlite:FILE or postgresql://USER@HOST/DATABASE");
  command.option("--study", arguments->study, {.help = "One of the studies in the store", .shown = "NAME"});
  add_json(command, arguments->json);
  command.run([arguments] { run_study_status(*arguments); });
}

}  // namespace dissent::cli
