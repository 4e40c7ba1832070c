// dissent policy train: trains a linear policy by augmented random search, resumable at any time.
//
// The state is kept in OUTPUT.state. Ctrl-C ends the current iteration, saves the state and then ends the program as an
// interrupt does, so that a script around it stops too; a kill loses the iterations since the last checkpoint.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/simulator/ars.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

struct TrainArguments {
  ArsOptions options;
  std::string output;
  bool json = false;
  bool quiet = false;
};

std::string state_file(const TrainArguments& arguments) {
  return arguments.options.checkpoint_file.empty() ? arguments.output + ".state" : arguments.options.checkpoint_file;
}

// The command that makes the same policy again, for the first lines of its file.
std::string recipe(const ArsOptions& o) {
  const ArsOptions usual;
  std::string text =
      fmt::format("dissent policy train {} --iterations {} --directions {} --top {} --step-size {} --noise {}",
                  o.environment, o.num_iterations, o.num_directions, o.num_top_directions, o.step_size, o.noise);
  const auto add = [&text](bool given, const std::string& option) { text += given ? " " + option : ""; };
  add(o.num_observed > 0, fmt::format("--observe {}", o.num_observed));
  add(o.clock_hz > 0, fmt::format("--clock {}", o.clock_hz));
  add(o.control_weight != usual.control_weight, fmt::format("--control-weight {}", o.control_weight));
  add(o.alive_weight > 0, fmt::format("--alive-weight {}", o.alive_weight));
  add(o.euler, "--euler");
  add(o.episode_steps > 0, fmt::format("--episode-steps {}", o.episode_steps));
  add(o.evaluate_every != usual.evaluate_every, fmt::format("--evaluate-every {}", o.evaluate_every));
  add(o.num_evaluation_episodes != usual.num_evaluation_episodes,
      fmt::format("--evaluation-episodes {}", o.num_evaluation_episodes));
  add(!o.start_file.empty(), fmt::format("--start {}", o.start_file));
  add(!o.start_file.empty() && o.start_count != usual.start_count, fmt::format("--start-count {}", o.start_count));
  return text + fmt::format(" --seed {}", o.seed);
}

void write_policy(const TrainArguments& arguments, const TrainResult& result) {
  const std::string name = arguments.output.substr(arguments.output.rfind('/') + 1);
  AtomicFile file(arguments.output);
  file.write(format_linear_policy(
      result.policy,
      fmt::format("{} --output {}\nmean return {:.1f} over {} evaluation episodes", recipe(arguments.options), name,
                  result.mean_return, arguments.options.num_evaluation_episodes)));
  file.commit();
}

TrainResult train(const TrainArguments& arguments, const Interrupt& interrupt) {
  const bool talk = !arguments.quiet && !arguments.json;
  Progress progress("train", arguments.options.num_iterations, arguments.quiet);
  return train_policy(arguments.options, [&](const TrainProgress& p) {
    if (p.iteration == p.first_iteration + 1) {
      progress.set_total(arguments.options.num_iterations - p.first_iteration);
      if (talk && p.first_iteration > 0) {
        print_line("{}: going on after iteration {}", arguments.options.checkpoint_file, p.first_iteration);
      }
    }
    if (p.evaluated && talk) {
      progress.wipe();
      print_line("iteration {:5}  training return {:8.1f}  evaluated {:8.1f}  best {:8.1f}  {:8.0f} steps/s",
                 p.iteration, p.mean_return, p.evaluated_return, p.best_return, p.steps_per_second);
      flush_output();  // hours may pass until the next
    }
    progress.update(p.iteration - p.first_iteration,
                    fmt::format("return {:.0f}, {:.0f} steps/s", p.mean_return, p.steps_per_second));
    return !interrupt.noted();
  });
}

// These errors name options; the library would name its fields.
void check_search(const ArsOptions& o) {
  check(o.num_top_directions <= o.num_directions, "--top: {} directions are more than the {} of --directions",
        o.num_top_directions, o.num_directions);
  const std::size_t size = make_environment(o.environment)->spec().observation_size;
  check(o.num_observed <= size, "--observe: {} entries are more than the {} that {} has", o.num_observed, size,
        o.environment);
}

