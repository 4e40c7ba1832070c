#include "dissent/study/results.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/base/value_json.hpp"

namespace dissent {
namespace {

// The settings given for a campaign, from Cell::describe(). Those that this version does not know are left out: none of
// them affects the results' names.
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

}  // namespace

bool is_task_axis(std::string_view name) {
  constexpr std::string_view kTaskAxes[] = {"problem", "model", "acquisition", "seed", "data_seed"};
  return std::ranges::find(kTaskAxes, name) != std::end(kTaskAxes);
}

std::string method_name(const StudyRun& run) {
  std::string name = run.acquisition;
  for (const auto& [axis, value] : run.axes) {
    if (!is_task_axis(axis) && !value.empty()) {
      name += fmt::format(", {}={}", axis, value);
    }
  }
  return name;
}

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
    // A campaign may have been added since the cells were read.
    if (const auto found = position.find(round.cell); found != position.end()) {
      results.runs[found->second].rounds.push_back(round.record);
    }
  }
  results.measurements = store.measurements(results.study);
  return results;
}

}  // namespace dissent
