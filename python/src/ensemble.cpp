// Fitted ensembles. Matrices are float64 and contiguous, inputs [N, C] and targets [N, D].
#include "dissent/ensemble/ensemble.hpp"

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/fit_settings.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/estimator/estimator.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

constexpr double kAllThreads = 1e12;  // nanoseconds: training is worth every thread

using Settings = std::map<std::string, std::string>;  // texts by the options' names on the command line

py::dict report_dict(const FitReport& report) {
  using namespace py::literals;
  return py::dict("num_rows"_a = report.num_rows, "num_validation_rows"_a = report.num_validation_rows,
                  "epochs"_a = report.epochs, "epochs_run"_a = report.epochs_run, "loss"_a = report.loss,
                  "validation_loss"_a = report.validation_loss, "stopped_early"_a = report.stopped_early,
                  "diverged"_a = report.diverged);
}

py::tuple fit_ensemble(const Settings& settings, const std::vector<std::string>& input_names,
                       const std::vector<std::string>& target_names, const Doubles& inputs, const Doubles& targets,
                       int threads, const py::object& progress) {
  FitSettings given;
  for (const auto& [name, text] : settings) {
    given.set(name, text);
  }
  const EnsembleOptions options = given.ensemble();
  const TrainOptions train = given.train();
  const TrainingRows rows{input_names, target_names, span_of(inputs), span_of(targets)};
  FitTeller tell(progress);
  FitResult result = unlocked(threads, kAllThreads, [&](Executor& executor) {
    return fit(options, train, rows, {&executor, std::ref(tell)});
  });
  return py::make_tuple(std::move(result.model), report_dict(result.report));
}

// Nanoseconds, roughly: a multiplication per parameter and row, `passes` times.
double work_of(const Ensemble& model, const Doubles& inputs, double passes = 1) {
  return passes * static_cast<double>(num_rows(inputs)) * static_cast<double>(model.parameters().size()) / 8;
}

py::tuple predict(const Ensemble& model, const Doubles& inputs, int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  Mixture<double> mixture =
      unlocked(threads, work_of(model, inputs), [&](Executor& executor) { return model.predict(rows, &executor); });
  const std::vector<std::size_t> shape{mixture.num_inputs, mixture.num_components, mixture.num_outputs};
  return py::make_tuple(to_numpy(std::move(mixture.mean), shape), to_numpy(std::move(mixture.stddev), shape));
}

// Mean and stddev [N, D], quantiles [N, D, Q] and aleatoric uncertainty [N], in output space.
py::dict summarise_rows(const Ensemble& model, const Doubles& inputs, const std::vector<double>& quantiles,
                        int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  Summary summary = unlocked(threads, work_of(model, inputs, 256), [&](Executor& executor) {
    return summarise(model, rows, model.predict(rows, &executor), {.quantiles = quantiles, .executor = &executor});
  });
  const std::vector<std::size_t> shape{num_rows(inputs), model.num_outputs()};
  py::dict result;
  result["mean"] = to_numpy(std::move(summary.mean), shape);
  result["stddev"] = to_numpy(std::move(summary.stddev), shape);
  result["quantile"] = to_numpy(std::move(summary.quantile), {shape[0], shape[1], quantiles.size()});
  result["aleatoric"] = to_numpy(std::move(summary.aleatoric));
  return result;
}

py::array_t<double> log_density(const Ensemble& model, const Doubles& inputs, const Doubles& targets, int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  return to_numpy(unlocked(threads, work_of(model, inputs),
                           [&](Executor& executor) { return model.log_density(rows, span_of(targets), &executor); }));
}

py::array_t<double> sample(const Ensemble& model, const Doubles& inputs, std::size_t num_samples, std::uint64_t seed,
                           int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  std::vector<double> draws =
      unlocked(threads, work_of(model, inputs, static_cast<double>(num_samples)),
               [&](Executor& executor) { return model.sample(rows, num_samples, seed, &executor); });
  return to_numpy(std::move(draws), {num_rows(inputs), num_samples, model.num_outputs()});
}

py::dict evaluate_rows(const Ensemble& model, const Doubles& inputs, const Doubles& targets, int threads) {
  using namespace py::literals;
  const std::span<const double> rows = inputs_of(model, inputs);
  const Metrics m = unlocked(threads, work_of(model, inputs, 256),
                             [&](Executor& executor) { return evaluate(model, rows, span_of(targets), &executor); });
  return py::dict("num_rows"_a = m.num_rows, "rmse"_a = m.rmse, "rmse_paper"_a = m.rmse_paper, "mae"_a = m.mae,
                  "log_likelihood"_a = m.log_likelihood, "crps"_a = m.crps, "coverage_90"_a = m.coverage_90,
                  "calibration_error"_a = m.calibration_error, "sharpness"_a = m.sharpness);
}

py::dict describe(const Ensemble& model) {
  using namespace py::literals;
  const EnsembleOptions& options = model.options();
  return py::dict("model"_a = model_name(options.model), "inputs"_a = model.columns().inputs,
                  "targets"_a = model.columns().targets, "num_components"_a = options.num_components,
                  "hidden"_a = options.hidden_sizes(), "keep_probability"_a = options.keep_probability,
                  "bootstrap"_a = options.bootstrap, "own_initial_weights"_a = options.own_initial_weights,
                  "share_weights"_a = options.share_weights, "scaling"_a = scaling_name(options.scaling),
                  "flow_hidden"_a = options.flow_hidden, "num_flow_layers"_a = options.num_flow_layers,
                  "weights"_a = model.weights().value, "seed"_a = options.seed);
}

Ensemble parse(const py::bytes& bytes) {
  const std::string_view text = bytes;
  return Ensemble::parse(std::as_bytes(std::span(text)), "pickled ensemble");
}

}  // namespace

void bind_ensemble(py::module_& module) {
  const auto matrix = [](const char* name) { return py::arg(name).noconvert(); };
  py::class_<Ensemble>(module, "Ensemble")
      .def_static("load", &Ensemble::load, py::arg("path"))
      .def_static("parse", &parse, py::arg("bytes"))
      .def("save", &Ensemble::save, py::arg("path"))
      .def("describe", &describe)
      .def("predict", &predict, matrix("inputs"), py::arg("threads"))
      .def("summarise", &summarise_rows, matrix("inputs"), py::arg("quantiles"), py::arg("threads"))
      .def("log_density", &log_density, matrix("inputs"), matrix("targets"), py::arg("threads"))
      .def("sample", &sample, matrix("inputs"), py::arg("num_samples"), py::arg("seed"), py::arg("threads"))
      .def("evaluate", &evaluate_rows, matrix("inputs"), matrix("targets"), py::arg("threads"));
  module.def(
      "check_setting", [](const std::string& name, const std::string& text) { FitSettings().set(name, text); },
      py::arg("name"), py::arg("text"));
  module.def("fit", &fit_ensemble, py::arg("settings"), py::arg("input_names"), py::arg("target_names"),
             matrix("inputs"), matrix("targets"), py::arg("threads"), py::arg("progress"));
}

}  // namespace dissent::python
