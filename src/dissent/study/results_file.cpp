// The files of `dissent study export`, read back: rounds of campaigns, or measurements of estimators.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/file_kind.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/study/refuse_source.hpp"
#include "dissent/study/results.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/text_file.hpp"

namespace dissent {
namespace {

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
  std::set<std::string> numbers = {"started", "changed", "fit_epochs", "at", "value"};
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

// The first few, so that whoever gave the wrong table sees which one it was.
std::string shown_columns(const Table& table) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::min(kShown, table.columns.size()); ++k) {
    names.push_back(table.columns[k].name);
  }
  return fmt::format("{}{}", fmt::join(names, ", "), table.columns.size() > kShown ? ", ..." : "");
}

void check_columns(const Table& table, const std::string& path, const std::vector<std::string>& needed) {
  for (const std::string& name : needed) {
    if (!table.has(name)) {
      refuse_source(path, fmt::format("it is no file that 'dissent study export' writes: it has no column '{}', but {}",
                                      name, shown_columns(table)));
    }
  }
}

// Reads tables that have the columns of an export (check_columns).
class ExportReader {
 public:
  explicit ExportReader(const Table& table) : table_(table) {
    const std::set<std::string> known = {"study", "cell",    "state",   "worker",    "version",
                                         "error", "started", "changed", "fit_epochs"};
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
                 .epochs = static_cast<std::size_t>(std::max(0.0, number("fit_epochs", row))),
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

  // None for a campaign that has no model yet.
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

// The study that all rows belong to.
template <class Text>
std::string only_study(const Table& table, const Text& text) {
  check(table.num_rows > 0, "it has no rows");
  for (std::size_t row = 1; row < table.num_rows; ++row) {
    check(text(row) == text(0), "row {}: there is more than one study in it", row + 1);
  }
  return text(0);
}

StudyResults rounds_of(const Table& table, const std::string& path) {
  check_columns(table, path, {"study", "cell", "problem", "model", "acquisition", "seed", "round"});
  const ExportReader reader(table);
  StudyResults results{.study = only_study(table, [&](std::size_t row) { return reader.text("study", row); }),
                       .source = path};
  check(!table.has("row") || !table.has("score"), "it has the rows that were chosen; export the rounds");
  std::map<std::string, std::size_t> position;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
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
}

bool has_measurements(const Table& table) { return table.has("kind") && table.has("estimator") && table.has("value"); }

Value cell_value(const Column& column, const FieldInfo& field, std::size_t row) {
  if (field.type == FieldType::kNumber) {
    const double number = column.number(row);
    check(std::isfinite(number), "column '{}', row {}: it is not a finite number", field.name, row + 1);
    return number;
  }
  const std::string text = column.is_text() ? column.text[row] : std::string();
  if (field.type == FieldType::kText) {
    return text;
  }
  const auto whole = parse_whole(text);
  check(whole.has_value(), "column '{}', row {}: '{}' is not a whole number", field.name, row + 1, text);
  return static_cast<std::uint64_t>(*whole);
}

StudyResults measurements_of(const Table& table, const std::string& path) {
  check_columns(table, path, {"study"});
  check_columns(table, path, field_names<Measurement>());
  const Column& study = table.column("study");
  StudyResults results{
      .study = only_study(table, [&](std::size_t row) { return study.is_text() ? study.text[row] : std::string(); }),
      .source = path};
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    Measurement& measured = results.measurements.emplace_back();
    for (const Field<Measurement>& field : fields<Measurement>()) {
      field.set(measured, cell_value(table.column(field.name), field, row));
    }
  }
  return results;
}

}  // namespace

StudyResults read_results(const std::string& path) {
  if (const FileKind kind = look_at_file(path).kind; kind != FileKind::kText && kind != FileKind::kGzip) {
    refuse_source(path);
  }
  const Table table = read_export(path);
  return in_source(path,
                   [&] { return has_measurements(table) ? measurements_of(table, path) : rounds_of(table, path); });
}

}  // namespace dissent
