// dissent study status | export: what a store of studies holds.
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/study/store.hpp"
#include "dissent/table/csv.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct Arguments {
  std::string store;
  std::string study;  // empty: the only one
  std::string output;
  bool choices = false;
  bool json = false;
};

std::string chosen_study(StudyStore& store, const std::string& study) {
  const std::vector<std::string> names = store.studies();
  check(!names.empty(), "{}: there is no study in it", store.name());
  if (study.empty()) {
    check(names.size() == 1, "{}: it has {} studies; name one by --study: {}", store.name(), names.size(),
          fmt::join(names, ", "));
    return names.front();
  }
  check_name("study", study, names);
  return study;
}

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

nlohmann::ordered_json status_json(const std::string& study, const std::vector<CellRecord>& cells) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CellRecord& cell : cells) {
    list.push_back({{"name", cell.name},
                    {"state", cell_state_name(cell.state)},
                    {"rounds", cell.rounds},
                    {"worker", cell.worker},
                    {"version", cell.version},
                    {"started", cell.started},
                    {"changed", cell.changed},
                    {"error", cell.error}});
  }
  return {{"version", kVersion}, {"study", study}, {"campaigns", list}};
}

void run_status(const Arguments& arguments) {
  const auto store = StudyStore::open(arguments.store, StudyStore::Access::kRead);
  const std::vector<std::string> names =
      arguments.study.empty() ? store->studies() : std::vector{chosen_study(*store, arguments.study)};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& study : names) {
    const std::vector<CellRecord> cells = store->cells(study);
    if (arguments.json) {
      all.push_back(status_json(study, cells));
      continue;
    }
    Counts counts = count_cells(cells);
    print_line("{}: {}: {} done, {} running, {} waiting, {} failed; {} recorded", study,
               counted(cells.size(), "campaign"), counts.cells[CellState::kDone], counts.cells[CellState::kRunning],
               counts.cells[CellState::kWaiting], counts.cells[CellState::kFailed], counted(counts.rounds, "model"));
    for (const CellRecord& cell : cells) {
      if (cell.state == CellState::kRunning) {
        print_line("  running  {}, {}, by {}", cell.name, counted(cell.rounds, "model"), cell.worker);
      } else if (cell.state == CellState::kFailed) {
        print_line("  failed   {}: {}", cell.name, cell.error);
      }
    }
  }
  if (arguments.json) {
    print_json(all);
  }
}

// One row a record, its axes in front.
template <class S, class Rows>
std::string records_csv(const std::vector<CellRecord>& cells, const Rows& rows,
                        const S& (*record_of)(const typename Rows::value_type&)) {
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> names;
  for (const CellRecord& cell : cells) {
    for (const auto& [axis, value] : described_axes(cell.description)) {
      values[cell.name].push_back(value);
      if (cell.name == cells.front().name) {
        names.push_back(axis);
      }
    }
  }
  const std::vector<std::string> fields_of_record = field_names<S>();
  names.insert(names.end(), fields_of_record.begin(), fields_of_record.end());
  CsvText text("records", names);
  std::string csv;
  for (const auto& row : rows) {
    for (const std::string& value : values[row.cell]) {
      text.field(value);
    }
    for (const Field<S>& field : fields<S>()) {
      const double number = as_number(field.get(record_of(row)));
      std::isnan(number) ? text.missing() : text.field(number);
    }
    text.end_row();
  }
  return text.text();
}

void run_export(const Arguments& arguments) {
  check_csv_output(arguments.output);
  const auto store = StudyStore::open(arguments.store, StudyStore::Access::kRead);
  const std::string study = chosen_study(*store, arguments.study);
  const std::vector<CellRecord> cells = store->cells(study);
  const std::string csv =
      arguments.choices
          ? records_csv<ChosenRow>(
                cells, store->choices(study), +[](const CellChoice& row) -> const ChosenRow& { return row.chosen; })
          : records_csv<RoundRecord>(
                cells, store->rounds(study), +[](const CellRound& row) -> const RoundRecord& { return row.record; });
  if (arguments.output == "-") {
    print(csv);
    return;
  }
  AtomicFile file(arguments.output);
  file.write(csv);
  file.commit();
}

}  // namespace

void add_study_status(Command& study) {
  Command& command =
      study.add("status", "What is done, what runs, what failed and why", "  dissent study status sqlite:runs.db");
  const auto arguments = std::make_shared<Arguments>();
  command.argument("STORE", arguments->store, "sqlite:FILE or postgresql://USER@HOST/DATABASE");
  command.option("--study", arguments->study, {.help = "One of the studies in the store", .shown = "NAME"});
  add_json(command, arguments->json);
  command.run([arguments] { run_status(*arguments); });
}

void add_study_export(Command& study) {
  Command& command = study.add("export", "Rounds of all campaigns, or the rows they chose, as CSV",
                               "  dissent study export sqlite:runs.db -o rounds.csv\n"
                               "  dissent study export sqlite:runs.db --choices -o chosen.csv");
  const auto arguments = std::make_shared<Arguments>();
  arguments->output = "-";
  command.argument("STORE", arguments->store, "sqlite:FILE or postgresql://USER@HOST/DATABASE");
  command.option("--study", arguments->study, {.help = "One of the studies in the store", .shown = "NAME"});
  command.flag("--choices", arguments->choices, "The rows that were chosen, with their scores");
  command.option("-o,--output", arguments->output, {.help = "Where to write; - is standard output", .shown = "FILE"});
  command.run([arguments] { run_export(*arguments); });
}

}  // namespace dissent::cli
