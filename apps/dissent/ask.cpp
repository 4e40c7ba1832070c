// dissent ask: which rows of the pool people should label next, remembered until `dissent tell` brings the labels.
//
// --batch is the number of rows that wait for an answer afterwards: those that wait already come first, new ones fill
// up. So a command that was killed, or whose output was lost, can be run again and says the same.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "campaign_options.hpp"
#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/table/csv.hpp"
#include "options.hpp"
#include "outlier_warning.hpp"
#include "record_json.hpp"

namespace dissent::cli {
namespace {

struct Arguments {
  std::string directory;
  TablePaths tables;
  ChoiceOptions choice;
  FitOptions fit;
  Values given_fit;
  std::string output = "-";
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

// row, the pool's columns, why, and empty targets to fill in.
template <class Writer>
void put_questions(Writer& writer, const Laboratory& laboratory) {
  for (const std::size_t position : pending(laboratory.campaign())) {
    const ChosenRow& chosen = laboratory.campaign().chosen[position];
    const std::size_t row = chosen.row;
    writer.field(row);
    for (const Column& column : laboratory.pool().columns) {
      put_cell(writer, column, row);
    }
    chosen.why.empty() ? writer.missing() : writer.field(std::string_view(chosen.why));
    for (std::size_t d = 0; d < laboratory.data().target_names.size(); ++d) {
      writer.missing();
    }
    writer.end_row();
  }
}

void print_questions(const Arguments& arguments, const Laboratory& laboratory) {
  std::vector<std::string> names{laboratory.own_column("row")};
  for (const Column& column : laboratory.pool().columns) {
    names.push_back(column.name);
  }
  const std::vector<std::string>& targets = laboratory.data().target_names;
  names.push_back(laboratory.own_column("why"));
  names.insert(names.end(), targets.begin(), targets.end());
  if (arguments.output != "-") {
    CsvWriter writer(arguments.output, names);
    put_questions(writer, laboratory);
    writer.commit();
  } else if (!arguments.json) {
    CsvText text("standard output", names);
    put_questions(text, laboratory);
    print(text.text());
    flush_output();
  }
}

nlohmann::ordered_json inputs_json(const Problem& data, std::size_t row) {
  nlohmann::ordered_json inputs = nlohmann::ordered_json::object();
  const std::size_t C = data.input_names.size();
  for (std::size_t c = 0; data.pool_columns.columns.empty() && c < C; ++c) {
    inputs[data.input_names[c]] = data.pool.inputs[row * C + c];
  }
  for (const Column& column : data.pool_columns.columns) {
    nlohmann::ordered_json& cell = inputs[column.name];
    if (!is_missing_cell(column, row)) {
      column.is_text() ? cell = column.text[row] : cell = column.values[row];
    }
  }
  return inputs;
}

void print_json_questions(const Laboratory& laboratory, std::size_t num_new) {
  const Campaign& campaign = laboratory.campaign();
  const Problem& data = laboratory.data();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::size_t position : pending(campaign)) {
    const ChosenRow& chosen = campaign.chosen[position];
    nlohmann::ordered_json row = json_of(chosen);
    row["inputs"] = inputs_json(data, chosen.row);
    row["why"] = chosen.why;
    rows.push_back(row);
  }
  print_json({{"version", kVersion},
              {"directory", laboratory.name()},
              {"round", campaign.rounds.size()},
              {"labelled", laboratory.num_labelled()},
              {"new", num_new},
              {"model", model_name_of(campaign)},
              {"pending", rows}});
}

void check_output(const Arguments& arguments) {
  check_csv_output(arguments.output);
  if (arguments.output == "-") {
    return;
  }
  for (const std::string& read :
       {arguments.tables.labelled, arguments.tables.pool, arguments.tables.test, arguments.tables.aim}) {
    check_distinct(arguments.output, read);
  }
  for (const std::string& own : CampaignDirectory::files(arguments.directory)) {
    check_distinct(arguments.output, own, "is a file of the campaign");
  }
  check_writable(arguments.output);
}

// What people filled in and did not tell yet is not replaced by an empty table.
void check_told(const std::string& output, const Laboratory& laboratory) {
  if (!std::filesystem::is_regular_file(output)) {
    return;
  }
  Table table;
  try {
    table = read_csv(output);
  } catch (const InputError&) {
    return;  // none of ours
  }
  const std::vector<std::string>& targets = laboratory.data().target_names;
  const auto has = [&](const std::string& name) { return table.has(name); };
  const std::string row_column = laboratory.own_column("row");
  if (!table.has(row_column) || table.column(row_column).is_text() || !std::ranges::all_of(targets, has)) {
    return;
  }
  std::set<double> waiting;
  for (const std::size_t position : pending(laboratory.campaign())) {
    waiting.insert(static_cast<double>(laboratory.campaign().chosen[position].row));
  }
  for (std::size_t line = 0; line < table.num_rows; ++line) {
    const bool filled = std::ranges::any_of(targets, [&](const std::string& name) {
      return !std::ranges::binary_search(table.column(name).missing_rows, line);
    });
    const double row = table.column(row_column).values[line];
    check(!filled || !waiting.contains(row),
          "{}: has an answer for row {} that was not told yet and would be lost; run 'dissent tell {} {}' first, or "
          "give the output another name",
          output, row, laboratory.name(), output);
  }
}

void warn_of_new_outliers(const Laboratory& laboratory, std::size_t num_new) {
  const Problem& data = laboratory.data();
  std::vector<std::size_t> rows;
  for (const ChosenRow& chosen : std::span(laboratory.campaign().chosen).last(num_new)) {
    rows.push_back(chosen.row);
  }
  warn_of_outliers(usual_inputs(data), table_encoding(data), rows,
                   pick_rows(data.pool.inputs, data.input_names.size(), rows), true);
}

void run_ask(const Arguments& arguments) {
  check_output(arguments);
  const LaboratoryOptions options{.tables = read_tables(arguments.tables),
                                  .settings = given_settings(arguments.choice, arguments.given_fit),
                                  .batch = arguments.choice.batch};
  Laboratory laboratory = Laboratory::open(arguments.directory, options);
  say_columns(laboratory.data().told, arguments.quiet || arguments.json, arguments.output == "-");
  if (arguments.output != "-") {
    check_told(arguments.output, laboratory);
  }
  ThreadPool threads(arguments.threads);
  const std::size_t num_new =
      laboratory.ask(arguments.choice.batch, {&threads, fit_bar(arguments.quiet || arguments.json)});
  if (laboratory.last_fit()) {
    warn_diverged(*laboratory.last_fit());
    warn_of_rows(*laboratory.last_fit());
    say_choice(*laboratory.last_fit(), arguments.quiet || arguments.json, arguments.output == "-");
  }
  print_questions(arguments, laboratory);
  if (!arguments.quiet && !arguments.json) {
    warn_of_new_outliers(laboratory, num_new);
  }
  const std::size_t num_pending = laboratory.campaign().num_pending();
  if (!arguments.quiet && num_pending < arguments.choice.batch) {
    const std::size_t left = num_left(laboratory.campaign(), laboratory.data());
    fmt::print(stderr, "{}: only {} of the {} wanted are left to label\n",
               left == 0 ? "the pool ends" : none_allowed_text(left), num_pending,
               counted(arguments.choice.batch, "row"));
  }
  if (arguments.json) {
    print_json_questions(laboratory, num_new);
  } else if (!arguments.quiet && (arguments.output != "-" || ::isatty(STDERR_FILENO) == 1)) {
    fmt::print(arguments.output != "-" ? stdout : stderr,
               "{} to label, {} of them new; fill in {} and run 'dissent tell {} FILE'\n", counted(num_pending, "row"),
               num_new, fmt::join(laboratory.data().target_names, ", "), arguments.directory);
  }
}

}  // namespace

void add_ask(Command& app) {
  Command& command =
      app.add("ask", "Ask people for labels: the rows of the pool to measure next, as a table to fill in",
              "  dissent ask DIR --labelled L.csv --pool P.csv --targets y --batch 10 > todo.csv\n"
              "  dissent ask DIR --batch 10 > todo.csv\n"
              "The first command begins the campaign, which keeps copies of the tables; later ones need DIR alone.\n"
              "Rows that wait for an answer are listed first; new ones make them up to --batch.");
  const auto arguments = std::make_shared<Arguments>();
  command.argument("DIR", arguments->directory, "The campaign's directory");
  add_table_options(command, arguments->tables);
  add_choice_options(command, arguments->choice);
  command.option("-o,--output", arguments->output,
                 {.help = "The table to fill in; - is standard output", .shown = "FILE.csv"});
  add_fit_options(command, arguments->fit, arguments->given_fit);
  add_threads(command, arguments->threads);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.run([arguments] { run_ask(*arguments); });
}

}  // namespace dissent::cli
