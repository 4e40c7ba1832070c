// dissent policy evaluate | draw: measure a policy, look at it.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/simulator/evaluate.hpp"
#include "dissent/simulator/film_strip.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

struct EvaluateArguments {
  std::string environment;
  std::string policy = "expert";
  std::size_t num_episodes = 20;
  std::uint64_t seed = 0;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

Evaluation evaluate(const EvaluateArguments& arguments, EnvironmentPool& environments, const Policy& policy,
                    Executor& executor) {
  Progress progress("evaluate", arguments.num_episodes, arguments.quiet);
  EvaluationOptions options;
  options.num_episodes = arguments.num_episodes;
  options.seed = arguments.seed;
  options.progress = [&progress](std::size_t episodes) { progress.update(episodes); };
  return evaluate_policy(environments, policy, options, executor);
}

void run_policy_evaluate(const EvaluateArguments& arguments) {
  ThreadPool threads(arguments.threads);
  EnvironmentPool environments(arguments.environment, {}, threads.num_threads());
  const EnvironmentSpec& spec = environments.at(0).spec();
  const auto policy = make_policy(spec, arguments.policy);
  const Evaluation evaluation = evaluate(arguments, environments, *policy, threads);
  const auto [lowest, highest] = std::ranges::minmax(evaluation.episodes, {}, &Episode::total_reward);
  const auto num_unstable = std::ranges::count(evaluation.episodes, true, &Episode::unstable);
  const auto num_full = std::ranges::count_if(
      evaluation.episodes, [](const Episode& episode) { return !episode.terminated && !episode.unstable; });
  const double mean_steps = static_cast<double>(evaluation.num_steps()) / static_cast<double>(arguments.num_episodes);
  if (arguments.json) {
    print_json({{"version", kVersion},
                {"environment", arguments.environment},
                {"policy", arguments.policy},
                {"episodes", arguments.num_episodes},
                {"mean_return", evaluation.mean_return()},
                {"standard_error", evaluation.standard_error()},
                {"lowest_return", lowest.total_reward},
                {"highest_return", highest.total_reward},
                {"mean_steps", mean_steps},
                {"full_episodes", num_full},
                {"unstable", num_unstable},
                {"seed", arguments.seed}});
  } else if (arguments.quiet) {
    print_line("{}", evaluation.mean_return());
  } else {
    print_line("{} {}: mean return {:.1f} +- {:.1f} (from {:.1f} to {:.1f}) over {} episode{}", arguments.environment,
               arguments.policy, evaluation.mean_return(), evaluation.standard_error(), lowest.total_reward,
               highest.total_reward, arguments.num_episodes, arguments.num_episodes == 1 ? "" : "s");
    print_line("{} lasted the full {} steps, {:.0f} on average{}", num_full, spec.max_steps, mean_steps,
               num_unstable > 0 ? fmt::format("; {} diverged", num_unstable) : "");
  }
}

struct DrawArguments {
  std::string environment;
  std::string policy = "expert";
  std::string output;
  FilmOptions film;
  bool json = false;
  bool quiet = false;
};

void run_draw(const DrawArguments& arguments) {
  check(arguments.output.ends_with(".svg"), "--output: '{}': a film strip is an .svg file", arguments.output);
  const auto environment = make_environment(arguments.environment);
  const auto policy = make_policy(environment->spec(), arguments.policy);
  AtomicFile file(arguments.output);
  file.write(draw_film_strip(*environment, *policy, arguments.film));
  file.commit();
  if (arguments.json) {
    print_json({{"version", kVersion},
                {"environment", arguments.environment},
                {"policy", arguments.policy},
                {"seed", arguments.film.seed},
                {"output", arguments.output}});
  } else if (!arguments.quiet) {
    print_line("wrote {}", arguments.output);
  }
}

void add_environment_and_policy(Command& command, std::string& environment, std::string& policy) {
  command.argument("ENVIRONMENT", environment, fmt::format("{}", fmt::join(environment_names(), ", ")));
  command.option("-p,--policy", policy, {.help = "random, expert, or a policy's file", .shown = "POLICY"});
}

}  // namespace

void add_policy_evaluate(Command& policy) {
  Command& command = policy.add("evaluate", "Mean return of a policy over fresh episodes",
                                "  dissent policy evaluate hopper\n"
                                "  dissent policy evaluate hopper --policy my_hopper.txt --episodes 100 --json");
  const auto a = std::make_shared<EvaluateArguments>();
  add_environment_and_policy(command, a->environment, a->policy);
  command.option("-n,--episodes", a->num_episodes,
                 {.help = "How many episodes", .shown = "N", .least = 1, .most = 1'000'000});
  add_threads(command, a->threads);
  add_seed(command, a->seed);
  add_json(command, a->json);
  add_quiet(command, a->quiet);
  command.run([a] { run_policy_evaluate(*a); });
}

void add_policy_draw(Command& policy) {
  Command& command = policy.add("draw", "A film strip of an episode as SVG",
                                "  dissent policy draw hopper --output hopper.svg\n"
                                "  dissent policy draw ant --first 300 --every 14 --azimuth 60 --output ant.svg");
  const auto a = std::make_shared<DrawArguments>();
  add_environment_and_policy(command, a->environment, a->policy);
  command.option("-o,--output", a->output, {.help = "FILE.svg", .shown = "FILE"}, Need::kRequired);
  command.option("--frames", a->film.num_frames, {.help = "How many pictures", .shown = "N", .least = 1, .most = 1000});
  command.option("--first", a->film.first_step,
                 {.help = "Step of the first picture", .shown = "STEP", .least = 0, .most = 1'000'000});
  command.option("--every", a->film.steps_per_frame,
                 {.help = "Steps between pictures", .shown = "STEPS", .least = 1, .most = 1'000'000});
  command.option("--azimuth", a->film.azimuth_degrees,
                 {.help = "Camera angle: 0 from the side, 90 from the front", .shown = "DEGREES", .least = -360});
  command.option("--elevation", a->film.elevation_degrees,
                 {.help = "Camera angle from above", .shown = "DEGREES", .least = -360});
  add_seed(command, a->film.seed);
  add_json(command, a->json);
  add_quiet(command, a->quiet);
  command.files([a] { return CommandFiles{.read = {a->policy}, .written = {a->output}}; });
  command.run([a] { run_draw(*a); });
}

void add_policy(Command& app) {
  Command& policy = app.add("policy", "Train, evaluate and draw policies of the simulated problems",
                            "  dissent policy train hopper --euler --seed 3 --output my_hopper.txt\n"
                            "  dissent policy evaluate hopper --policy my_hopper.txt\n"
                            "  dissent policy draw hopper --policy my_hopper.txt --output hopper.svg\n"
                            "'dissent policy COMMAND --help' explains each.");
  add_policy_train(policy);
  add_policy_evaluate(policy);
  add_policy_draw(policy);
}

}  // namespace dissent::cli
