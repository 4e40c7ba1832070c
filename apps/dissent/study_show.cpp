// dissent study show: which methods of a study do better, as tables.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/base/version.hpp"
#include "dissent/study/comparison_tables.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

const std::vector<std::string> kFormats = {"text", "markdown", "latex", "csv", "json"};
constexpr std::string_view kSqlite = "sqlite:";

struct Arguments {
  std::string source;
  std::vector<std::string> studies;
  std::string metric = "rmse";
  std::vector<double> rounds;
  std::vector<std::string> ours;
  std::vector<std::string> baselines;
  std::optional<std::size_t> until;
  std::string format;
  std::string table = "curves";
  std::string output = "-";
};

bool is_export(const std::string& source) { return source.ends_with(".csv") || source.ends_with(".csv.gz"); }

std::vector<StudyResults> read_studies(const Arguments& arguments) {
  std::vector<StudyResults> studies;
  if (is_export(arguments.source)) {
    studies.push_back(read_results(arguments.source));
    for (const std::string& name : arguments.studies) {
      check_name("study", name, {studies.front().study});
    }
    return studies;
  }
  const auto store = StudyStore::open(arguments.source, StudyStore::Access::kRead);
  if (arguments.studies.empty()) {
    studies.push_back(read_results(*store));
  }
  for (const std::string& name : arguments.studies) {
    studies.push_back(read_results(*store, name));
  }
  return studies;
}

// As it is typed, or by the ending of the output.
std::string format_of(const Arguments& arguments) {
  if (!arguments.format.empty()) {
    return arguments.format;
  }
  const std::pair<std::string_view, std::string_view> endings[] = {
      {".md", "markdown"}, {".tex", "latex"}, {".csv", "csv"}, {".json", "json"}};
  for (const auto& [ending, format] : endings) {
    if (arguments.output.ends_with(ending)) {
      return std::string(format);
    }
  }
  return "text";
}

std::vector<std::size_t> rounds_of(const Arguments& arguments) {
  std::vector<std::size_t> rounds;
  for (const double round : arguments.rounds) {
    check_argument(round >= 0 && round == std::floor(round), "rounds", round, "rounds are whole numbers");
    rounds.push_back(static_cast<std::size_t>(round));
  }
  return rounds;
}

Json records_json(const RecordTable& table) {
  Json list = Json::array();
  for (const std::vector<Value>& row : table.rows) {
    Json item;
    for (std::size_t k = 0; k < row.size(); ++k) {
      item[table.columns[k]] = to_json(row[k]);
    }
    list.push_back(std::move(item));
  }
  return list;
}

// Every study with all its tables; the verdicts are of all of them together.
std::string as_json(const std::vector<Comparison>& comparisons, const std::vector<JudgedClaim>& claims) {
  Json whole{{"version", kVersion}, {"studies", Json::array()}};
  for (const Comparison& comparison : comparisons) {
    Json study{{"study", comparison.study}, {"source", comparison.source}, {"metric", comparison.metric->name}};
    for (const RecordTable& table : record_tables(comparison, {})) {
      if (table.name != "verdicts" && table.name != "findings") {
        study[table.name] = records_json(table);
      }
    }
    whole["studies"].push_back(std::move(study));
  }
  for (const RecordTable& table : record_tables({}, claims)) {
    if (table.name == "verdicts" || table.name == "findings") {
      whole[table.name] = records_json(table);
    }
  }
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_csv(const std::vector<Comparison>& comparisons, const std::vector<JudgedClaim>& claims,
                   const std::string& name) {
  check(comparisons.size() == 1, "a CSV file holds one study; name one by `study`");
  const std::vector<RecordTable> tables = record_tables(comparisons.front(), claims);
  return format_csv(*std::ranges::find(tables, name, &RecordTable::name));
}

std::string as_text(const std::vector<Comparison>& comparisons, const std::vector<JudgedClaim>& claims,
                    std::vector<std::size_t> rounds, TableFormat format) {
  std::vector<TextTable> tables;
  const auto add = [&](const std::vector<TextTable>& more) { tables.insert(tables.end(), more.begin(), more.end()); };
  for (const Comparison& comparison : comparisons) {
    add(curve_tables(comparison, rounds.empty() ? shown_rounds(comparison) : rounds));
    add(paired_tables(comparison));
    add(overall_tables(comparison));
  }
  add(claim_tables(claims));
  return format_tables(tables, format);
}

void run_show(const Arguments& arguments) {
  const std::string format = format_of(arguments);
  check_name("format", format, kFormats);
  check_name("table", arguments.table, record_names());
  const std::vector<std::size_t> rounds = rounds_of(arguments);
  const std::vector<StudyResults> studies = read_studies(arguments);
  std::vector<Comparison> comparisons;
  for (const StudyResults& results : studies) {
    comparisons.push_back(compare(results, {.metric = arguments.metric,
                                            .ours = arguments.ours,
                                            .baselines = arguments.baselines,
                                            .until = arguments.until}));
  }
  const std::vector<JudgedClaim> claims = judge_claims(studies);
  const std::string text = format == "json"       ? as_json(comparisons, claims)
                           : format == "csv"      ? as_csv(comparisons, claims, arguments.table)
                           : format == "markdown" ? as_text(comparisons, claims, rounds, TableFormat::kMarkdown)
                           : format == "latex"    ? as_text(comparisons, claims, rounds, TableFormat::kLatex)
                                                  : as_text(comparisons, claims, rounds, TableFormat::kText);
  if (arguments.output == "-") {
    print(text);
    return;
  }
  AtomicFile file(arguments.output);
  file.write(text);
  file.commit();
}

CommandFiles files_of(const Arguments& arguments) {
  const bool sqlite = arguments.source.starts_with(kSqlite);
  return {.read = {sqlite ? arguments.source.substr(kSqlite.size()) : arguments.source}, .written = {arguments.output}};
}

}  // namespace

void add_study_show(Command& study) {
  Command& command =
      study.add("show", "Which methods do better: tables, tests, the paper's numbers, verdicts",
                "  dissent study show sqlite:runs.db\n"
                "  dissent study show sqlite:runs.db --metric rmse_paper --rounds 10,25,50,100 -o show.md\n"
                "  dissent study show rounds.csv --format csv --table paired");
  const auto arguments = std::make_shared<Arguments>();
  command.argument("STORE", arguments->source,
                   "sqlite:FILE, postgresql://USER@HOST/DATABASE, or a .csv of 'dissent study export'");
  command.texts("--study", arguments->studies, {.help = "Studies of the store, judged together", .shown = "NAMES"});
  command.option("--metric", arguments->metric, {.help = "rmse, rmse_paper or log_likelihood", .shown = "NAME"});
  command.option("--rounds", arguments->rounds, {.help = "Rounds with a column of their own", .shown = "R"});
  command.texts("--ours", arguments->ours,
                {.help = "Methods to test, if not kl, bhattacharyya and their joint forms", .shown = "NAMES"});
  command.texts("--against", arguments->baselines,
                {.help = "Methods to test them against, if not all others", .shown = "NAMES"});
  command.option("--until", arguments->until, {.help = "The last round that counts", .shown = "R"});
  command.option(
      "--format", arguments->format,
      {.help = "text, markdown, latex, csv or json; by default as the output's ending says", .shown = "NAME"});
  command.option("--table", arguments->table, {.help = "The one that is written as CSV", .shown = "NAME"});
  command.option("-o,--output", arguments->output, {.help = "Where to write; - is standard output", .shown = "FILE"});
  command.files([arguments] { return files_of(*arguments); });
  command.run([arguments] { run_show(*arguments); });
}

}  // namespace dissent::cli
