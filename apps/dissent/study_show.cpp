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
#include "dissent/study/source.hpp"
#include "dissent/study/sources.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

struct Format {
  std::string_view name;
  std::string_view ending;  // of its files
};
constexpr Format kShowFormats[] = {{"text", ".txt"},  {"markdown", ".md"}, {"md", ".md"},
                                   {"latex", ".tex"}, {"csv", ".csv"},     {"json", ".json"}};

struct StudyShowArguments {
  std::vector<std::string> sources;
  std::vector<std::string> studies;
  std::string metric = "rmse";
  std::vector<double> rounds;
  std::vector<std::string> ours;
  std::vector<std::string> baselines;
  std::optional<std::size_t> until;
  std::string format;
  std::string table;
  std::string output = "-";
  bool json = false;
};

// As typed, or by the output's ending.
std::string_view show_format_of(const StudyShowArguments& arguments) {
  const bool printed = arguments.output == "-";
  if (arguments.format.empty()) {
    const auto found =
        std::ranges::find_if(kShowFormats, [&](const Format& one) { return arguments.output.ends_with(one.ending); });
    check(printed || found != std::end(kShowFormats),
          "--output: '{}' must end in .txt, .md, .tex, .csv or .json; - is standard output", arguments.output);
    return printed ? "text" : found->name;
  }
  std::vector<std::string> names;
  std::ranges::transform(kShowFormats, std::back_inserter(names),
                         [](const Format& one) { return std::string(one.name); });
  check_name("format", arguments.format, names);
  const Format& format = *std::ranges::find(kShowFormats, arguments.format, &Format::name);
  check(printed || arguments.output.ends_with(format.ending),
        "--output: '{}' must end in {}, since --format is {}; - is standard output", arguments.output, format.ending,
        format.name);
  return format.name;
}

// Refuses options that the format would not use.
void check_used(const StudyShowArguments& arguments, std::string_view format) {
  check(arguments.table.empty() || format == "csv", "--table is for CSV, and the format is {}; give --format csv",
        format);
  if (!arguments.table.empty()) {
    check_name("table", arguments.table, record_names());
  }
  check(arguments.rounds.empty() || (format != "csv" && format != "json"),
        "--rounds is for tables of text; {} has every round", format);
}

std::vector<std::size_t> rounds_of(const StudyShowArguments& arguments) {
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

// Every study with all its tables; the verdicts are on all of them together.
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
  return format_csv(record_table(comparisons, claims, name.empty() ? record_names().front() : name));
}

std::string as_text(const std::vector<Comparison>& comparisons, const std::vector<JudgedClaim>& claims,
                    const std::vector<std::size_t>& rounds, TableFormat format) {
  std::vector<TextTable> tables;
  const auto add = [&](const std::vector<TextTable>& more) { tables.insert(tables.end(), more.begin(), more.end()); };
  for (const Comparison& comparison : comparisons) {
    const std::size_t first = tables.size();
    add(curve_tables(comparison, rounds.empty() ? shown_rounds(comparison) : rounds));
    add(paired_tables(comparison));
    add(overall_tables(comparison));
    for (std::size_t k = first; k < tables.size() && comparisons.size() > 1; ++k) {
      tables[k].title = fmt::format("{}: {}", comparison.study, tables[k].title);
    }
  }
  if (!claims.empty()) {
    add(claim_tables(claims));
  }
  return format_tables(tables, format);
}

void run_study_show(StudyShowArguments arguments) {
  if (arguments.json) {
    check(arguments.format.empty() || arguments.format == "json", "--json and --format {}: give one", arguments.format);
    arguments.format = "json";
  }
  const std::string_view format = show_format_of(arguments);
  check_used(arguments, format);
  const std::vector<std::size_t> rounds = rounds_of(arguments);
  const std::vector<StudyResults> studies = read_sources(arguments.sources, arguments.studies);
  const std::vector<Comparison> comparisons = compare_studies(
      studies,
      {.metric = arguments.metric, .ours = arguments.ours, .baselines = arguments.baselines, .until = arguments.until});
  const std::vector<JudgedClaim> claims = judge_claims(studies);
  const auto tables = [&](TableFormat kind) {
    return as_text(comparisons, concern_claims(studies) ? claims : std::vector<JudgedClaim>(), rounds, kind);
  };
  const std::string text = format == "json"                         ? as_json(comparisons, claims)
                           : format == "csv"                        ? as_csv(comparisons, claims, arguments.table)
                           : format == "markdown" || format == "md" ? tables(TableFormat::kMarkdown)
                           : format == "latex"                      ? tables(TableFormat::kLatex)
                                                                    : tables(TableFormat::kText);
  if (arguments.output == "-") {
    print(text);
    return;
  }
  AtomicFile file(arguments.output);
  file.write(text);
  file.commit();
}

CommandFiles study_show_files(const StudyShowArguments& arguments) {
  CommandFiles files{.read = {}, .written = {arguments.output}};
  for (const std::string& source : arguments.sources) {
    files.read.push_back(study_source(source).file());
  }
  return files;
}

}  // namespace

void add_study_show(Command& study) {
  Command& command =
      study.add("show", "Which methods do better: tables, tests, the paper's numbers, verdicts",
                "  dissent study show sqlite:runs.db\n"
                "  dissent study show sqlite:runs.db --metric rmse_paper --rounds 10,25,50,100 -o show.md\n"
                "  dissent study show rounds.csv --ours 'kl, components=3' --against 'kl, components=5'\n"
                "  dissent study show flows.csv.gz networks.csv.gz measurements.csv.gz\n"
                "  dissent study show rounds.csv --format csv --table paired");
  const auto arguments = std::make_shared<StudyShowArguments>();
  command.arguments("STORE", arguments->sources,
                    "sqlite:FILE, postgresql://USER@HOST/DATABASE, a .csv of 'dissent study export'; or several");
  command.texts("--study", arguments->studies, {.help = "Studies to show, judged together", .shown = "NAMES"});
  command.option("--metric", arguments->metric, {.help = "rmse, rmse_paper or log_likelihood", .shown = "NAME"});
  command.option("--rounds", arguments->rounds, {.help = "Rounds with a column of their own", .shown = "R"});
  command.texts(
      "--ours", arguments->ours,
      {.help = "Methods to test, as tables name them; by default pairwise estimates and aim", .shown = "NAMES"});
  command.texts("--against", arguments->baselines,
                {.help = "Methods to test them against; by default all others", .shown = "NAMES"});
  command.option("--until", arguments->until, {.help = "The last round that counts", .shown = "R"});
  command.option(
      "--format", arguments->format,
      {.help = "text, markdown, latex, csv or json; by default as the output's ending says", .shown = "NAME"});
  command.option("--table", arguments->table,
                 {.help = fmt::format("For CSV: {}", fmt::join(record_names(), ", ")), .shown = "NAME"});
  command.option("-o,--output", arguments->output, {.help = "Where to write; - is standard output", .shown = "FILE"});
  command.flag("--json", arguments->json, "The same as --format json");
  command.files([arguments] { return study_show_files(*arguments); });
  command.run([arguments] { run_study_show(*arguments); });
}

}  // namespace dissent::cli
