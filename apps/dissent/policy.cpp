// dissent policy train | evaluate | draw: make a policy, measure it, look at it.
#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>

#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/problem/ars.hpp"
#include "dissent/problem/film_strip.hpp"
#include "dissent/problem/names.hpp"
#include "progress_line.hpp"

namespace dissent::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
extern "C" void note_interrupt(int) { interrupted = 1; }

// ---- train

struct TrainArguments {
  TrainOptions options;
  std::string output;
  bool json = false;
  bool quiet = false;
};

// The command that makes the same policy again, for the first lines of its file.
std::string recipe(const TrainOptions& o) {
  std::string text =
      fmt::format("dissent policy train {} --iterations {} --directions {} --top {} --step-size {} --noise {}",
                  o.environment, o.num_iterations, o.num_directions, o.num_top_directions, o.step_size, o.noise);
  const auto add = [&text](bool given, const std::string& option) { text += given ? " " + option : ""; };
  add(o.clock_hz > 0, fmt::format("--clock {}", o.clock_hz));
  add(o.control_weight != 1, fmt::format("--control-weight {}", o.control_weight));
  add(o.alive_bonus, "--alive-bonus");
  add(o.euler, "--euler");
  add(o.episode_steps > 0, fmt::format("--episode-steps {}", o.episode_steps));
  add(o.evaluate_every != TrainOptions().evaluate_every, fmt::format("--evaluate-every {}", o.evaluate_every));
  add(o.num_evaluation_episodes != TrainOptions().num_evaluation_episodes,
      fmt::format("--evaluation-episodes {}", o.num_evaluation_episodes));
  add(!o.start_file.empty(), fmt::format("--start {}", o.start_file));
  add(!o.start_file.empty() && o.start_count != TrainOptions().start_count,
      fmt::format("--start-count {}", o.start_count));
  return text + fmt::format(" --seed {}", o.seed);
}

void run_train(TrainArguments arguments) {
  TrainOptions& options = arguments.options;
  check_name("environment", options.environment, environment_names());
  if (options.checkpoint_file.empty()) {
    options.checkpoint_file = arguments.output + ".state";
  }
  interrupted = 0;
  const auto previous = std::signal(SIGINT, note_interrupt);
  ProgressLine progress("training", options.num_iterations, arguments.quiet || arguments.json);
  const TrainResult result = train_policy(options, [&](const TrainProgress& p) {
    progress.update(p.iteration, fmt::format("return {:.0f}, best {:.0f}, {:.0f} steps/s", p.mean_return, p.best_return,
                                             p.steps_per_second));
    if (p.evaluated && !arguments.quiet && !arguments.json) {
      progress.finish();
      fmt::print("iteration {:5}  training return {:8.1f}  evaluated {:8.1f}  best {:8.1f}  {:8.0f} steps/s\n",
                 p.iteration, p.mean_return, p.evaluated_return, p.best_return, p.steps_per_second);
      std::fflush(stdout);
    }
    return interrupted == 0;
  });
  progress.finish();
  std::signal(SIGINT, previous);
  if (!result.finished) {
    fmt::print(stderr, "stopped after iteration {}; the same command goes on from {}\n", result.num_iterations,
               options.checkpoint_file);
    return;
  }
  AtomicFile file(arguments.output);
  file.write(format_linear_policy(
      result.policy, fmt::format("{} --output {}\nmean return {:.1f} over {} evaluation episodes", recipe(options),
                                 arguments.output.substr(arguments.output.rfind('/') + 1), result.mean_return,
                                 options.num_evaluation_episodes)));
  file.commit();
  if (arguments.json) {
    const nlohmann::ordered_json summary{{"environment", options.environment},  {"mean_return", result.mean_return},
                                         {"iterations", result.num_iterations}, {"steps", result.num_steps},
                                         {"resumed", result.resumed},           {"output", arguments.output}};
    fmt::print("{}\n", summary.dump());
  } else if (!arguments.quiet) {
    fmt::print("{}: mean return {:.1f} after {} iterations and {} steps\n", arguments.output, result.mean_return,
               result.num_iterations, result.num_steps);
  }
}

