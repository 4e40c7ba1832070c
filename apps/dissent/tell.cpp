// dissent tell: labels for the rows that `dissent ask` asked for, some or all, in any order; experiments that failed;
// corrections; and labels of rows that nobody asked for.
//
// All or nothing: an error in one answer, or a kill before the end, leaves the campaign as it was.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/device/device.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/table/read_table.hpp"
#include "fit_options.hpp"
#include "options.hpp"
#include "record_json.hpp"

namespace dissent::cli {
namespace {

struct TellArguments {
  std::string directory;
  std::string answers;  // may be empty
  std::vector<std::string> drop;
  bool correct = false;
  bool extra = false;
  bool no_refit = false;
  FitOptions fit;
  Values given_fit;
  int threads = 0;
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;
};

nlohmann::ordered_json json_of_fit(const Campaign& campaign) {
  nlohmann::ordered_json fitted;
  if (campaign.fitted) {
    for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
      const bool of_choice = field.name == "chosen_epistemic" || field.name == "expert_share";
      if (field.type == FieldType::kNumber && !field.traits.varies && !of_choice) {
        fitted[std::string(field.name)] = to_json(field.get(*campaign.fitted));
      }
    }
    fitted["seconds"] = campaign.fitted->fit_seconds;
  }
  return fitted;
}

nlohmann::ordered_json json_of_far(const std::vector<FarAnswer>& far) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FarAnswer& answer : far) {
    list.push_back({{"row", answer.row ? nlohmann::ordered_json(*answer.row) : nlohmann::ordered_json()},
                    {"target", answer.target},
                    {"value", answer.value},
                    {"least", answer.least},
                    {"most", answer.most},
                    {"stddevs", answer.stddevs}});
  }
  return list;
}

void print_answers(const TellArguments& arguments, const Laboratory& laboratory, const Answers& answers,
                   const std::vector<FarAnswer>& far) {
  const Campaign& campaign = laboratory.campaign();
  const std::size_t num_pending = campaign.num_pending();
  if (arguments.json) {
    print_json({{"version", kVersion},
                {"directory", arguments.directory},
                {"told", answers.size()},
                {"extra", answers.extra.size()},
                {"dropped", answers.dropped.size()},
                {"pending", num_pending},
                {"labelled", laboratory.num_labelled()},
                {"notes", answers.told},
                {"far", json_of_far(far)},
                {"fitted", json_of_fit(campaign)}});
  } else if (!arguments.quiet) {
    const std::string dropped =
        answers.dropped.empty() ? "" : fmt::format(", {} dropped", counted(answers.dropped.size(), "row"));
    print_line("{}{}; {} labelled, {} wait{}", counted(answers.size(), "answer"), dropped,
               counted(laboratory.num_labelled(), "row"), num_pending, num_pending == 1 ? "s" : "");
    if (campaign.fitted && !std::isnan(campaign.fitted->rmse)) {
      print_line("fitted: rmse {:.4g}, log-likelihood {:.4g} on the test rows", campaign.fitted->rmse,
                 campaign.fitted->log_likelihood);
    }
  }
}

// What is worth a second look: answers that replace others, and rows that are dropped although nobody asked for them.
std::vector<std::string> changes_of(const Campaign& before, const Answers& answers) {
  std::vector<std::string> changes;
  const auto find = [&](std::size_t row) { return std::ranges::find(before.chosen, row, &ChosenRow::row); };
  for (std::size_t k = 0; k < answers.rows.size(); ++k) {
    const auto known = find(answers.rows[k]);
    const auto targets = std::span(answers.targets).subspan(k * before.num_targets, before.num_targets);
    if (known == before.chosen.end() || known->is_pending() || std::ranges::equal(known->targets, targets)) {
      continue;
    }
    changes.push_back(fmt::format("row {}: {} -> {}", answers.rows[k],
                                  known->dropped ? "dropped" : fmt::format("{}", fmt::join(known->targets, ", ")),
                                  fmt::join(targets, ", ")));
  }
  for (const std::size_t row : answers.dropped) {
    const auto known = find(row);
    if (known == before.chosen.end()) {
      changes.push_back(
          fmt::format("row {} was not waiting; it is dropped (an answer with --correct takes it back)", row));
    } else if (!known->targets.empty()) {
      changes.push_back(fmt::format("row {}: {} -> dropped", row, fmt::join(known->targets, ", ")));
    }
  }
  return changes;
}

