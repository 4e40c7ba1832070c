// dissent study export: what a study has found, as a table for other programs.
#include <algorithm>
#include <memory>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/study/export.hpp"
#include "dissent/study/source.hpp"
#include "dissent/study/sources.hpp"
#include "dissent/table/text_file.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct StudyExportArguments {
  std::vector<std::string> stores;
  std::string study;  // empty: the only one
  std::string output = "-";
  bool choices = false;
  bool measurements = false;
  bool common = false;
  std::vector<std::string> methods;  // empty: all
  bool quiet = false;
};

// Files that an output must not replace.
CommandFiles study_export_files(const StudyExportArguments& arguments) {
  CommandFiles files{.read = {}, .written = {arguments.output}};
  for (const std::string& store : arguments.stores) {
    files.read.push_back(study_source(store).file());
  }
  return files;
}

StudyResults read_study(const StudyExportArguments& arguments) {
  const std::vector<std::string> names =
      arguments.study.empty() ? std::vector<std::string>() : std::vector{arguments.study};
  const std::vector<StudyResults> studies = read_sources(arguments.stores, names);
  std::vector<std::string> found;
  std::ranges::transform(studies, std::back_inserter(found), &StudyResults::study);
  check(studies.size() == 1, "there are {} studies; name one by `study`: {}", studies.size(), fmt::join(found, ", "));
  return studies.front();
}

std::string chosen_rows(const StudyExportArguments& arguments, const StudyResults& results) {
  const StudySource source = study_source(arguments.stores.front());
  check(arguments.stores.size() == 1 && source.is_store(),
        "--choices: the rows that were chosen are in a store; give one");
  const auto store = StudyStore::open(source.url(), StudyStore::Access::kRead);
  return choices_csv(results, store->choices(results.study));
}

void run_study_export(const StudyExportArguments& arguments) {
  const bool packed = arguments.output.ends_with(".csv.gz");
  check(arguments.output == "-" || packed || arguments.output.ends_with(".csv"),
        "--output: '{}' must end in .csv or .csv.gz; - is standard output", arguments.output);
  check(!arguments.choices || !arguments.measurements, "--choices and --measurements are two tables; give one");
  check(!arguments.common || (!arguments.choices && !arguments.measurements),
        "--common cuts the table of rounds; leave --choices and --measurements out");
  check(arguments.methods.empty() || (!arguments.choices && !arguments.measurements),
        "--methods is for the table of rounds; leave --choices and --measurements out");
  StudyResults results = read_study(arguments);
  if (!arguments.methods.empty()) {
    keep_methods(results, arguments.methods);
  }
  if (arguments.common) {
    keep_common_rounds(results);
  }
  check(!arguments.measurements || !results.measurements.empty(), "{}: study '{}' has no measurements", results.source,
        results.study);
  check(arguments.measurements || !results.runs.empty() || results.measurements.empty(),
        "{}: study '{}' has no campaigns, but {}; --measurements exports them", results.source, results.study,
        counted(results.measurements.size(), "measurement"));
  const std::string csv = arguments.choices        ? chosen_rows(arguments, results)
                          : arguments.measurements ? measurements_csv(results)
                                                   : rounds_csv(results);
  if (arguments.output == "-") {
    print(csv);
    return;
  }
  AtomicFile file(arguments.output);
  file.write(packed ? pack_gzip(csv) : csv);
  file.commit();
  if (!arguments.quiet) {
    print_line("{}: {}", arguments.output,
               arguments.measurements ? counted(results.measurements.size(), "measurement")
                                      : counted(results.runs.size(), "campaign"));
  }
}

}  // namespace

void add_study_export(Command& study) {
  Command& command = study.add("export", "Rounds of all campaigns, the rows they chose, or measurements, as CSV",
                               "  dissent study export sqlite:runs.db -o rounds.csv\n"
                               "  dissent study export sqlite:runs.db --choices -o chosen.csv\n"
                               "  dissent study export sqlite:here.db sqlite:there.db -o rounds.csv.gz");
  const auto arguments = std::make_shared<StudyExportArguments>();
  command.arguments("STORE", arguments->stores,
                    "sqlite:FILE, postgresql://USER@HOST/DATABASE, a .csv of this command; or several");
  command.option("--study", arguments->study, {.help = "One of the studies in the store", .shown = "NAME"});
  command.flag("--choices", arguments->choices, "The rows that were chosen, with their scores");
  command.flag("--measurements", arguments->measurements, "What 'dissent study measure' has measured");
  command.texts(
      "--methods", arguments->methods,
      {.help = "Only campaigns that choose by these: kl, mc:5000, or mc for all of that kind", .shown = "NAMES"});
  command.flag("--common", arguments->common,
               "For each problem and model, only the rounds that all its campaigns have");
  command.option("-o,--output", arguments->output,
                 {.help = "Where to write; - is standard output", .shown = "FILE.csv|FILE.csv.gz"});
  add_quiet(command, arguments->quiet);
  command.files([arguments] { return study_export_files(*arguments); });
  command.run([arguments] { run_study_export(*arguments); });
}

}  // namespace dissent::cli
