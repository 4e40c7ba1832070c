#include "dissent/study/measure.hpp"

#include <algorithm>

#include "dissent/acquisition/uncertainty.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/simulator/robot.hpp"
#include "dissent/simulator/variant.hpp"
#include "dissent/study/measure_parts.hpp"

namespace dissent {
namespace {

constexpr Model kModels[] = {Model::kFlow, Model::kPne};

bool is_measured(const std::string& problem) {
  if (is_one_dimensional(problem)) {
    return true;
  }
  const Variant& variant = find_variant(problem);
  return variant.is_environment() && (mujoco_available() || problem == "pendulum");
}

std::vector<std::string> problems_of(const MeasureOptions& options) {
  if (!options.problems.empty()) {
    return options.problems;
  }
  std::vector<std::string> names = problem_names();
  std::erase_if(names, [](const std::string& name) { return !is_measured(name); });
  return names;
}

Ensemble fitted_model(const Problem& problem, Model kind, std::uint64_t seed, const MeasureOptions& options) {
  FitOptions settings = fit_preset("paper");
  settings.ensemble.model = kind;
  settings.ensemble.seed = seed;
  settings.train.epochs = options.epochs;
  return fit(settings,
             {.input_names = problem.input_names,
              .target_names = problem.target_names,
              .inputs = problem.train.inputs,
              .targets = problem.train.targets},
             {.executor = options.executor, .warn = false})
      .model;
}

// The fields that all measurements of a model share.
Measurement of_model(const char* kind, const Problem& problem, const Ensemble& model, std::uint64_t seed) {
  return {.kind = kind,
          .problem = problem.name,
          .model = std::string(model_name(model.options().model)),
          .outputs = model.num_outputs(),
          .components = model.options().components(),
          .seed = seed};
}

Uncertainty estimated(const Ensemble& model, std::span<const double> inputs, std::string_view estimator,
                      const MeasureOptions& options) {
  UncertaintyOptions how;
  how.estimator = parse_estimator(estimator);
  how.estimate.executor = options.executor;
  how.aleatoric = false;
  return uncertainty(model, inputs, how);
}

void add_ranks(const Problem& problem, const Ensemble& model, std::uint64_t seed, const MeasureOptions& options,
               std::vector<Measurement>& all) {
  const std::size_t num_rows = std::min(options.ranked_rows, problem.pool.num_rows);
  const std::span inputs = std::span(problem.pool.inputs).first(num_rows * problem.input_names.size());
  const std::size_t samples = options.samples.back();
  // The log deficit has the order of the value, reversed, and tells rows apart where values have reached ln M.
  const Uncertainty sampled = estimated(model, inputs, fmt::format("mc:{}", samples), options);
  for (const std::string_view name : kPairwiseEstimators) {
    Measurement& measured = all.emplace_back(of_model("spearman", problem, model, seed));
    measured.estimator = name;
    measured.samples = samples;
    measured.value = spearman(estimated(model, inputs, name, options).log_deficit, sampled.log_deficit);
  }
}

// Over the range of the test rows.
std::vector<double> places(const Problem& problem, const MeasureOptions& options) {
  const auto [low, high] = std::ranges::minmax(problem.test.inputs);
  std::vector<double> x;
  for (std::size_t k = 0; k < options.points; ++k) {
    x.push_back(low + (high - low) * static_cast<double>(k) / static_cast<double>(options.points - 1));
  }
  return x;
}

void add_bias(const Problem& problem, const Ensemble& model, std::uint64_t seed, const MeasureOptions& options,
              std::vector<Measurement>& all) {
  const std::vector<double> x = places(problem, options);
  const auto add = [&](const char* kind, std::string_view estimator, std::size_t k, double value) {
    Measurement& measured = all.emplace_back(of_model(kind, problem, model, seed));
    measured.estimator = estimator;
    measured.at = x[k];
    measured.value = value;
  };
  const Uncertainty truth = estimated(model, x, "quadrature", options);
  for (std::size_t k = 0; k < x.size() && seed == 0; ++k) {
    add("epistemic", "quadrature", k, truth.epistemic[k]);
  }
  for (const std::string_view name : kPairwiseEstimators) {
    const Uncertainty found = estimated(model, x, name, options);
    for (std::size_t k = 0; k < x.size(); ++k) {
      add("bias", name, k, found.epistemic[k] - truth.epistemic[k]);
      if (seed == 0) {
        add("epistemic", name, k, found.epistemic[k]);
      }
    }
  }
}

// The rows that the model was fitted to, and rows that it draws.
void add_picture(const Problem& problem, const Ensemble& model, const MeasureOptions& options,
                 std::vector<Measurement>& all) {
  constexpr std::size_t kDraws = 5;  // at each place
  const auto add = [&](const char* kind, double x, double y) {
    Measurement& measured = all.emplace_back(of_model(kind, problem, model, 0));
    measured.at = x;
    measured.value = y;
  };
  for (std::size_t k = 0; k < problem.train.num_rows; ++k) {
    add("data", problem.train.inputs[k], problem.train.targets[k]);
  }
  const std::vector<double> x = places(problem, options);
  const std::vector<double> drawn = model.sample(x, kDraws, 0, options.executor);
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    add("sample", x[k / kDraws], drawn[k]);
  }
}

}  // namespace

MeasureOptions quick_measurements() {
  MeasureOptions options;
  options.samples = {10, 100, 1000};
  options.repeats = 3;
  options.sampled_values = 3e6;
  options.epochs = 400;
  options.ranked_rows = 200;
  options.points = 41;
  return options;
}

std::vector<Measurement> measure_fitted(const MeasureOptions& options) {
  std::vector<Measurement> all;
  const std::vector<std::string> names = problems_of(options);
  const std::size_t total = names.size() * options.num_seeds * std::size(kModels);
  std::size_t done = 0;
  for (const std::string& name : names) {
    for (std::uint64_t seed = 0; seed < options.num_seeds; ++seed) {
      ProblemOptions own = options.problem;
      own.seed = seed;
      const Problem problem = load_problem(name, own);
      for (const Model kind : kModels) {
        const Ensemble model = fitted_model(problem, kind, seed, options);
        add_ranks(problem, model, seed, options, all);
        if (is_one_dimensional(name)) {
          add_bias(problem, model, seed, options, all);
          if (seed == 0) {
            add_picture(problem, model, options, all);
          }
        }
        if (options.progress) {
          options.progress("models", ++done, total);
        }
      }
    }
  }
  return all;
}

std::vector<Measurement> measure(const MeasureOptions& options) {
  std::vector<Measurement> all = measure_seconds(options);
  const std::vector<Measurement> matched = matched_samples(all);
  all.insert(all.end(), matched.begin(), matched.end());
  const std::vector<Measurement> fitted = measure_fitted(options);
  all.insert(all.end(), fitted.begin(), fitted.end());
  return all;
}

}  // namespace dissent