void print_changes(const std::vector<std::string>& changes) {
  constexpr std::size_t kMostNamed = 20;
  for (std::size_t k = 0; k < std::min(changes.size(), kMostNamed); ++k) {
    print_line("{}", changes[k]);
  }
  if (changes.size() > kMostNamed) {
    print_line("... and {} more", changes.size() - kMostNamed);
  }
}

void warn_of_far(const TellArguments& arguments, const std::vector<FarAnswer>& far) {
  constexpr std::size_t kMostNamed = 5;
  for (std::size_t k = 0; k < std::min(far.size(), kMostNamed); ++k) {
    fmt::print(stderr, "{}\n", far[k].text());
  }
  if (far.size() > kMostNamed) {
    fmt::print(stderr, "... and {} more\n", far.size() - kMostNamed);
  }
  if (!far.empty()) {
    fmt::print(stderr, "{} taken; if one is a mistake, 'dissent tell {} FILE --correct' replaces it\n",
               far.size() == 1 ? "it was" : "they were", arguments.directory);
  }
}

std::vector<std::size_t> dropped_rows(const std::vector<std::string>& texts) {
  std::vector<std::size_t> rows;
  for (const std::string& text : texts) {
    const std::optional<std::uint64_t> row = parse_whole(text);
    check_argument(row.has_value(), "drop", text, "it must be the number of a row, or several separated by commas");
    rows.push_back(*row);
  }
  return rows;
}

Answers answers_of(const TellArguments& arguments, const Laboratory& laboratory) {
  Answers answers{arguments.directory};
  if (!arguments.answers.empty()) {
    answers = laboratory.answers_in(read_table(arguments.answers), arguments.extra);
  }
  answers.dropped = dropped_rows(arguments.drop);
  answers.correct = arguments.correct;
  return answers;
}

void run_tell(const TellArguments& arguments) {
  check(!arguments.answers.empty() || !arguments.drop.empty(), "there is nothing to tell: give ANSWERS, or --drop");
  check(!arguments.extra || !arguments.answers.empty(), "--extra is about the rows of ANSWERS, which is not given");
  const std::shared_ptr<Device> device = open_device(arguments.device);
  Laboratory laboratory = Laboratory::open(arguments.directory, {.settings = arguments.given_fit});
  const Answers answers = answers_of(arguments, laboratory);
  const std::vector<std::string> changes = changes_of(laboratory.campaign(), answers);
  ThreadPool threads(arguments.threads);
  const std::vector<FarAnswer> far = laboratory.tell(
      answers, !arguments.no_refit,
      {.executor = &threads, .progress = fit_bar(arguments.quiet || arguments.json), .device = fits_of(device.get())});
  if (laboratory.last_fit()) {
    warn_diverged(*laboratory.last_fit());
  }
  print_answers(arguments, laboratory, answers, far);
  if (!arguments.quiet && !arguments.json) {
    print_changes(changes);
    flush_output();
    warn_of_columns(answers.told, arguments.quiet);
    warn_of_far(arguments, far);
  }
}

}  // namespace

void add_tell(Command& app) {
  Command& command =
      app.add("tell", "Tell the labels of rows that were asked for, some or all, and fit the model again",
              "  dissent tell DIR done.csv\n"
              "  dissent tell DIR half.csv --no-refit\n"
              "  dissent tell DIR --drop 17,23\n"
              "  dissent tell DIR better.csv --correct\n"
              "  dissent tell DIR --drop 63 --correct\n"
              "  dissent tell DIR others.csv --extra\n"
              "The file is that of 'dissent ask' with its targets filled in; rows left empty go on waiting.");
  const auto arguments = std::make_shared<TellArguments>();
  command.argument("DIR", arguments->directory, "The campaign's directory");
  command.argument("ANSWERS", arguments->answers, "Table with the columns 'row' and the targets", Need::kOptional);
  command.texts(
      "--drop", arguments->drop,
      {.help = "Rows whose experiments failed: they get no label and are not asked for again", .shown = "ROWS"});
  command.flag("--correct", arguments->correct, "Let answers replace earlier ones, and --drop drop rows that have one");
  command.flag("--extra", arguments->extra,
               "The answers are for rows that nobody asked for, identified by their inputs");
  command.flag("--no-refit", arguments->no_refit, "Leave the fit to a later tell or ask");
  add_fit_options(command, arguments->fit, arguments->given_fit);
  add_threads(command, arguments->threads);
  add_device(command, arguments->device);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.files([arguments] { return CommandFiles{.read = {arguments->answers}, .campaign = arguments->directory}; });
  command.run([arguments] { run_tell(*arguments); });
}

}  // namespace dissent::cli
