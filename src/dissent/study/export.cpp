#include "dissent/study/export.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

const std::vector<std::string> kFirst = {"study", "cell", "problem", "model", "acquisition", "seed", "data_seed"};
const std::vector<std::string> kState = {"state", "worker", "version", "error", "started", "changed"};

bool is_other_axis(const std::string& name) { return std::ranges::find(kFirst, name) == kFirst.end(); }

template <class S>
std::vector<std::string> column_names(const StudyResults& results) {
  std::vector<std::string> names = kFirst;
  if (!results.runs.empty()) {
    for (const auto& [axis, value] : results.runs.front().axes) {
      if (is_other_axis(axis)) {
        names.push_back(axis);
      }
    }
  }
  const std::vector<std::string> record = field_names<S>();
  names.insert(names.end(), kState.begin(), kState.end());
  names.insert(names.end(), record.begin(), record.end());
  return names;
}

void put_text(CsvText& csv, const std::string& text) { text.empty() ? csv.missing() : csv.field(text); }
void put_time(CsvText& csv, double time) { time == 0 ? csv.missing() : csv.field(time); }

void put_run(CsvText& csv, const std::string& study, const StudyRun& run) {
  csv.field(study);
  csv.field(run.name);
  csv.field(run.problem);
  csv.field(run.model);
  csv.field(run.acquisition);
  csv.field(run.seed);
  csv.field(run.data_seed);
  for (const auto& [axis, value] : run.axes) {
    if (is_other_axis(axis)) {
      put_text(csv, value);
    }
  }
  csv.field(cell_state_name(run.state));
  put_text(csv, run.worker);
  put_text(csv, run.version);
  put_text(csv, run.error);
  put_time(csv, run.started);
  put_time(csv, run.changed);
}

template <class S>
void put_record(CsvText& csv, const S& record) {
  for (const Field<S>& field : fields<S>()) {
    const double number = as_number(field.get(record));
    std::isnan(number) ? csv.missing() : csv.field(number);
  }
}

template <class S>
void put_rows(CsvText& csv, const std::string& study, const StudyRun& run, const std::vector<S>& records) {
  for (const S& record : records) {
    put_run(csv, study, run);
    put_record(csv, record);
    csv.end_row();
  }
  if (records.empty()) {
    put_run(csv, study, run);
    for (std::size_t k = 0; k < fields<S>().size(); ++k) {
      csv.missing();
    }
    csv.end_row();
  }
}

}  // namespace

std::string rounds_csv(const StudyResults& results) {
  CsvText csv(results.source, column_names<RoundRecord>(results));
  for (const StudyRun& run : results.runs) {
    put_rows(csv, results.study, run, run.rounds);
  }
  return csv.text();
}

std::string choices_csv(const StudyResults& results, const std::vector<CellChoice>& choices) {
  std::unordered_map<std::string, std::vector<ChosenRow>> by_cell;
  for (const CellChoice& choice : choices) {
    by_cell[choice.cell].push_back(choice.chosen);
  }
  CsvText csv(results.source, column_names<ChosenRow>(results));
  for (const StudyRun& run : results.runs) {
    put_rows(csv, results.study, run, by_cell[run.name]);
  }
  return csv.text();
}

}  // namespace dissent