void run_train(TrainArguments arguments) {
  ArsOptions& options = arguments.options;
  check_name("environment", options.environment, environment_names());
  options.checkpoint_file = state_file(arguments);
  check_search(options);
  check_writable(arguments.output);
  check_writable(options.checkpoint_file);
  const Interrupt interrupt;
  const TrainResult result = train(arguments, interrupt);
  if (!result.finished) {
    fmt::print(stderr, "stopped after iteration {}; the same command goes on from {}\n", result.num_iterations,
               options.checkpoint_file);
    Interrupt::end_program();
    return;
  }
  write_policy(arguments, result);
  if (arguments.json) {
    print_json({{"version", kVersion},
                {"environment", options.environment},
                {"mean_return", result.mean_return},
                {"iterations", result.num_iterations},
                {"steps", result.num_steps},
                {"resumed", result.resumed},
                {"seed", options.seed},
                {"output", arguments.output}});
  } else if (!arguments.quiet) {
    print_line("best mean return {:.1f}, after {} iteration{} and {} steps{}", result.mean_return,
               result.num_iterations, result.num_iterations == 1 ? "" : "s", result.num_steps,
               result.resumed ? ", resumed" : "");
    print_line("wrote {}", arguments.output);
  }
}

void add_search_options(Command& command, ArsOptions& o) {
  const auto count = [&command](const char* name, std::size_t& value, const char* text) {
    command.option(name, value, {.help = text, .shown = "N", .least = 1, .most = 1e9});
  };
  const auto number = [&command](const char* name, double& value, const char* text) {
    command.option(name, value, {.help = text, .shown = "X", .least = 0});
  };
  const auto file = [&command](const char* name, std::string& value, const char* text) {
    command.option(name, value, {.help = text, .shown = "FILE"});
  };
  count("-n,--iterations", o.num_iterations, "Updates of the policy");
  count("--directions", o.num_directions, "Random directions an iteration");
  count("--top", o.num_top_directions, "How many of the best ones to follow");
  number("--step-size", o.step_size, "Step size alpha");
  number("--noise", o.noise, "Size nu of the perturbations");
  count("--observe", o.num_observed, "Let the policy see only the first N entries of the observation");
  number("--clock", o.clock_hz, "Let the policy see a clock of this frequency in Hz; 0: none");
  number("--control-weight", o.control_weight, "Weight of the control cost in training");
  number("--alive-weight", o.alive_weight, "Weight of the alive bonus in training");
  command.flag("--euler", o.euler, "Train with Euler's integrator, several times faster; evaluation stays exact");
  count("--episode-steps", o.episode_steps, "End training episodes after N steps");
  count("--evaluate-every", o.evaluate_every, "Iterations between evaluations");
  count("--evaluation-episodes", o.num_evaluation_episodes, "Episodes of an evaluation");
  file("--start", o.start_file, "Start from this policy instead of zero");
  number("--start-count", o.start_count, "How many observations its normaliser counts for");
  file("--checkpoint", o.checkpoint_file, "Where the state is kept; OUTPUT.state without it");
  count("--checkpoint-every", o.checkpoint_every, "Iterations between checkpoints");
}

}  // namespace

void add_policy_train(Command& policy) {
  Command& command =
      policy.add("train", "Train a linear policy by augmented random search",
                 "  dissent policy train hopper --euler --seed 3 --iterations 600 --output my_hopper.txt\n"
                 "  dissent policy train ant --directions 40 --top 20 --noise 0.03 --clock 2 --control-weight 0.5 \\\n"
                 "    --euler --episode-steps 200 --seed 1 --output my_ant.txt\n"
                 "Interrupted or killed, the same command goes on where the state was last saved.");
  const auto a = std::make_shared<TrainArguments>();
  command.argument("ENVIRONMENT", a->options.environment, fmt::format("{}", fmt::join(environment_names(), ", ")));
  command.option("-o,--output", a->output, {.help = "The policy's file", .shown = "FILE"}, Need::kRequired);
  add_search_options(command, a->options);
  add_threads(command, a->options.num_threads);
  add_seed(command, a->options.seed);
  add_json(command, a->json);
  add_quiet(command, a->quiet);
  command.files([a] { return CommandFiles{.read = {a->options.start_file}, .written = {a->output, state_file(*a)}}; });
  command.run([a, &command] {
    if (!command.given("top")) {
      a->options.num_top_directions = std::min(a->options.num_top_directions, a->options.num_directions);
    }
    run_train(*a);
  });
}

}  // namespace dissent::cli
