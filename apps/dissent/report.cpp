// dissent report: a model, a campaign or a study as one page to look at.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/file_kind.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/report/campaign_page.hpp"
#include "dissent/report/model_page.hpp"
#include "dissent/report/page_text.hpp"
#include "dissent/study/source.hpp"
#include "dissent/table/read_table.hpp"
#include "options.hpp"
#include "page_files.hpp"
#include "report_study.hpp"

namespace dissent::cli {
namespace {

using report::HeldOut;
using report::Page;

const std::vector<std::string> kFormats{"html", "markdown", "md", "latex", "csv"};

struct ReportOptions {
  std::vector<std::string> sources;
  std::string table;
  std::string pool;
  std::vector<std::string> studies;
  std::string output;
  std::string format = {};  // empty: by the output's ending
  int threads = 0;
  bool json = false;
  bool quiet = false;

  // The source of a model or a campaign, which has only one.
  const std::string& source() const { return sources.front(); }
};

bool is_directory(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown);
}

Page model_report(const ReportOptions& options) {
  const FileLook look = look_at_file(options.source());
  check(!is_other_than_safetensors(look) && look.kind != FileKind::kEmpty,
        "{}: it looks like {}; give a model of 'dissent fit', the folder of a campaign, {}", options.source(),
        look.name, kKnownSources);
  check(options.pool.empty(), "--pool is for a campaign; '{}' is a model", options.source());
  const Ensemble model = Ensemble::load(options.source());
  ThreadPool threads(options.threads);
  std::optional<HeldOut> held_out;
  if (!options.table.empty()) {
    held_out = report::measure(model, read_table(options.table), &threads);
  }
  return report::model_page(options.source(), model, held_out ? &*held_out : nullptr);
}

Page campaign_report(const ReportOptions& options) {
  const auto table = [](const std::string& path) { return path.empty() ? std::optional<Table>() : read_table(path); };
  const report::CampaignView view = report::read_campaign(options.source(), table(options.pool));
  check(options.table.empty() || view.model, "{}: has no model of its labels yet, which --table could measure",
        options.source());
  ThreadPool threads(options.threads);
  const std::optional<Table> rows = options.table.empty() ? view.test : table(options.table);
  std::optional<HeldOut> held_out;
  if (rows && view.model) {
    held_out = report::measure(*view.model, *rows, &threads);
  }
  return report::campaign_page(view, held_out ? &*held_out : nullptr);
}

Page study_page_of(const ReportOptions& options) {
  check(options.pool.empty() && options.table.empty(),
        "--table and --pool are for a model or a campaign; '{}' is a study", options.source());
  return study_report(options.sources, options.studies);
}

Page page_of(const ReportOptions& options) {
  const auto is_study = [](const std::string& source) { return bool(study_source(source)); };
  if (std::ranges::all_of(options.sources, is_study)) {
    return study_page_of(options);
  }
  check(options.sources.size() == 1, "a page of several is for studies; of models and campaigns give one");
  check(options.studies.empty(), "--study is for a store of studies, and '{}' is none", options.source());
  return is_directory(options.source()) ? campaign_report(options) : model_report(options);
}

std::string written(const Page& page, const ReportOptions& options) {
  if (options.format == "markdown" || options.format == "md") {
    return report::to_markdown(page);
  }
  if (options.format == "latex") {
    return report::to_latex(page);
  }
  return options.format == "csv" ? report::to_csv(page) : report::to_html(page, page_files());
}

struct Ending {
  std::string_view format;
  std::string_view text;
};
constexpr Ending kEndings[] = {{"html", ".html"},   {"html", ".htm"},  {"md", ".md"},
                               {"markdown", ".md"}, {"latex", ".tex"}, {"csv", ".csv"}};

// As typed, else by the output's ending; html if that says nothing.
std::string format_of(const ReportOptions& options) {
  const auto fits = [&](const Ending& one) { return options.output.ends_with(one.text); };
  const auto found = std::ranges::find_if(kEndings, fits);
  if (options.format.empty()) {
    return std::string(found == std::end(kEndings) ? "html" : found->format);
  }
  check_name("format", options.format, kFormats);
  return options.format;
}

bool has_ending(const ReportOptions& options) {
  return std::ranges::any_of(
      kEndings, [&](const Ending& one) { return one.format == options.format && options.output.ends_with(one.text); });
}

void run_report(ReportOptions options) {
  const bool typed = !options.format.empty();
  options.format = format_of(options);
  if (options.format == "html") {
    page_files();  // fails before any work in a build without pages
  }
  check(options.output != "-" || !options.json, "--json and --output - both go to standard output; give a file");
  if (options.output != "-") {
    check_writable(options.output);
    check(typed || has_ending(options), "--output: '{}' must end in .html, .md, .tex or .csv; - is standard output",
          options.output);
    check(has_ending(options), "--output: '{}' must end in {}, since --format is {}; - is standard output",
          options.output, std::ranges::find(kEndings, options.format, &Ending::format)->text, options.format);
  }
  const Page page = page_of(options);
  const std::string text = written(page, options);
  if (options.output == "-") {
    print(text);
    return;
  }
  AtomicFile file(options.output);
  file.write(text);
  file.commit();
  if (options.json) {
    nlohmann::ordered_json json{{"version", kVersion}, {"output", options.output}};
    json.update(report::tables_json(page));
    print_json(json);
  } else if (!options.quiet) {
    print_line("{}: {}, {}", options.output, counted(report::blocks_of<report::Chart>(page).size(), "chart"),
               counted(report::blocks_of<report::TableBlock>(page).size(), "table"));
  }
}

CommandFiles files_of(const ReportOptions& options) {
  CommandFiles files{.read = {options.table, options.pool}, .written = {options.output}};
  for (const std::string& source : options.sources) {
    if (is_directory(source)) {
      files.campaign = source;
    } else {
      files.read.push_back(study_source(source).file());
    }
  }
  return files;
}

}  // namespace

void add_report(Command& app) {
  Command& command = app.add("report", "Write a page about a model, a campaign or a study, for a browser",
                             "  dissent report y.model --table held_out.csv --output report.html\n"
                             "  dissent report DIR --output report.html\n"
                             "  dissent report sqlite:runs.db --output report.html\n"
                             "  dissent report flows.csv.gz networks.csv.gz --output report.html\n"
                             "The page is one file and loads nothing. Rows of --table must be new to the model.");
  const auto options = std::make_shared<ReportOptions>();
  command.arguments("SOURCE", options->sources,
                    "Model file, directory of a campaign, or stores of studies or their exported tables");
  command.option(
      "--table", options->table,
      {.help = "Rows with targets, new to the model, to judge it by; 'ask' may have its own", .shown = "FILE"});
  command.option("--pool", options->pool,
                 {.help = "The pool of a campaign of 'learn', for the map; 'ask' keeps a copy", .shown = "FILE"});
  command.texts("--study", options->studies, {.help = "Studies of a store, on one page", .shown = "NAMES"});
  command.option("-o,--output", options->output, {.help = "The page; - is standard output", .shown = "FILE"},
                 Need::kRequired);
  command.option("--format", options->format,
                 {.help = "html, md or markdown, latex (tables), csv (a line per cell); by default as the output ends",
                  .shown = "NAME"});
  add_threads(command, options->threads);
  add_json(command, options->json);
  add_quiet(command, options->quiet);
  command.files([options] { return files_of(*options); });
  command.run([options] { run_report(*options); });
}

}  // namespace dissent::cli
