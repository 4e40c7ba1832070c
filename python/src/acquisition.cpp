// Which rows of a pool to label next.
#include "dissent/acquisition/acquisition.hpp"

#include "asked.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/loop/settings.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

// `aim` [A, C] and `cost` [N] may be empty.
py::tuple choose_rows(const Asked& asked, const Ensemble& model, const Doubles& candidates,
                      const Doubles& training_inputs, const Doubles& training_targets, const Doubles& aim,
                      const Doubles& cost) {
  const Acquisition acquisition = Acquisition::parse(asked.acquisition);
  check_uses(acquisition, aim.size() > 0, cost.size() > 0);
  const std::span<const double> rows = inputs_of(model, candidates);
  const LabelledRows training{inputs_of(model, training_inputs), span_of(training_targets)};
  const std::span<const double> aim_rows = inputs_of(model, aim);
  std::vector<double> utilities;
  Choice choice = unlocked(asked.threads, kAllThreads, [&](Executor& executor) {
    const AcquisitionTask task{.model = model,
                               .training = training,
                               .batch = asked.batch,
                               .stream = choice_stream(asked.seed, 1),
                               .executor = &executor,
                               .ranking = ranking_from_name(asked.ranking),
                               .aim = aim_rows,
                               .cost = span_of(cost),
                               .aleatoric = false,
                               .utilities = asked.utilities ? &utilities : nullptr};
    return choose(acquisition, task, rows);
  });
  return to_tuple(std::move(choice), std::move(utilities), asked, num_rows(candidates));
}

py::object candidate_rows(std::size_t pool_size, std::size_t count, std::uint64_t seed) {
  const std::vector<std::size_t> rows = draw_candidates(pool_size, count, choice_stream(seed, 1));
  return to_numpy(std::vector<std::int64_t>(rows.begin(), rows.end()));
}

py::list list_acquisitions() {
  py::list rows;
  for (const AcquisitionInfo& info : acquisitions()) {
    rows.append(py::make_tuple(info.typed_name(), info.summary, info.score));
  }
  return rows;
}

}  // namespace

void bind_acquisition(py::module_& module) {
  const auto matrix = [](const char* name) { return py::arg(name).noconvert(); };
  py::class_<Asked>(module, "Asked")
      .def(py::init<std::string, std::size_t, std::uint64_t, std::string, bool, int>(), py::arg("acquisition"),
           py::arg("batch"), py::arg("seed"), py::arg("ranking"), py::arg("utilities"), py::arg("threads"));
  module.def("choose", &choose_rows, py::arg("asked"), py::arg("model"), matrix("candidates"),
             matrix("training_inputs"), matrix("training_targets"), matrix("aim"), matrix("cost"));
  module.def("draw_candidates", &candidate_rows, py::arg("pool_size"), py::arg("count"), py::arg("seed"));
  module.def("acquisitions", &list_acquisitions);
}

}  // namespace dissent::python
