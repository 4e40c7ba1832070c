// Rows chosen by arrays from anywhere, and the uncertainty of a classifier's probabilities.
#include <numeric>

#include "asked.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/categorical.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/estimator/categorical.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/loop/settings.hpp"
#include "dissent/mixture/shape_doubt.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

// mean and stddev [N, M, D], contiguous: the Python side ensures that.
MixtureView<double> view_of(const Doubles& mean, const Doubles& stddev) {
  check(mean.ndim() == 3 && stddev.ndim() == 3 && mean.size() == stddev.size(),
        "mean and stddev must be arrays [N, M, D] of the same size");
  MixtureView<double> view{mean.shape(0), mean.shape(1), mean.shape(2)};
  view.mean = mean.data();
  view.stddev = stddev.data();
  return view;
}

// `aim` and `cost` may have no rows.
py::tuple choose_given(const Asked& asked, const MixtureView<double>& pool, const MixtureView<double>& aim,
                       const std::vector<double>& weights, const Doubles& cost) {
  const Acquisition acquisition = Acquisition::parse(asked.acquisition);
  check_uses(acquisition, aim.num_inputs > 0, cost.size() > 0);
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
                               .cost = span_of(cost),
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
    values.assign(array.data(), array.data() + array.size());
    normalise_probabilities(values, array.shape(1), array.shape(2));
    weights = Weights::from(given, array.shape(1));
    view = {array.shape(0), array.shape(1), array.shape(2), values.data(), &weights};
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
  module.def(
      "choose_given",
      [](const Asked& asked, const Doubles& mean, const Doubles& stddev, const Doubles& aim_mean,
         const Doubles& aim_stddev, const std::vector<double>& weights, const Doubles& cost) {
        return choose_given(asked, view_of(mean, stddev), view_of(aim_mean, aim_stddev), weights, cost);
      },
      py::arg("asked"), array("mean"), array("stddev"), array("aim_mean"), array("aim_stddev"), py::arg("weights"),
      array("cost"));
  module.def("choose_classes", &choose_by_classes, py::arg("asked"), array("probabilities"), py::arg("weights"));
  module.def("estimate_classes", &estimate_classes, py::arg("estimator"), array("probabilities"), py::arg("weights"),
             py::arg("threads"));
  module.def("shape_doubt", &shape_doubt, py::arg("num_inputs"), py::arg("num_components"));
}

}  // namespace dissent::python
