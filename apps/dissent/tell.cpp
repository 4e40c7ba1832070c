// dissent tell: labels for the rows that `dissent ask` asked for, some or all, in any order.
//
// All or nothing: what is wrong with one answer, or a kill before the end, leaves the campaign as it was.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/table/read_table.hpp"
#include "fit_options.hpp"
#include "options.hpp"
#include "record_json.hpp"

namespace dissent::cli {
namespace {

struct Arguments {
  std::string directory;
  std::string answers;
  bool no_refit = false;
  FitOptions fit;
  Values given_fit;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

void print_report(const Arguments& arguments, const Laboratory& laboratory, std::size_t num_told) {
  const Campaign& campaign = laboratory.campaign();
  const std::size_t num_pending = campaign.num_pending();
  if (arguments.json) {
    nlohmann::ordered_json fitted;
    if (campaign.fitted) {
      for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
        if (field.type == FieldType::kNumber && !field.traits.varies && field.name != "chosen_epistemic") {
          fitted[std::string(field.name)] = to_json(field.get(*campaign.fitted));
        }
      }
      fitted["seconds"] = campaign.fitted->fit_seconds;
    }
    print_json({{"version", kVersion},
                {"directory", arguments.directory},
                {"told", num_told},
                {"pending", num_pending},
                {"labelled", laboratory.num_labelled()},
                {"fitted", fitted}});
  } else if (!arguments.quiet) {
    print_line("{}; {} labelled, {} wait{}", counted(num_told, "answer"), counted(laboratory.num_labelled(), "row"),
               num_pending, num_pending == 1 ? "s" : "");
    if (campaign.fitted && !std::isnan(campaign.fitted->rmse)) {
      print_line("fitted: rmse {:.4g}, log-likelihood {:.4g} on the test rows", campaign.fitted->rmse,
                 campaign.fitted->log_likelihood);
    }
  }
}

void run_tell(const Arguments& arguments) {
  Laboratory laboratory = Laboratory::open(arguments.directory, {.settings = arguments.given_fit});
  const Answers answers =
      read_answers(read_table(arguments.answers), laboratory.data().target_names, laboratory.own_column("row"));
  ThreadPool threads(arguments.threads);
  laboratory.tell(answers, !arguments.no_refit, {&threads, fit_bar(arguments.quiet || arguments.json)});
  if (laboratory.last_fit()) {
    warn_diverged(*laboratory.last_fit());
  }
  print_report(arguments, laboratory, answers.rows.size());
}

}  // namespace

void add_tell(Command& app) {
  Command& command =
      app.add("tell", "Tell the labels of rows that were asked for, some or all, and fit the model again",
              "  dissent tell DIR done.csv\n"
              "  dissent tell DIR half.csv --no-refit\n"
              "The file is that of 'dissent ask' with its targets filled in; rows left empty go on waiting.");
  const auto arguments = std::make_shared<Arguments>();
  command.argument("DIR", arguments->directory, "The campaign's directory");
  command.argument("ANSWERS", arguments->answers, "Table with the columns 'row' and the targets");
  command.flag("--no-refit", arguments->no_refit, "Leave the fit to a later tell or ask");
  add_fit_options(command, arguments->fit, arguments->given_fit);
  add_threads(command, arguments->threads);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.run([arguments] { run_tell(*arguments); });
}

}  // namespace dissent::cli
