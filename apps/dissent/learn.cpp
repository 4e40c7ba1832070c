// dissent learn: a whole campaign of active learning, in a directory from which it can continue whatever happened.
#include "dissent/loop/learn.hpp"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "campaign_options.hpp"
#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/device/device.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/table/read_table.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "outlier_warning.hpp"
#include "progress.hpp"
#include "record_json.hpp"

namespace dissent::cli {
namespace {

constexpr std::uint64_t kUnitsPerRound = 1000;  // of the progress bar

struct LearnArguments {
  std::string directory;
  TablePaths tables;
  std::string problem;
  std::uint64_t data_seed = 0;
  std::string pool_policy = "mixed";
  std::string oracle;
  double oracle_timeout = 0;
  std::size_t rounds = 20;
  ChoiceOptions choice;
  FitOptions fit;
  Values given_fit;
  int threads = 0;
  std::string device = "cpu";
  bool json = false;
  bool quiet = false;
};

// The inputs of the test rows, or of a table with the same columns.
ProblemRows load_aim(const std::string& aim, Problem& problem) {
  return aim == "test" ? ProblemRows{problem.test.num_rows, problem.test.inputs, {}, problem.test.source}
                       : aim_rows(read_table(aim), problem);
}

Problem load_named(const LearnArguments& arguments, std::uint64_t seed) {
  ProblemOptions options;
  options.seed = seed;
  options.data_seed = arguments.data_seed;
  options.pool_policy = pool_policy_from_name(arguments.pool_policy);
  options.num_threads = arguments.threads;
  std::unique_ptr<Progress> progress;
  if (!arguments.quiet && !arguments.json) {
    options.notice = [](const std::string& message) {
      print_line("{}", message);
      flush_output();
    };
  }
  options.progress = [&](std::size_t done, std::size_t total) {
    if (!progress) {
      progress = std::make_unique<Progress>("collect", total, arguments.quiet || arguments.json);
    }
    progress->update(done);
  };
  return load_problem(arguments.problem, options);
}

Problem load_data(const LearnArguments& arguments, const CampaignSettings& settings) {
  if (arguments.problem.empty()) {
    check(arguments.tables.any(), "there is no data: give --labelled, --pool and --targets, or --problem");
    check(arguments.data_seed == 0 && pool_policy_from_name(arguments.pool_policy) == PoolPolicy::kMixed,
          "--data-seed and --pool-policy are for --problem, which is not given");
    return make_problem(read_tables(arguments.tables), arguments.oracle.empty(), settings);
  }
  TablePaths tables = arguments.tables;
  const std::string aim = std::exchange(tables.aim, {});
  check(!tables.any(), "--problem brings its own tables; leave out --labelled, --pool, --test, --targets and --inputs");
  Problem problem = load_named(arguments, settings.fit.ensemble.seed);
  if (!aim.empty()) {
    problem.aim = load_aim(aim, problem);
  }
  apply_settings(problem, settings);
  return problem;
}

CampaignSettings learn_settings(const LearnArguments& arguments, const CampaignStore& store) {
  Values given = given_settings(arguments.choice, arguments.given_fit);
  if (!store.begun() || arguments.choice.batch != ChoiceOptions().batch) {
    given["batch"] = std::uint64_t{arguments.choice.batch};
  }
  return settings_for(store, given);
}

// "-" for NaN; huge numbers in short form, so that columns stay aligned.
std::string number_text(double value) {
  constexpr double kHuge = 1e6;
  return std::isnan(value)          ? "-"
         : std::abs(value) >= kHuge ? fmt::format("{:.3g}", value)
                                    : fmt::format("{:.4f}", value);
}

void print_head() {
  print_line("{:>6}  {:>8}  {:>9}  {:>14}  {:>16}  {:>8}", "round", "labelled", "rmse", "log-likelihood",
             "chosen epistemic", "seconds");
}

void print_round(const RoundRecord& record) {
  print_line("{:>6}  {:>8}  {:>9}  {:>14}  {:>16}  {:>8.1f}", record.round, record.labelled, number_text(record.rmse),
             number_text(record.log_likelihood), number_text(record.chosen_epistemic),
             record.fit_seconds + (std::isnan(record.score_seconds) ? 0 : record.score_seconds));
  flush_output();  // minutes may pass until the next
}

void print_end(const LearnArguments& arguments, const Campaign& campaign, const Problem& data, LearnEnd end) {
  const std::size_t labelled = data.train.num_rows + campaign.num_told();
  if (arguments.json) {
    nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
    for (const RoundRecord& record : measured_models(campaign)) {
      rounds.push_back(json_of(record));
    }
    print_json({{"version", kVersion},
                {"directory", arguments.directory},
                {"acquisition", campaign.settings.acquisition.text()},
                {"model", model_name_of(campaign)},
                {"seed", campaign.settings.fit.ensemble.seed},
                {"labelled", labelled},
                {"pool_left", num_left(campaign, data)},
                {"pool_allowed", open_rows(campaign, data).size()},
                {"pool_empty", end == LearnEnd::kPoolEmpty},
                {"rounds", rounds}});
  } else if (!arguments.quiet) {
    if (end == LearnEnd::kPoolEmpty || end == LearnEnd::kNoneAllowed) {
      print_line("{}: the campaign ends after round {} of {}",
                 end == LearnEnd::kPoolEmpty ? "the pool is empty" : none_allowed_text(num_left(campaign, data)),
                 campaign.rounds.size(), arguments.rounds);
    }
    print_line("{}: {}, {}; rounds.csv, chosen.csv and model.safetensors (of all labelled rows)", arguments.directory,
               counted(campaign.rounds.size(), "round"), counted(labelled, "labelled row"));
  }
}

std::string waiting_text(std::size_t num_pending) {
  return num_pending == 1 ? "1 row waits" : fmt::format("{} rows wait", num_pending);
}

// After Ctrl-C: where the campaign stands and how to continue.
void print_stopped(const LearnArguments& arguments, const Campaign& campaign) {
  const std::size_t num_pending = campaign.num_pending();
  if (num_pending > 0 && !arguments.oracle.empty()) {
    fmt::print(stderr,
               "stopped in round {} of {}: the oracle was ended before it answered, and {} for labels; all else is "
               "saved, and the same command asks for them again\n",
               campaign.rounds.size(), arguments.rounds, waiting_text(num_pending));
    return;
  }
  fmt::print(stderr, "stopped in round {} of {}; all is saved, and the same command goes on from there\n",
             std::min(campaign.next_round(), arguments.rounds), arguments.rounds);
}

std::string model_text(std::size_t round, std::size_t rounds) {
  return round <= rounds ? fmt::format("round {}/{}", round, rounds) : "last model";
}

// Runs the campaign and prints a line per round, with a progress bar.
LearnEnd learn_rounds(const LearnArguments& arguments, CampaignStore& store, Campaign& campaign, const Problem& data,
                      Device* device, const Interrupt& interrupt) {
  std::unique_ptr<Oracle> oracle;
  if (arguments.oracle.empty()) {
    oracle = std::make_unique<TableOracle>();
  } else {
    oracle =
        std::make_unique<CommandOracle>(arguments.oracle, arguments.oracle_timeout, [&] { return interrupt.noted(); });
  }
  const bool talk = !arguments.quiet && !arguments.json;
  const std::size_t num_pending = campaign.num_pending();
  const std::size_t first = campaign.rounds.size() - (num_pending > 0 ? 1 : 0);  // rounds done
  if (talk && num_pending > 0) {
    print_line("{}: going on in round {}, in which {} for labels", arguments.directory, campaign.rounds.size(),
               waiting_text(num_pending));
  } else if (talk && first > 0 && first < arguments.rounds) {
    print_line("{}: going on with round {}", arguments.directory, first + 1);
  } else if (talk && first > 0) {
    print_line("{}: {} done before; more --rounds prolong it", arguments.directory, counted(first, "round"));
  }
  if (talk && first < arguments.rounds) {
    print_head();
  }
  const std::size_t models =
      first < arguments.rounds ? arguments.rounds - first + 1 : 0;  // the last one after all rounds
  Progress progress("learn", models * kUnitsPerRound, !talk);
  ThreadPool threads(arguments.threads);
  LearnControl control;
  control.executor = &threads;
  control.device = fits_of(device);
  control.scores = scores_of(device);
  control.stop = [&] { return interrupt.noted(); };
  control.fitting = [&](const FitProgress& fit) {
    const std::size_t done = (campaign.rounds.size() - first) * kUnitsPerRound;
    progress.update(done + kUnitsPerRound * fit.epoch / (fit.epochs + 1),
                    fmt::format("{}{}", model_text(campaign.next_round(), arguments.rounds),
                                interrupt.noted() ? ", stopping after this step" : ""));
  };
  control.fitted = [&](const FitReport& report) {
    if (talk && !report.choice.empty()) {
      progress.wipe();
      say_choice(report, false);
    }
    if (!report.warnings.empty()) {
      progress.wipe();
      warn_of_rows(report);
    }
    if (!report.diverged.empty()) {
      progress.wipe();
      warn_diverged(report, campaign.next_round() <= arguments.rounds ? fmt::format("round {}: ", campaign.next_round())
                                                                      : "last model: ");
    }
  };
  control.finished = [&](const RoundRecord& record) {
    progress.wipe();
    if (talk) {
      print_round(record);
    }
  };
  const LearnEnd end = learn(store, campaign, data, *oracle, arguments.rounds, control);
  progress.wipe();
  if (talk && end != LearnEnd::kStopped && first < campaign.rounds.size()) {
    print_round(measured_models(campaign).back());
  }
  return end;
}

void run_learn(const LearnArguments& arguments) {
  CampaignDirectory directory(arguments.directory);
  const CampaignSettings settings = learn_settings(arguments, directory);
  settings.check_values();
  check_candidates(settings.candidates, settings.batch);
  check(arguments.oracle_timeout == 0 || !arguments.oracle.empty(),
        "--oracle-timeout is for --oracle, which is not given");
  const std::shared_ptr<Device> device = open_device(arguments.device);
  warn_of_device(settings.fit.ensemble.model, arguments.device);
  const Problem data = load_data(arguments, settings);
  say_columns(data.told, arguments.quiet || arguments.json);
  Campaign campaign = open_campaign(directory, data, settings);
  if (!arguments.quiet && !arguments.json && !arguments.tables.aim.empty()) {
    warn_of_aim(data);
  }
  const Interrupt interrupt;
  LearnEnd end = LearnEnd::kRoundsDone;
  try {
    end = learn_rounds(arguments, directory, campaign, data, device.get(), interrupt);
  } catch (const InputError& error) {
    if (campaign.num_pending() == 0) {
      throw;
    }
    Fault fault = error.fault();
    fault.rule += fmt::format("; nothing is lost: {} for labels, and the same command goes on",
                              waiting_text(campaign.num_pending()));
    throw InputError(fault);
  }
  if (end == LearnEnd::kStopped) {
    print_stopped(arguments, campaign);
    Interrupt::end_program();
  }
  print_end(arguments, campaign, data, end);
}

}  // namespace

void add_learn(Command& app) {
  Command& command =
      app.add("learn", "Run a campaign of active learning: fit, choose rows, label them, again",
              "  dissent learn out --labelled L.csv --pool P.csv --test T.csv --targets y --rounds 20 --batch 10\n"
              "  dissent learn out --labelled L.csv --pool P.csv --targets y --oracle './simulate --quick'\n"
              "  dissent learn out --problem hetero --acquisition bhattacharyya --seed 3\n"
              "After Ctrl-C, a crash or a kill the same command goes on and ends with the same result.");
  const auto arguments = std::make_shared<LearnArguments>();
  command.argument("DIR", arguments->directory, "The campaign's directory: state, rounds.csv, chosen.csv, model");
  add_table_options(command, arguments->tables);
  const std::string problems = fmt::format("{}; or a .h5 or .npz file", fmt::join(problem_names(), ", "));
  command.option("--problem", arguments->problem, {.help = problems, .shown = "NAME"});
  command.option("--data-seed", arguments->data_seed,
                 {.help = "Seed of the problem's pool and test rows", .shown = "S"});
  command.option("--pool-policy", arguments->pool_policy,
                 {.help = "Who acted in the rows of a robot's pool", .shown = "NAME", .names = pool_policy_names});
  command.option("--oracle", arguments->oracle,
                 {.help = "Command that labels rows: CSV of inputs on its standard input, CSV of targets on its output",
                  .shown = "CMD"});
  command.option("--oracle-timeout", arguments->oracle_timeout,
                 {.help = "Kill it after S seconds; 0: never", .shown = "S", .least = 0});
  command.option("-n,--rounds", arguments->rounds,
                 {.help = "Rounds of the whole campaign; more prolong a finished one",
                  .shown = "N",
                  .least = 1,
                  .most = 1'000'000});
  add_choice_options(command, arguments->choice);
  add_fit_options(command, arguments->fit, arguments->given_fit);
  add_threads(command, arguments->threads);
  add_device(command, arguments->device);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.files([arguments] {
    const TablePaths& tables = arguments->tables;
    return CommandFiles{.read = {tables.labelled, tables.pool, tables.test, tables.aim, arguments->problem},
                        .campaign = arguments->directory};
  });
  command.run([arguments] { run_learn(*arguments); });
}

}  // namespace dissent::cli