void add_train(CLI::App& policy) {
  CLI::App* command = policy.add_subcommand("train", "Train a linear policy by augmented random search");
  const auto a = std::make_shared<TrainArguments>();
  TrainOptions& o = a->options;
  command->add_option("environment", o.environment, "pendulum, hopper, ant or humanoid")->required();
  command->add_option("--output", a->output, "The policy's file")->required();
  command->add_option("--iterations", o.num_iterations, "Updates of the policy")->capture_default_str();
  command->add_option("--directions", o.num_directions, "Random directions an iteration")->capture_default_str();
  command->add_option("--top", o.num_top_directions, "How many of them, the best, are followed")->capture_default_str();
  command->add_option("--step-size", o.step_size, "Step size alpha")->capture_default_str();
  command->add_option("--noise", o.noise, "Size nu of the perturbations")->capture_default_str();
  command->add_option("--clock", o.clock_hz, "Add a clock of this frequency (Hz) to what the policy sees");
  command->add_option("--control-weight", o.control_weight, "Weight of the control cost in training")
      ->capture_default_str();
  command->add_flag("--alive-bonus", o.alive_bonus, "Train with the alive bonus (by default it is left out)");
  command->add_flag("--euler", o.euler, "Train with Euler's integrator, several times faster; evaluation stays exact");
  command->add_option("--episode-steps", o.episode_steps, "Cut training episodes off after this many steps");
  command->add_option("--evaluate-every", o.evaluate_every, "Iterations between evaluations")->capture_default_str();
  command->add_option("--evaluation-episodes", o.num_evaluation_episodes, "Episodes of an evaluation")
      ->capture_default_str();
  command->add_option("--start", o.start_file, "Start from this policy instead of zero");
  command->add_option("--start-count", o.start_count, "How many observations its normaliser counts for")
      ->capture_default_str();
  command->add_option("--checkpoint", o.checkpoint_file, "Where to keep the state (default: OUTPUT.state)");
  command->add_option("--checkpoint-every", o.checkpoint_every, "Iterations between checkpoints")
      ->capture_default_str();
  command->add_option("--seed", o.seed, "The same seed gives the same policy")->capture_default_str();
  command->add_option("--threads", o.num_threads, "Threads; 0: one per core")->check(CLI::NonNegativeNumber);
  command->add_flag("--json", a->json, "Print the summary as JSON");
  command->add_flag("--quiet", a->quiet, "Print nothing");
  command->callback([a] { run_train(*a); });
}

// ---- evaluate

struct EvaluateArguments {
  std::string environment;
  std::string policy = "expert";
  std::size_t num_episodes = 20;
  std::uint64_t seed = 0;
  int num_threads = 0;
  bool json = false;
};

