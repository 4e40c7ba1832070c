// dissent collect PROBLEM: rows of experience from a simulator, or of a one-dimensional problem, into a file.
#include "dissent/problem/collect.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "dissent/base/error.hpp"
#include "dissent/problem/names.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/problem/transitions_file.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/npz.hpp"
#include "progress_line.hpp"

namespace dissent::cli {
namespace {

struct Arguments {
  std::string problem;
  std::string policy = "random";
  std::size_t num_rows = 0;
  std::uint64_t seed = 0;
  int num_threads = 0;
  std::string model_file;
  std::string output;
  bool json = false;
  bool quiet = false;
};

bool is_one_dimensional(const std::string& problem) { return problem == "hetero" || problem == "bimodal"; }

void collect_points(const Arguments& arguments) {
  check(arguments.policy == "random" && arguments.model_file.empty(),
        "collect {}: it is drawn from a distribution and takes neither --policy nor --model", arguments.problem);
  ProblemOptions options;
  options.seed = arguments.seed;
  options.train_rows = arguments.num_rows;
  options.pool_rows = 1;
  options.test_rows = 1;
  const ProblemRows rows = load_problem(arguments.problem, options).train;
  if (arguments.output.ends_with(".npz")) {
    write_npz(arguments.output, {{"x", ArrayView(rows.inputs)}, {"y", ArrayView(rows.targets)}});
    return;
  }
  check(arguments.output.ends_with(".csv"), "{}: {} is written as .csv or .npz", arguments.output, arguments.problem);
  CsvWriter writer(arguments.output, {"x", "y"});
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    writer.row(rows.inputs[row], rows.targets[row]);
  }
  writer.commit();
}

Transitions collect_rows(const Arguments& arguments) {
  check_transitions_ending(arguments.output);
  CollectOptions options;
  options.environment = arguments.problem;
  options.environment_options.model_file = arguments.model_file;
  options.policy = parse_policy_choice(arguments.policy);
  options.num_rows = arguments.num_rows;
  options.seed = arguments.seed;
  options.num_threads = arguments.num_threads;
  ProgressLine progress("collecting", arguments.num_rows, arguments.quiet || arguments.json);
  options.progress = [&progress](std::size_t rows) { progress.update(rows); };
  Transitions rows = collect(options);
  progress.finish();
  write_transitions(arguments.output, rows);
  return rows;
}

void print_summary(const Arguments& arguments, const Transitions& rows, double seconds) {
  const double rows_per_second = static_cast<double>(arguments.num_rows) / seconds;
  if (arguments.json) {
    const nlohmann::ordered_json summary{{"problem", arguments.problem},       {"policy", arguments.policy},
                                         {"rows", arguments.num_rows},         {"episodes", rows.num_episodes},
                                         {"unstable", rows.num_unstable},      {"seed", arguments.seed},
                                         {"rows_per_second", rows_per_second}, {"output", arguments.output}};
    fmt::print("{}\n", summary.dump());
  } else if (!arguments.quiet) {
    const std::string episodes = rows.num_episodes > 0 ? fmt::format(" in {} episodes", rows.num_episodes) : "";
    fmt::print("{}: {} rows of {}{}, {:.1f} s ({:.0f} rows/s)\n", arguments.output, arguments.num_rows,
               arguments.problem, episodes, seconds, rows_per_second);
    if (rows.num_unstable > 0) {
      fmt::print("{} episodes ended because the simulation diverged; the diverged steps are not in the file\n",
                 rows.num_unstable);
    }
  }
}

void run(const Arguments& arguments) {
  check_name("problem", arguments.problem, problem_names());
  const auto start = std::chrono::steady_clock::now();
  Transitions rows;
  if (is_one_dimensional(arguments.problem)) {
    collect_points(arguments);
  } else {
    rows = collect_rows(arguments);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_summary(arguments, rows, elapsed.count());
}

}  // namespace

void add_collect(CLI::App& app) {
  CLI::App* command = app.add_subcommand("collect", "Collect rows of experience from a built-in problem into a file");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("problem", arguments->problem, "pendulum, hopper, ant, humanoid, hetero or bimodal")->required();
  command
      ->add_option("--policy", arguments->policy,
                   "random, expert, mixed:SHARE (SHARE of the rows from the expert), or a policy file")
      ->capture_default_str();
  command->add_option("--rows", arguments->num_rows, "How many rows (steps)")->required()->check(CLI::PositiveNumber);
  command->add_option("--output", arguments->output, "FILE.h5 (D4RL layout), FILE.npz or FILE.csv")->required();
  command->add_option("--seed", arguments->seed, "The same seed gives the same file")->capture_default_str();
  command->add_option("--threads", arguments->num_threads, "Threads; 0: one per core. The file does not depend on it")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--model", arguments->model_file, "A MuJoCo XML file in place of the robot's built-in model");
  command->add_flag("--json", arguments->json, "Print the summary as JSON");
  command->add_flag("--quiet", arguments->quiet, "Print nothing");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace dissent::cli
