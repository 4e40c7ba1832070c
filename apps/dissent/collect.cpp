// dissent collect PROBLEM: writes rows of experience from a simulator, or rows of a one-dimensional problem, to a file.
#include "dissent/simulator/collect.hpp"

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/simulator/statistics.hpp"
#include "dissent/simulator/transitions_file.hpp"
#include "dissent/table/csv.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

constexpr double kMaxRows = 1e9;  // they are held in memory until the end

struct CollectArguments {
  std::string problem;
  std::string policy = "random";
  std::size_t num_rows = 0;
  std::uint64_t seed = 0;
  int threads = 0;
  std::string model_file;
  std::string output;
  bool json = false;
  bool quiet = false;
};

void collect_points(const CollectArguments& arguments) {
  check(arguments.policy == "random" && arguments.model_file.empty(),
        "{} is drawn from a distribution and takes neither --policy nor --model", arguments.problem);
  const bool is_npz = arguments.output.ends_with(".npz");
  check(is_npz || arguments.output.ends_with(".csv"), "--output: '{}': {} is written as .csv or .npz", arguments.output,
        arguments.problem);
  check_writable(arguments.output);
  const ProblemRows rows = draw_points(arguments.problem, arguments.num_rows, arguments.seed);
  if (is_npz) {
    write_npz(arguments.output, {{"x", ArrayView(rows.inputs)}, {"y", ArrayView(rows.targets)}});
    return;
  }
  CsvWriter writer(arguments.output, {"x", "y"});
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    writer.row(rows.inputs[row], rows.targets[row]);
  }
  writer.commit();
}

Transitions collect_rows(const CollectArguments& arguments) {
  CollectOptions options;
  options.environment = arguments.problem;
  options.environment_options.model_file = arguments.model_file;
  options.policy = parse_policy_choice(arguments.policy);
  options.num_rows = arguments.num_rows;
  options.seed = arguments.seed;
  options.num_threads = arguments.threads;
  check_transitions_ending(arguments.output);
  check_writable(arguments.output);
  Progress progress("collect", arguments.num_rows, arguments.quiet);
  options.progress = [&progress](std::size_t rows) { progress.update(rows); };
  Transitions rows = collect(options);
  write_transitions(arguments.output, rows);
  return rows;
}

nlohmann::ordered_json to_json(const TransitionStatistics& statistics) {
  nlohmann::ordered_json json{{"expert_share", statistics.expert_share}, {"mean_steps", statistics.mean_steps},
                              {"mean_reward", statistics.mean_reward},   {"target_stddev", statistics.target_stddev},
                              {"mean_height", statistics.mean_height},   {"mean_speed", statistics.mean_speed}};
  if (statistics.upright) {
    json["upright"] = *statistics.upright;
  }
  return json;
}

void print_summary(const CollectArguments& arguments, const Transitions& rows, double seconds) {
  using Json = nlohmann::ordered_json;
  const double rows_per_second = static_cast<double>(arguments.num_rows) / seconds;
  const bool simulated = !is_one_dimensional(arguments.problem);
  if (arguments.json) {
    print_json({{"version", kVersion},
                {"problem", arguments.problem},
                {"policy", simulated ? Json(arguments.policy) : Json()},
                {"rows", arguments.num_rows},
                {"episodes", simulated ? Json(rows.num_episodes) : Json()},
                {"unstable", simulated ? Json(rows.num_unstable) : Json()},
                {"statistics", simulated ? to_json(transition_statistics(rows)) : Json()},
                {"seed", arguments.seed},
                {"rows_per_second", rows_per_second},
                {"output", arguments.output}});
  } else if (!arguments.quiet) {
    print_line("{}: {}{}, {:.1f} s ({:.0f} rows/s)", arguments.problem, counted(arguments.num_rows, "row"),
               simulated ? fmt::format(" in {} episode{} of {}", rows.num_episodes, rows.num_episodes == 1 ? "" : "s",
                                       arguments.policy)
                         : "",
               seconds, rows_per_second);
    print_line("wrote {}", arguments.output);
  }
  if (rows.num_unstable > 0 && !arguments.json) {
    fmt::print(stderr, "{} episode{} ended because the simulation diverged; the diverged steps are not in the file\n",
               rows.num_unstable, rows.num_unstable == 1 ? "" : "s");
  }
}

void run_collect(const CollectArguments& arguments) {
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

void add_collect(Command& app) {
  Command& command = app.add("collect", "Collect rows of experience from a built-in problem into a file",
                             "  dissent collect hopper --policy mixed:0.1 --rows 20000 --output hopper.h5\n"
                             "  dissent collect pendulum --policy expert --rows 1000 --seed 7 --output pendulum.csv\n"
                             "  dissent collect hetero --rows 500 --output hetero.npz\n"
                             "mixed:0.1 takes a tenth of the rows from the expert. HDF5 is laid out as in D4RL.");
  const auto arguments = std::make_shared<CollectArguments>();
  command.argument("PROBLEM", arguments->problem, fmt::format("{}", fmt::join(problem_names(), ", ")));
  command.option("-n,--rows", arguments->num_rows,
                 {.help = "How many rows, that is steps", .shown = "N", .least = 1, .most = kMaxRows}, Need::kRequired);
  command.option("-o,--output", arguments->output, {.help = "FILE.h5, FILE.npz or FILE.csv", .shown = "FILE"},
                 Need::kRequired);
  command.option("-p,--policy", arguments->policy,
                 {.help = "random, expert, mixed:SHARE, or a policy's file", .shown = "POLICY"});
  command.option("--model", arguments->model_file,
                 {.help = "A MuJoCo XML file instead of the robot's built-in model", .shown = "FILE"});
  add_threads(command, arguments->threads);
  add_seed(command, arguments->seed);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.files([arguments] {
    return CommandFiles{.read = {arguments->model_file, parse_policy_choice(arguments->policy).file},
                        .written = {arguments->output}};
  });
  command.run([arguments] { run_collect(*arguments); });
}

}  // namespace dissent::cli
