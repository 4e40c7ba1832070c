// Fitted ensembles. Matrices are float64 and contiguous, inputs [N, C] and targets [N, D].
#include "dissent/ensemble/ensemble.hpp"

#include <algorithm>

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/options.hpp"
#include "dissent/ensemble/recalibration.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/estimator/estimator.hpp"
#include "fields.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

constexpr double kProcessRow = 1e5;  // nanoseconds: a Gaussian process compares a row with all rows of its fit

py::tuple fit_ensemble(const py::dict& given, const std::vector<std::string>& input_names,
                       const std::vector<std::string>& target_names, const Doubles& inputs, const Doubles& targets,
                       const Doubles& weights, const std::string& encoding, int threads, const std::string& device,
                       const py::object& progress) {
  FitOptions options;
  set_fields(options, values_of<FitOptions>(given));
  TrainingRows rows{input_names, target_names, span_of(inputs), span_of(targets)};
  rows.weights = span_of(weights);
  if (!encoding.empty()) {
    rows.encoding = parse_encoding(encoding).kept();
  }
  FitTeller tell(progress);
  FitResult result =
      fitting(threads, device, tell, [&](const FitControl& control) { return fit(options, rows, control); });
  return py::make_tuple(std::move(result.model), to_dict(result.report));
}

// Rough nanoseconds: for networks, a multiplication per parameter and row, `passes` times.
double work_of(const Ensemble& model, const Doubles& inputs, double passes = 1) {
  const bool has_network = model_kind(model.options().model).has_network;
  const double of_row = has_network ? passes * static_cast<double>(model.parameters().size()) / 8 : kProcessRow;
  return of_row * static_cast<double>(num_rows(inputs));
}

// Mean and stddev [N, M, D] of the components, and the space they are in: "output" or "base".
py::tuple predict(const Ensemble& model, const Doubles& inputs, int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  Mixture<double> mixture =
      unlocked(threads, work_of(model, inputs), [&](Executor& executor) { return model.predict(rows, &executor); });
  const std::vector<std::size_t> shape{mixture.num_inputs, mixture.num_components, mixture.num_outputs};
  return py::make_tuple(to_numpy(std::move(mixture.mean), shape), to_numpy(std::move(mixture.stddev), shape),
                        mixture.space == Space::kBase ? "base" : "output");
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

py::object log_density(const Ensemble& model, const Doubles& inputs, const Doubles& targets, int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  return to_numpy(unlocked(threads, work_of(model, inputs),
                           [&](Executor& executor) { return model.log_density(rows, span_of(targets), &executor); }));
}

py::object sample(const Ensemble& model, const Doubles& inputs, std::size_t num_samples, std::uint64_t seed,
                  int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  std::vector<double> draws =
      unlocked(threads, work_of(model, inputs, static_cast<double>(num_samples)),
               [&](Executor& executor) { return model.sample(rows, num_samples, seed, &executor); });
  return to_numpy(std::move(draws), {num_rows(inputs), num_samples, model.num_outputs()});
}

py::dict evaluate_rows(const Ensemble& model, const Doubles& inputs, const Doubles& targets, int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  return to_dict(unlocked(threads, work_of(model, inputs, 256),
                          [&](Executor& executor) { return evaluate(model, rows, span_of(targets), &executor); }));
}

// A copy whose spread fits held-out rows, and the factors [D] that its standard deviations were multiplied by.
py::tuple recalibrated(const Ensemble& model, const Doubles& inputs, const Doubles& targets, int threads) {
  const std::span<const double> rows = inputs_of(model, inputs);
  Ensemble result = model;
  std::vector<double> factors = unlocked(threads, work_of(model, inputs), [&](Executor& executor) {
    return recalibrate(result, rows, span_of(targets), &executor);
  });
  return py::make_tuple(std::move(result), to_numpy(std::move(factors)));
}

// The spread factors of any mixture: mean and stddev [N, M, D], values [N, D].
py::object factors_of(const Doubles& mean, const Doubles& stddev, const std::vector<double>& weights,
                      const Doubles& values) {
  check(mean.ndim() == 3 && stddev.shape() == mean.shape(),
        "mean and stddev must be arrays [N, M, D] of the same size");
  Mixture<double> mixture{mean.shape(0), mean.shape(1), mean.shape(2)};
  const auto copy = [](const Doubles& from, std::vector<double>& to) {
    to.assign(from.data(), from.data() + from.size());
  };
  copy(mean, mixture.mean);
  copy(stddev, mixture.stddev);
  return to_numpy(spread_factors(mixture, Weights::from(weights, mean.shape(1)), span_of(values)));
}

// Its columns, the targets that were fitted by their logarithms, and by keyword the options that it was made with.
py::dict describe(const Ensemble& model) {
  EnsembleOptions options = model.options();
  options.hidden = options.hidden_sizes();
  options.weights = model.weights().value;
  py::dict result = to_dict(options);
  result["inputs"] = model.columns().inputs;
  const TableEncoding& encoding = model.columns().encoding;
  result["columns"] = encoding.columns.empty() ? model.columns().inputs : encoding.sources();
  result["targets"] = model.columns().targets;
  result["logarithms"] = model.columns().log_targets();
  return result;
}

// Whether some preset has its own value for this field, or the field says how to train.
bool is_by_preset(const Field<FitOptions>& field) {
  const std::vector<std::string> presets = find_field<FitOptions>("preset")->traits.names();
  return find_field<TrainOptions>(field.name) != nullptr ||
         (field.name != "preset" && std::ranges::any_of(presets, [&](const std::string& name) {
            return field.get(fit_preset(name)) != field.get(FitOptions());
          }));
}

// The options of a fit: "preset" says whether the preset sets it, "models" which models have it.
py::list fit_fields() {
  py::list list;
  for (const Field<FitOptions>& field : fields<FitOptions>()) {
    py::dict described = describe_field(field, field.get(FitOptions()));
    described["preset"] = is_by_preset(field);
    std::vector<std::string> models = model_names();
    std::erase_if(models, [&](const std::string& name) { return !has_option(model_from_name(name), field.name); });
    described["models"] = models;
    list.append(described);
  }
  return list;
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
      .def("evaluate", &evaluate_rows, matrix("inputs"), matrix("targets"), py::arg("threads"))
      .def("recalibrated", &recalibrated, matrix("inputs"), matrix("targets"), py::arg("threads"));
  module.def("is_factor_limit", &is_factor_limit, py::arg("factor"));
  module.def("spread_factors", &factors_of, matrix("mean"), matrix("stddev"), py::arg("weights"), matrix("values"));
  module.def("fit_fields", &fit_fields);
  module.def("fit", &fit_ensemble, py::arg("options"), py::arg("input_names"), py::arg("target_names"),
             matrix("inputs"), matrix("targets"), matrix("weights"), py::arg("encoding"), py::arg("threads"),
             py::arg("device"), py::arg("progress"));
}

}  // namespace dissent::python
