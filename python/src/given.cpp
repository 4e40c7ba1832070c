// Rows chosen by arrays from anywhere, and the uncertainty of a classifier's probabilities.
#include <numeric>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/categorical.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/estimator/categorical.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/mixture/shape_doubt.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

constexpr double kAllThreads = 1e12;  // nanoseconds: some methods take long on few rows

// What is asked of a choice, whatever the components are.
struct Asked {
  std::string acquisition;
  std::size_t batch;
  std::uint64_t seed;
  std::string ranking;
  bool utilities;
  int threads;
};

// mean and stddev [N, M, D], contiguous: the Python side sees to that.
MixtureView<double> view_of(const Doubles& mean, const Doubles& stddev) {
  check(mean.ndim() == 3 && stddev.ndim() == 3 && mean.size() == stddev.size(),
        "mean and stddev must be arrays [N, M, D] of the same size");
  const auto axis = [&](int k) { return static_cast<std::size_t>(mean.shape(k)); };
  MixtureView<double> view{axis(0), axis(1), axis(2)};
  view.mean = mean.data();
  view.stddev = stddev.data();
  return view;
}

py::tuple to_tuple(Choice choice, std::vector<double> utilities, const Asked& asked, std::size_t num_rows) {
  py::object matrix = py::none();
  if (asked.utilities) {
    matrix = to_numpy(std::move(utilities), {asked.batch, num_rows});
  }
  return py::make_tuple(to_numpy(std::vector<std::int64_t>(choice.rows.begin(), choice.rows.end())),
                        to_numpy(std::move(choice.scores)), matrix);
}

// `aim` may have no rows.
py::tuple choose_given(const Asked& asked, const MixtureView<double>& pool, const MixtureView<double>& aim,
                       const std::vector<double>& weights) {
  const Acquisition acquisition = Acquisition::parse(asked.acquisition);
  check(aim.num_inputs == 0 || acquisition.info().uses_aim,
        "acquisition '{}' looks at no aim; leave the aim out or choose another", acquisition.text());
  validate_shape(pool);
  const Weights checked = Weights::from(weights, pool.num_components);
  const Ensemble model = given_ensemble(pool.weighted(checked), aim);
  std::vector<double> rows(pool.num_inputs + aim.num_inputs);
  std::iota(rows.begin(), rows.end(), 0.0);
  std::vector<double> utilities;
  Choice choice = unlocked(asked.threads, kAllThreads, [&](Executor& executor) {
    const AcquisitionTask task{.model = model,
                               .training = {},
                               .batch = asked.batch,
                               .stream = choice_stream(asked.seed, 1),
                               .executor = &executor,
                               .ranking = ranking_from_name(asked.ranking),
                               .aim = std::span(rows).subspan(pool.num_inputs),
                               .aleatoric = false,
                               .utilities = asked.utilities ? &utilities : nullptr};
    return choose(acquisition, task, std::span(rows).first(pool.num_inputs));
  });
  return to_tuple(std::move(choice), std::move(utilities), asked, pool.num_inputs);
}

// A classifier's probabilities, checked, with the rounding divided out, and the weights.
struct Classes {
  Classes(const Doubles& array, const std::vector<double>& given) {
    check(array.ndim() == 3, "probabilities has {} axes; it must be [N, M, K] (inputs, components, classes)",
          array.ndim());
    const auto axis = [&](int k) { return static_cast<std::size_t>(array.shape(k)); };
    values.assign(array.data(), array.data() + array.size());
    normalise_probabilities(values, axis(1), axis(2));
    weights = Weights::from(given, axis(1));
    view = {axis(0), axis(1), axis(2), values.data(), &weights};
  }
  Classes(const Classes&) = delete;

  std::vector<double> values;
  Weights weights;
  CategoricalView view;
};

py::dict estimate_classes(const std::string& name, const Doubles& probabilities, const std::vector<double>& weights,
                          int threads) {
  const ClassEstimator estimator = ClassEstimator::parse(name);
  const Classes classes(probabilities, weights);
  Uncertainty result = unlocked(threads, 100 * static_cast<double>(classes.values.size()), [&](Executor& executor) {
    return estimate(estimator, classes.view, {.executor = &executor});
  });
  py::dict columns;
  columns["epistemic"] = to_numpy(std::move(result.epistemic));
  columns["aleatoric"] = to_numpy(std::move(result.aleatoric));
  columns["total"] = to_numpy(std::move(result.total));
  columns["log_deficit"] = to_numpy(std::move(result.log_deficit));
  return columns;
}

py::tuple choose_by_classes(const Asked& asked, const Doubles& probabilities, const std::vector<double>& weights) {
  const Classes classes(probabilities, weights);
  std::vector<double> utilities;
  Choice choice = unlocked(asked.threads, kAllThreads, [&](Executor& executor) {
    return choose_classes(asked.acquisition, {.classes = classes.view,
                                              .batch = asked.batch,
                                              .stream = choice_stream(asked.seed, 1),
                                              .executor = &executor,
                                              .ranking = ranking_from_name(asked.ranking),
                                              .utilities = asked.utilities ? &utilities : nullptr});
  });
  return to_tuple(std::move(choice), std::move(utilities), asked, classes.view.num_inputs);
}

}  // namespace

void bind_given(py::module_& module) {
  const auto array = [](const char* name) { return py::arg(name).noconvert(); };
  py::class_<Asked>(module, "Asked")
      .def(py::init<std::string, std::size_t, std::uint64_t, std::string, bool, int>(), py::arg("acquisition"),
           py::arg("batch"), py::arg("seed"), py::arg("ranking"), py::arg("utilities"), py::arg("threads"));
  module.def(
      "choose_given",
      [](const Asked& asked, const Doubles& mean, const Doubles& stddev, const Doubles& aim_mean,
         const Doubles& aim_stddev, const std::vector<double>& weights) {
        return choose_given(asked, view_of(mean, stddev), view_of(aim_mean, aim_stddev), weights);
      },
      py::arg("asked"), array("mean"), array("stddev"), array("aim_mean"), array("aim_stddev"), py::arg("weights"));
  module.def("choose_classes", &choose_by_classes, py::arg("asked"), array("probabilities"), py::arg("weights"));
  module.def("estimate_classes", &estimate_classes, py::arg("estimator"), array("probabilities"), py::arg("weights"),
             py::arg("threads"));
  module.def("shape_doubt", &shape_doubt, py::arg("num_inputs"), py::arg("num_components"));
}

}  // namespace dissent::python
