#include "dissent/study/export.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/study/comparison_parts.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

const std::vector<std::string> kFirst = {"study", "cell", "problem", "model", "acquisition", "seed", "data_seed"};
const std::vector<std::string> kState = {"state", "worker", "version", "error", "started", "changed", "fit_epochs"};

// Axes with no column among the first. Campaigns of several grids may have different ones.
std::vector<std::string> other_axes(const StudyResults& results) {
  std::vector<std::string> names;
  for (const StudyRun& run : results.runs) {
    for (const auto& [axis, value] : run.axes) {
      if (std::ranges::find(kFirst, axis) == kFirst.end() && std::ranges::find(names, axis) == names.end()) {
        names.push_back(axis);
      }
    }
  }
  return names;
}

template <class S>
std::vector<std::string> column_names(const std::vector<std::string>& axes) {
  std::vector<std::string> names = kFirst;
  const std::vector<std::string> record = field_names<S>();
  names.insert(names.end(), axes.begin(), axes.end());
  names.insert(names.end(), kState.begin(), kState.end());
  names.insert(names.end(), record.begin(), record.end());
  return names;
}

void put_text(CsvText& csv, const std::string& text) { text.empty() ? csv.missing() : csv.field(text); }
void put_time(CsvText& csv, double time) { time == 0 ? csv.missing() : csv.field(time); }

// Rows of campaigns: what is known of the campaign, then the fields of a record.
template <class S>
class CampaignRows {
 public:
  explicit CampaignRows(const StudyResults& results)
      : study_(results.study), axes_(other_axes(results)), csv_(results.source, column_names<S>(axes_)) {}

  void add(const StudyRun& run, const std::vector<S>& records) {
    for (const S& record : records) {
      put_run(run);
      for (const Field<S>& field : fields<S>()) {
        const double number = as_number(field.get(record));
        std::isnan(number) ? csv_.missing() : csv_.field(number);
      }
      csv_.end_row();
    }
    if (records.empty()) {
      put_run(run);
      for (std::size_t k = 0; k < fields<S>().size(); ++k) {
        csv_.missing();
      }
      csv_.end_row();
    }
  }

  const std::string& text() const { return csv_.text(); }

 private:
  void put_run(const StudyRun& run) {
    csv_.field(study_);
    csv_.field(run.name);
    csv_.field(run.problem);
    csv_.field(run.model);
    csv_.field(run.acquisition);
    csv_.field(run.seed);
    csv_.field(run.data_seed);
    for (const std::string& axis : axes_) {
      const auto found = std::ranges::find(run.axes, axis, [](const auto& one) { return one.first; });
      put_text(csv_, found == run.axes.end() ? "" : found->second);
    }
    csv_.field(cell_state_name(run.state));
    put_text(csv_, run.worker);
    put_text(csv_, run.version);
    put_text(csv_, run.error);
    put_time(csv_, run.started);
    put_time(csv_, run.changed);
    run.epochs == 0 ? csv_.missing() : csv_.field(run.epochs);
  }

  std::string study_;
  std::vector<std::string> axes_;
  CsvText csv_;
};

}  // namespace

template <>
std::span<const Field<Measurement>> fields() {
  using S = Measurement;
  static const std::vector<Field<S>> list{
      field("kind", &S::kind, {.help = "What was measured"}),
      field("problem", &S::problem, {.help = "That the model was fitted to"}),
      field("model", &S::model, {.help = "Its kind"}),
      field("estimator", &S::estimator, {.help = "With its parameter"}),
      field("outputs", &S::outputs, {.help = "Output columns"}),
      field("components", &S::components, {.help = "Of the ensemble"}),
      field("samples", &S::samples, {.help = "Of a Monte Carlo estimate; else 0"}),
      field("seed", &S::seed, {.help = "From 0"}),
      field("at", &S::at, {.help = "The input, where there is one"}),
      field("value", &S::value, {.help = "The number itself"}),
  };
  return list;
}

void keep_methods(StudyResults& results, const std::vector<std::string>& names) {
  const auto is = [](const StudyRun& run, const std::string& name) {
    return run.acquisition == name || acquisition_name(run.acquisition) == name;
  };
  for (const std::string& name : names) {
    check(std::ranges::any_of(results.runs, [&](const StudyRun& run) { return is(run, name); }),
          "{}: no campaign of study '{}' chooses by '{}'", results.source, results.study, name);
  }
  std::erase_if(results.runs, [&](const StudyRun& run) {
    return std::ranges::none_of(names, [&](const std::string& name) { return is(run, name); });
  });
}

void keep_common_rounds(StudyResults& results) {
  std::map<std::pair<std::string, std::string>, std::size_t> least;
  for (const StudyRun& run : results.runs) {
    if (!run.rounds.empty()) {
      const auto [found, is_new] = least.try_emplace({run.problem, run.model}, run.rounds.size());
      found->second = std::min(found->second, run.rounds.size());
    }
  }
  for (StudyRun& run : results.runs) {
    if (!run.rounds.empty()) {
      run.rounds.resize(least[{run.problem, run.model}]);
    }
  }
}

std::string rounds_csv(const StudyResults& results) {
  CampaignRows<RoundRecord> rows(results);
  for (const StudyRun& run : results.runs) {
    rows.add(run, run.rounds);
  }
  return rows.text();
}

std::string choices_csv(const StudyResults& results, const std::vector<CellChoice>& choices) {
  std::unordered_map<std::string, std::vector<ChosenRow>> by_cell;
  for (const CellChoice& choice : choices) {
    by_cell[choice.cell].push_back(choice.chosen);
  }
  CampaignRows<ChosenRow> rows(results);
  for (const StudyRun& run : results.runs) {
    rows.add(run, by_cell[run.name]);
  }
  return rows.text();
}

std::string measurements_csv(const StudyResults& results) {
  std::vector<std::string> names = field_names<Measurement>();
  names.insert(names.begin(), "study");
  CsvText csv(results.source, names);
  for (const Measurement& measured : results.measurements) {
    csv.field(results.study);
    for (const Field<Measurement>& field : fields<Measurement>()) {
      const Value value = field.get(measured);
      const std::string* text = std::get_if<std::string>(&value);
      text == nullptr ? csv.field(as_number(value)) : put_text(csv, *text);
    }
    csv.end_row();
  }
  return csv.text();
}

}  // namespace dissent
