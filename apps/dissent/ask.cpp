// dissent ask: which rows of the pool people should label next, remembered until `dissent tell` brings the labels.
//
// --batch is the number of rows that wait for an answer afterwards: rows that already wait come first, new ones make up
// the rest. So a command that was killed, or whose output was lost, can be run again and prints the same.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "campaign_options.hpp"
#include "command.hpp"
#include "console.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/device/device.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/loop/question_table.hpp"
#include "dissent/table/csv.hpp"
#include "options.hpp"
#include "outlier_warning.hpp"
#include "record_json.hpp"

namespace dissent::cli {
namespace {

struct AskArguments {
  std::string directory;
  TablePaths tables;
  ChoiceOptions choice;
  FitOptions fit;
  Values given_fit;
  std::string output = "-";
  int threads = 0;
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;
};

// Why each row was chosen, for people who look at the screen; the file says so too.
void print_reasons(const Laboratory& laboratory) {
  constexpr std::size_t kMostNamed = 20;
  const Campaign& campaign = laboratory.campaign();
  const std::vector<std::size_t> positions = pending(campaign);
  for (std::size_t k = 0; k < std::min(positions.size(), kMostNamed); ++k) {
    const ChosenRow& chosen = campaign.chosen[positions[k]];
    print_line("row {}: {}", chosen.row, chosen.why.empty() ? "asked for before reasons were kept" : chosen.why);
  }
  if (positions.size() > kMostNamed) {
    print_line("... and {} more", positions.size() - kMostNamed);
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

void check_output(const AskArguments& arguments) {
  check_csv_output(arguments.output);
  if (arguments.output == "-") {
    return;
  }
  check_writable(arguments.output);
}

void check_replaceable(const std::string& output, const Laboratory& laboratory) {
  const std::string reason = why_not_replace(output, laboratory);
  check_in(output, reason.empty(),
           "is there and would be lost: {}; run 'dissent tell {} {}' first if it has answers, or give the output "
           "another name",
           reason, laboratory.name(), output);
}

// To the output file, or to standard output unless --json prints there.
void put_questions(const AskArguments& arguments, const Laboratory& laboratory) {
  if (arguments.output != "-") {
    const std::string reason = write_questions(arguments.output, laboratory);
    check_in(arguments.output, reason.empty(),
             "was changed meanwhile and would be lost: {}; the rows are chosen and the campaign is saved, so run "
             "'dissent ask {} --batch {}' again with another name for the output",
             reason, laboratory.name(), arguments.choice.batch);
  } else if (!arguments.json) {
    Table table = question_table(laboratory);
    table.style.byte_order_mark = false;  // it helps spreadsheets that open a file, not programs at a pipe
    print(format_csv(table, table.style));
    flush_output();
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

// If the first choice fails because of the data, it leaves nothing behind.
std::size_t choose(const AskArguments& arguments, Laboratory& laboratory, Device* device) {
  ThreadPool threads(arguments.threads);
  try {
    if (arguments.output != "-") {
      check_replaceable(arguments.output, laboratory);
    }
    return laboratory.ask(
        arguments.choice.batch,
        {.executor = &threads, .progress = fit_bar(arguments.quiet || arguments.json), .device = fits_of(device)},
        scores_of(device));
  } catch (const InputError&) {
    laboratory.abandon();
    throw;
  }
}

void run_ask(const AskArguments& arguments) {
  check_output(arguments);
  const std::shared_ptr<Device> device = open_device(arguments.device);
  const LaboratoryOptions options{.tables = read_tables(arguments.tables),
                                  .settings = given_settings(arguments.choice, arguments.given_fit),
                                  .batch = arguments.choice.batch};
  Laboratory laboratory = Laboratory::open(arguments.directory, options);
  say_columns(laboratory.data().told, arguments.quiet || arguments.json, arguments.output == "-");
  if (!arguments.quiet && !arguments.json && !arguments.tables.aim.empty()) {
    warn_of_aim(laboratory.data());
  }
  const std::size_t num_new = choose(arguments, laboratory, device.get());
  if (laboratory.last_fit()) {
    warn_diverged(*laboratory.last_fit());
    warn_of_rows(*laboratory.last_fit());
    say_choice(*laboratory.last_fit(), arguments.quiet || arguments.json, arguments.output == "-");
  }
  put_questions(arguments, laboratory);
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
    if (arguments.output != "-") {
      print_reasons(laboratory);
      flush_output();
    }
    fmt::print(arguments.output != "-" ? stdout : stderr,
               "{} to label, {} of them new; fill in {} and run 'dissent tell {} FILE'\n", counted(num_pending, "row"),
               num_new, fmt::join(laboratory.data().target_names, ", "), arguments.directory);
  }
}

}  // namespace

void add_ask(Command& app) {
  Command& command =
      app.add("ask", "Ask people for labels: the rows of the pool to measure next, as a table to fill in",
              "  dissent ask DIR --labelled L.csv --pool P.csv --targets y --batch 10 -o todo.csv\n"
              "  dissent ask DIR --batch 10 -o next.csv\n"
              "The first command begins the campaign, which keeps copies of the tables; later ones need DIR alone.\n"
              "Rows that wait for an answer are listed first; new ones make them up to --batch.");
  const auto arguments = std::make_shared<AskArguments>();
  command.argument("DIR", arguments->directory, "The campaign's directory");
  add_table_options(command, arguments->tables);
  add_choice_options(command, arguments->choice);
  command.option("-o,--output", arguments->output,
                 {.help = "The table to fill in; - is standard output. Answers not yet told are never overwritten",
                  .shown = "FILE.csv"});
  add_fit_options(command, arguments->fit, arguments->given_fit);
  add_threads(command, arguments->threads);
  add_device(command, arguments->device);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.files([arguments] {
    const TablePaths& tables = arguments->tables;
    return CommandFiles{.read = {tables.labelled, tables.pool, tables.test, tables.aim},
                        .written = {arguments->output},
                        .campaign = arguments->directory};
  });
  command.run([arguments] { run_ask(*arguments); });
}

}  // namespace dissent::cli
