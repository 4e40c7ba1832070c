// dissent study measure: the paper's side studies of its estimators, recorded in a store.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

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

struct Arguments {
  std::string store;
  std::string study;  // empty: the only one there is
  bool quick = false;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

// Where campaigns and measurements are of one study, they are shown together.
std::string study_of(const Arguments& arguments, StudyStore& store) {
  if (!arguments.study.empty()) {
    return arguments.study;
  }
  const std::vector<std::string> names = store.studies();
  check(names.size() <= 1, "{}: it has {} studies; name one by --study: {}", store.name(), names.size(),
        fmt::join(names, ", "));
  return names.empty() ? "estimators" : names.front();
}

void run_measure(const Arguments& arguments) {
  const auto store = StudyStore::open(arguments.store);
  const std::string study = study_of(arguments, *store);
  ThreadPool threads(arguments.threads);
  const bool quiet = arguments.quiet || arguments.json;
  Progress progress("measure", 1, quiet);
  MeasureOptions options = arguments.quick ? quick_measurements() : MeasureOptions();
  options.executor = &threads;
  options.problem.num_threads = arguments.threads;
  options.progress = [&](std::size_t done, std::size_t total) {
    progress.set_total(total);
    progress.update(done, fmt::format("{} of {} models", done, total));
  };
  const std::vector<Measurement> measured = measure(options);
  progress.wipe();
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
                               "Measurements of the same study are replaced.");
  const auto arguments = std::make_shared<Arguments>();
  command.argument("STORE", arguments->store, "sqlite:FILE or postgresql://USER@HOST/DATABASE");
  command.option("--study", arguments->study,
                 {.help = "The study they are recorded for; the one in the store, or 'estimators' in an empty one",
                  .shown = "NAME"});
  command.flag("--quick", arguments->quick, "Short fits, in place of the paper's, and fewer samples");
  add_threads(command, arguments->threads);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.run([arguments] { run_measure(*arguments); });
}

}  // namespace dissent::cli
