// dissent study measure: the paper's side studies of its estimators, recorded in a store.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/study/measure.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

struct StudyMeasureArguments {
  std::string store;
  std::string study;  // empty: the only one there is
  std::vector<std::string> problems;
  std::optional<std::size_t> seeds;
  bool quick = false;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

// Campaigns and measurements of one study are shown together. An empty store takes any name.
std::string study_of(const StudyMeasureArguments& arguments, StudyStore& store) {
  const std::vector<std::string> names = store.studies();
  if (!arguments.study.empty()) {
    if (!names.empty()) {
      check_name("study", arguments.study, names);
    }
    return arguments.study;
  }
  check(names.size() <= 1, "{}: it has {} studies; name one by --study: {}", store.name(), names.size(),
        fmt::join(names, ", "));
  return names.empty() ? "estimators" : names.front();
}

MeasureOptions options_of(const StudyMeasureArguments& arguments) {
  MeasureOptions options = arguments.quick ? quick_measurements() : MeasureOptions();
  for (const std::string& problem : arguments.problems) {
    check_name("problem", problem, problem_names());
  }
  options.problems = arguments.problems;
  options.num_seeds = arguments.seeds.value_or(options.num_seeds);
  options.problem.num_threads = arguments.threads;
  return options;
}

void run_measure(const StudyMeasureArguments& arguments) {
  MeasureOptions options = options_of(arguments);
  check(arguments.study.find(',') == std::string::npos, "--study: '{}': a study's name has no commas", arguments.study);
  const auto store = StudyStore::open(arguments.store);
  const std::string study = study_of(arguments, *store);
  ThreadPool threads(arguments.threads);
  const bool quiet = arguments.quiet || arguments.json;
  std::optional<Progress> progress;  // of times, then of models
  options.executor = &threads;
  options.progress = [&](std::string_view of, std::size_t done, std::size_t total) {
    if (done == 1) {
      progress.emplace("measure", total, quiet);
    }
    progress->update(done, fmt::format("{} of {} {}", done, total, of));
  };
  const std::vector<Measurement> measured = measure(options);
  progress.reset();
  store->record(study, measured);
  std::map<std::string, std::size_t> counts;
  for (const Measurement& measurement : measured) {
    ++counts[measurement.kind];
  }
  if (arguments.json) {
    print_json({{"version", kVersion}, {"study", study}, {"store", store->name()}, {"measurements", counts}});
  } else if (!quiet) {
    for (const auto& [kind, count] : counts) {
      print_line("{:<16} {:>6}", kind, count);
    }
    print_line("{}: {} of study '{}'", store->name(), counted(measured.size(), "number"), study);
  }
}

}  // namespace

void add_study_measure(Command& study) {
  Command& command = study.add("measure", "Measure estimators: their time, their ranks, their bias",
                               "  dissent study measure sqlite:runs.db --quick\n"
                               "Measurements of the same study and problem are replaced.");
  const auto arguments = std::make_shared<StudyMeasureArguments>();
  command.argument("STORE", arguments->store, "sqlite:FILE or postgresql://USER@HOST/DATABASE");
  command.option(
      "--study", arguments->study,
      {.help = "The study to record them for; by default the one in the store, or 'estimators' in an empty one",
       .shown = "NAME"});
  command.texts("--problem", arguments->problems,
                {.help = "Fit models to these problems, separated by commas; by default all", .shown = "NAMES"});
  command.option(
      "--seeds", arguments->seeds,
      {.help = "How many seeds; verdicts need 5, which is the default", .shown = "N", .least = 1, .most = 1000});
  command.flag("--quick", arguments->quick, "Shorter fits than the paper's, and fewer samples");
  add_threads(command, arguments->threads);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.run([arguments] { run_measure(*arguments); });
}

}  // namespace dissent::cli
