// Mixtures in numpy arrays: their uncertainty and the divergences between their components.
#include "dissent/array/array.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/divergence/pairwise.hpp"
#include "dissent/estimator/estimator.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

// mean and stddev [N, M, D] or covariance [N, M, D, D] of one type, contiguous: the Python side ensures that.
struct Arrays {
  Array mean;
  Array spread;
  bool full;
};

// [N, M] is [N, M, 1].
Shape with_outputs(Shape shape) {
  if (shape.size() == 2) {
    shape.push_back(1);
  }
  return shape;
}

// The messages are those of the command line, which adds the file.
Shape checked_shape(const Arrays& arrays) {
  const Shape given = arrays.mean.shape();
  const Shape shape = with_outputs(given);
  check(shape.size() == 3, "mean has shape {}; it must be [N, M, D] (inputs, components, outputs), or [N, M] for D = 1",
        shape_text(given));
  Shape wanted = shape;
  if (arrays.full) {
    wanted.push_back(shape[2]);
  }
  const Shape spread = arrays.spread.shape();
  check((arrays.full ? spread : with_outputs(spread)) == wanted, "{} has shape {}, but the mean {} needs {}",
        arrays.full ? "covariance" : "stddev", shape_text(spread), shape_text(given), shape_text(wanted));
  check(shape[1] > 0, "mean has shape {}: M = 0; a mixture needs at least one component", shape_text(given));
  check(shape[2] > 0, "mean has shape {}: D = 0; a mixture needs at least one output", shape_text(given));
  return shape;
}

template <class T>
MixtureView<T> view_of(const Arrays& arrays, const Shape& shape) {
  MixtureView<T> view{shape[0], shape[1], shape[2]};
  view.mean = static_cast<const T*>(arrays.mean.data());
  (arrays.full ? view.covariance : view.stddev) = static_cast<const T*>(arrays.spread.data());
  return view;
}

template <class T>
bool both_are(const Arrays& arrays) {
  return arrays.mean.is<T>() && arrays.spread.is<T>();
}

// Calls body with a view of the arrays' own type.
template <class Body>
auto with_view(const Arrays& arrays, const Body& body) {
  const Shape shape = checked_shape(arrays);
  if (both_are<float>(arrays)) {
    return body(view_of<float>(arrays, shape));
  }
  check(both_are<double>(arrays), "the arrays must be contiguous, and both float32 or both float64");
  return body(view_of<double>(arrays, shape));
}

// Rough nanoseconds of an estimator per input.
double work_of(const Estimator& estimator, std::size_t num_components, std::size_t num_outputs) {
  const auto M = static_cast<double>(num_components);
  const double pairs = M * M * (static_cast<double>(num_outputs) + 8) / 5;
  return estimator.info->passes(estimator) * pairs;
}

// A thread keeps at least one matrix of M x M divergences. Beyond a gigabyte, the axes are more likely in the wrong
// order.
template <class T>
void check_pairs(const MixtureView<T>& mixture) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  constexpr std::size_t kMostPairs = kMostBytes / sizeof(double);
  const std::size_t M = mixture.num_components;
  check(M <= kMostPairs / M,
        "M = {} components of {} inputs; pass axis=0 if components come first. To compare so many in pairs would take "
        "more than 1 GB a thread (the estimator mc:K does not)",
        M, mixture.num_inputs);
}

// With several threads the first error in time wins; the plain check names the first in the array instead.
template <class T, class Body>
auto name_first_error(const MixtureView<T>& mixture, const Body& body) {
  try {
    return body();
  } catch (const InputError&) {
    validate(mixture);
    throw;
  }
}

py::dict estimate_arrays(const std::string& name, const Arrays& arrays, const std::vector<double>& weights, int threads,
                         std::uint64_t seed) {
  const Estimator estimator = parse_estimator(name);
  Uncertainty result = with_view(arrays, [&](const auto& mixture) {
    if (estimator.info->by_pairs) {
      check_pairs(mixture);
    }
    const Weights checked = Weights::from(weights, mixture.num_components);
    const double work =
        static_cast<double>(mixture.num_inputs) * work_of(estimator, mixture.num_components, mixture.num_outputs);
    return unlocked(threads, work, [&](Executor& executor) {
      return name_first_error(mixture, [&] {
        return estimate(estimator, mixture.weighted(checked), {&executor, seed});
      });
    });
  });
  py::dict columns;
  columns["epistemic"] = to_numpy(std::move(result.epistemic));
  columns["aleatoric"] = to_numpy(std::move(result.aleatoric));
  columns["total"] = to_numpy(std::move(result.total));
  columns["log_deficit"] = to_numpy(std::move(result.log_deficit));
  for (Uncertainty::Extra& extra : result.extras) {
    columns[py::str(extra.name)] = to_numpy(std::move(extra.values));
  }
  return columns;
}

// result[n][i][j] from blocks [i][j][n].
template <class T>
void fill_divergences(const Divergence& kind, const MixtureView<T>& mixture, Executor& executor, double* result) {
  validate_shape(mixture);
  const std::size_t num_pairs = mixture.num_components * mixture.num_components;
  const auto make = [&] { return PairwiseDivergences(kind, mixture.num_components, mixture.num_outputs); };
  for_blocks(&executor, mixture.num_inputs, PairwiseDivergences::block_size(mixture.num_components), make,
             [&](std::size_t begin, std::size_t end, PairwiseDivergences& pairs) {
               pairs.compute(mixture, begin, end - begin, 0);
               for (std::size_t n = 0; n < end - begin; ++n) {
                 for (std::size_t k = 0; k < num_pairs; ++k) {
                   result[(begin + n) * num_pairs + k] = pairs.divergence()[k * pairs.stride() + n];
                 }
               }
             });
}

py::object divergence_arrays(const std::string& name, const Arrays& arrays, int threads) {
  const Divergence kind = parse_divergence(name);
  return with_view(arrays, [&](const auto& mixture) {
    check_pairs(mixture);
    const std::vector<std::size_t> shape{mixture.num_inputs, mixture.num_components, mixture.num_components};
    std::vector<double> result(shape[0] * shape[1] * shape[2]);
    const double work = static_cast<double>(mixture.num_inputs) *
                        work_of(pairwise_estimator(kind), mixture.num_components, mixture.num_outputs);
    unlocked(threads, work, [&](Executor& executor) {
      name_first_error(mixture, [&] { fill_divergences(kind, mixture, executor, result.data()); });
    });
    return to_numpy(std::move(result), shape);
  });
}

py::list list_estimators() {
  py::list rows;
  for (const EstimatorInfo& info : estimators()) {
    rows.append(py::make_tuple(info.typed_name(), info.formula, name_of(info.bound), info.cost));
  }
  return rows;
}

}  // namespace

void bind_estimators(py::module_& module) {
  module.def(
      "estimate",
      [](const std::string& estimator, const Array& mean, const Array& spread, bool full,
         const std::vector<double>& weights, int threads, std::uint64_t seed) {
        return estimate_arrays(estimator, {mean, spread, full}, weights, threads, seed);
      },
      py::arg("estimator"), py::arg("mean"), py::arg("spread"), py::arg("full"), py::arg("weights"), py::arg("threads"),
      py::arg("seed"));
  module.def(
      "divergence",
      [](const std::string& kind, const Array& mean, const Array& spread, bool full, int threads) {
        return divergence_arrays(kind, {mean, spread, full}, threads);
      },
      py::arg("kind"), py::arg("mean"), py::arg("spread"), py::arg("full"), py::arg("threads"));
  module.def("estimators", &list_estimators);
}

}  // namespace dissent::python