void run_evaluate(const EvaluateArguments& arguments) {
  ThreadPool threads(arguments.num_threads);
  EnvironmentPool environments(arguments.environment, {}, threads.num_threads());
  const EnvironmentSpec& spec = environments.at(0).spec();
  const auto policy = make_policy(spec, arguments.policy);
  const Evaluation evaluation = evaluate_policy(environments, *policy, arguments.num_episodes, arguments.seed, threads);
  double lowest = evaluation.episodes.front().total_reward;
  double highest = lowest;
  std::size_t num_full = 0;
  std::size_t num_unstable = 0;
  for (const Episode& episode : evaluation.episodes) {
    lowest = std::min(lowest, episode.total_reward);
    highest = std::max(highest, episode.total_reward);
    num_full += episode.terminated ? 0 : 1;
    num_unstable += episode.unstable ? 1 : 0;
  }
  const double mean_steps = static_cast<double>(evaluation.num_steps()) / static_cast<double>(arguments.num_episodes);
  if (arguments.json) {
    const nlohmann::ordered_json summary{{"environment", arguments.environment},
                                         {"policy", arguments.policy},
                                         {"episodes", arguments.num_episodes},
                                         {"mean_return", evaluation.mean_return()},
                                         {"standard_error", evaluation.standard_error()},
                                         {"lowest_return", lowest},
                                         {"highest_return", highest},
                                         {"mean_steps", mean_steps},
                                         {"full_episodes", num_full},
                                         {"unstable", num_unstable}};
    fmt::print("{}\n", summary.dump());
    return;
  }
  fmt::print(
      "{} {}: mean return {:.1f} +- {:.1f} (from {:.1f} to {:.1f}) over {} episodes of {:.0f} steps on average; "
      "{} lasted the full {} steps{}\n",
      arguments.environment, arguments.policy, evaluation.mean_return(), evaluation.standard_error(), lowest, highest,
      arguments.num_episodes, mean_steps, num_full, spec.max_steps,
      num_unstable > 0 ? fmt::format("; {} diverged", num_unstable) : "");
}

void add_evaluate(CLI::App& policy) {
  CLI::App* command = policy.add_subcommand("evaluate", "Mean return of a policy over fresh episodes");
  const auto a = std::make_shared<EvaluateArguments>();
  command->add_option("environment", a->environment, "pendulum, hopper, ant or humanoid")->required();
  command->add_option("--policy", a->policy, "random, expert, or a policy file")->capture_default_str();
  command->add_option("--episodes", a->num_episodes, "How many")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--seed", a->seed, "Chooses the resets")->capture_default_str();
  command->add_option("--threads", a->num_threads, "Threads; 0: one per core")->check(CLI::NonNegativeNumber);
  command->add_flag("--json", a->json, "Print as JSON");
  command->callback([a] { run_evaluate(*a); });
}

// ---- draw

struct DrawArguments {
  std::string environment;
  std::string policy = "expert";
  std::string output;
  FilmOptions film;
};

void run_draw(const DrawArguments& arguments) {
  check(arguments.output.ends_with(".svg"), "{}: a film strip is an .svg file", arguments.output);
  const auto environment = make_environment(arguments.environment);
  const auto policy = make_policy(environment->spec(), arguments.policy);
  AtomicFile file(arguments.output);
  file.write(draw_film_strip(*environment, *policy, arguments.film));
  file.commit();
}

void add_draw(CLI::App& policy) {
  CLI::App* command = policy.add_subcommand("draw", "A film strip of an episode as SVG");
  const auto a = std::make_shared<DrawArguments>();
  command->add_option("environment", a->environment, "pendulum, hopper, ant or humanoid")->required();
  command->add_option("--output", a->output, "FILE.svg")->required();
  command->add_option("--policy", a->policy, "random, expert, or a policy file")->capture_default_str();
  command->add_option("--frames", a->film.num_frames, "How many pictures")->capture_default_str();
  command->add_option("--first", a->film.first_step, "Step of the first picture")->capture_default_str();
  command->add_option("--every", a->film.steps_per_frame, "Steps between pictures")->capture_default_str();
  command->add_option("--seed", a->film.seed, "Chooses the reset")->capture_default_str();
  command->add_option("--azimuth", a->film.azimuth_degrees, "Camera angle from the side")->capture_default_str();
  command->add_option("--elevation", a->film.elevation_degrees, "Camera angle from above")->capture_default_str();
  command->callback([a] { run_draw(*a); });
}

}  // namespace

void add_policy(CLI::App& app) {
  CLI::App* policy = app.add_subcommand("policy", "Train, evaluate and draw policies of the robots");
  policy->require_subcommand(1);
  add_train(*policy);
  add_evaluate(*policy);
  add_draw(*policy);
}

}  // namespace dissent::cli
