#include "dissent/study/results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/text_file.hpp"

namespace dissent {
namespace {

// Axes that do not tell methods apart.
constexpr std::string_view kTaskAxes[] = {"problem", "model", "acquisition", "seed", "data_seed"};

bool is_task_axis(std::string_view name) { return std::ranges::find(kTaskAxes, name) != std::end(kTaskAxes); }

std::string method_name(const StudyRun& run) {
  std::string name = run.acquisition;
  for (const auto& [axis, value] : run.axes) {
    if (!is_task_axis(axis)) {
      name += fmt::format(", {}={}", axis, value);
    }
  }
  return name;
}

// What was given for a campaign, from Cell::describe(). A setting that this version does not know is left out: none of
// those has anything to do with the results' names.
CampaignSettings described_settings(const Json& description) {
  Values given;
  if (const auto settings = description.find("settings"); settings != description.end()) {
    for (const auto& [name, value] : settings->items()) {
      const FieldInfo* field = find_field<CampaignSettings>(name);
      const std::optional<Value> read = field == nullptr ? std::nullopt : from_json(*field, value);
      if (read) {
        given[name] = *read;
      }
    }
  }
  return changed_settings(CampaignSettings(), given);
}

StudyRun run_of(const CellRecord& cell) {
  const Json description = Json::parse(cell.description);
  const CampaignSettings settings = described_settings(description);
  const auto setting = [&](std::string_view name) {
    return to_text(find_field<CampaignSettings>(name)->get(settings));
  };
  StudyRun run{.name = cell.name,
               .axes = described_axes(cell.description),
               .problem = description.at("problem").get<std::string>(),
               .model = setting("model"),
               .acquisition = setting("acquisition"),
               .method = {},
               .seed = parse_whole(setting("seed")).value_or(0),
               .data_seed = description.at("data_seed").get<std::uint64_t>(),
               .epochs = settings.fit.train.epochs,
               .state = cell.state,
               .worker = cell.worker,
               .version = cell.version,
               .error = cell.error,
               .started = cell.started,
               .changed = cell.changed};
  run.method = method_name(run);
  return run;
}

std::string text_of_file(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return is_gzip(bytes) ? unpack_gzip(bytes, path)
                        : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Values of axes are text, whatever they look like: 1000 must not come back as 1e3.
Table read_export(const std::string& path) {
  const std::string text = text_of_file(path);
  std::string_view header = std::string_view(text).substr(0, text.find('\n'));
  if (header.ends_with('\r')) {
    header.remove_suffix(1);
  }
  std::set<std::string> numbers = {"started", "changed"};
  for (const std::string& name : field_names<RoundRecord>()) {
    numbers.insert(name);
  }
  CsvOptions options;
  for (const Column& column : parse_csv(header, path).columns) {
    if (!numbers.contains(column.name)) {
      options.text_columns.push_back(column.name);
    }
  }
  return parse_csv(text, path, options);
}

class ExportReader {
 public:
  explicit ExportReader(const Table& table) : table_(table) {
    for (const char* name : {"study", "cell", "problem", "model", "acquisition", "seed", "round"}) {
      check(table.has(name), "there is no column '{}': it is no file that 'dissent study export' writes", name);
    }
    const std::set<std::string> known = {"study", "cell", "state", "worker", "version", "error", "started", "changed"};
    const std::vector<std::string> fields = field_names<RoundRecord>();
    for (const Column& column : table.columns) {
      if (!known.contains(column.name) && std::ranges::find(fields, column.name) == fields.end()) {
        axes_.push_back(&column);
      }
    }
  }

  StudyRun run(std::size_t row) const {
    StudyRun run{.name = text("cell", row),
                 .problem = text("problem", row),
                 .model = text("model", row),
                 .acquisition = text("acquisition", row),
                 .method = {},
                 .seed = whole("seed", row),
                 .data_seed = table_.has("data_seed") ? whole("data_seed", row) : 0,
                 .state = state(row),
                 .worker = text("worker", row),
                 .version = text("version", row),
                 .error = text("error", row),
                 .started = number("started", row),
                 .changed = number("changed", row)};
    for (const Column* axis : axes_) {
      run.axes.emplace_back(axis->name, axis->is_text() ? axis->text[row] : "");
      check_axis(run.axes.back().first, run.axes.back().second, row);
    }
    run.method = method_name(run);
    return run;
  }

  // None of a campaign that has no model yet.
  std::optional<RoundRecord> record(std::size_t row) const {
    if (table_.column("round").is_missing(row)) {
      return std::nullopt;
    }
    RoundRecord record;
    for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
      if (!table_.has(field.name)) {
        if (field.type != FieldType::kWhole) {
          field.set(record, std::numeric_limits<double>::quiet_NaN());
        }
        continue;
      }
      const double value = table_.column(field.name).number(row);
      if (field.type == FieldType::kWhole) {
        check(value >= 0 && value == std::floor(value), "column '{}', row {}: {} is not a whole number", field.name,
              row + 1, value);
        field.set(record, static_cast<std::uint64_t>(value));
      } else {
        field.set(record, value);
      }
    }
    check(record.round > 0, "column 'round', row {}: rounds count from 1", row + 1);
    return record;
  }

  std::string text(std::string_view name, std::size_t row) const {
    if (!table_.has(name)) {
      return {};
    }
    const Column& column = table_.column(name);
    return column.is_text() ? column.text[row] : std::string();
  }

 private:
  double number(std::string_view name, std::size_t row) const {
    const double value = table_.has(name) ? table_.column(name).number(row) : 0;
    return std::isnan(value) ? 0 : value;
  }

  std::uint64_t whole(std::string_view name, std::size_t row) const {
    const std::string typed = text(name, row);
    const auto value = parse_whole(typed);
    check(typed.empty() || value.has_value(), "column '{}', row {}: '{}' is not a whole number", name, row + 1, typed);
    return value.value_or(0);
  }

  static void check_axis(const std::string& name, const std::string& value, std::size_t row) {
    const FieldInfo* field = find_field<CampaignSettings>(name);
    const bool is_whole = field != nullptr && field->type == FieldType::kWhole;
    check(!is_whole || value.empty() || parse_whole(value), "column '{}', row {}: '{}' is not a whole number", name,
          row + 1, value);
  }

  CellState state(std::size_t row) const {
    const std::string name = text("state", row);
    for (const CellState state : {CellState::kWaiting, CellState::kRunning, CellState::kDone, CellState::kFailed}) {
      if (cell_state_name(state) == name) {
        return state;
      }
    }
    return CellState::kDone;
  }

  const Table& table_;
  std::vector<const Column*> axes_;
};

}  // namespace

StudyResults read_results(StudyStore& store, const std::string& study) {
  const std::vector<std::string> names = store.studies();
  check(!names.empty(), "{}: there is no study in it", store.name());
  check(!study.empty() || names.size() == 1, "{}: it has {} studies; name one by `study`: {}", store.name(),
        names.size(), fmt::join(names, ", "));
  if (!study.empty()) {
    check_name("study", study, names);
  }
  StudyResults results{.study = study.empty() ? names.front() : study, .source = store.name()};
  std::map<std::string, std::size_t> position;
  for (const CellRecord& cell : store.cells(results.study)) {
    position[cell.name] = results.runs.size();
    results.runs.push_back(run_of(cell));
  }
  for (const CellRound& round : store.rounds(results.study)) {
    // A campaign may have been added since its cells were read.
    if (const auto found = position.find(round.cell); found != position.end()) {
      results.runs[found->second].rounds.push_back(round.record);
    }
  }
  results.measurements = store.measurements(results.study);
  return results;
}

StudyResults read_results(const std::string& path) {
  const Table table = read_export(path);
  return in_source(path, [&] {
    const ExportReader reader(table);
    check(table.num_rows > 0, "it has no rows");
    check(!table.has("row") || !table.has("score"), "it has the rows that were chosen; export the rounds");
    StudyResults results{.study = reader.text("study", 0), .source = path};
    std::map<std::string, std::size_t> position;
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      check(reader.text("study", row) == results.study, "row {}: there is more than one study in it", row + 1);
      const auto [found, is_new] = position.try_emplace(reader.text("cell", row), results.runs.size());
      if (is_new) {
        results.runs.push_back(reader.run(row));
      }
      StudyRun& run = results.runs[found->second];
      if (const auto record = reader.record(row)) {
        check(run.rounds.empty() || run.rounds.back().round < record->round, "row {}: the rounds of '{}' do not ascend",
              row + 1, run.name);
        run.rounds.push_back(*record);
      }
    }
    return results;
  });
}

}  // namespace dissent
