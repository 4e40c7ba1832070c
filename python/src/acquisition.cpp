// Which rows of a pool to label next.
#include "dissent/acquisition/acquisition.hpp"

#include "dissent/loop/learn.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

constexpr double kAllThreads = 1e12;  // nanoseconds: some methods take long on few rows

// Rows [B] and scores [B] of the chosen, in the order of choice; and, if asked for, utilities [B, N] of all candidates.
py::tuple choose_rows(const std::string& name, const Ensemble& model, const Doubles& candidates,
                      const Doubles& training_inputs, const Doubles& training_targets, std::size_t batch,
                      std::uint64_t seed, const std::string& ranking, bool want_utilities, int threads) {
  const Acquisition acquisition = Acquisition::parse(name);
  const std::span<const double> rows = inputs_of(model, candidates);
  const LabelledRows training{inputs_of(model, training_inputs), span_of(training_targets)};
  std::vector<double> utilities;
  Choice choice = unlocked(threads, kAllThreads, [&](Executor& executor) {
    const AcquisitionTask task{.model = model,
                               .training = training,
                               .batch = batch,
                               .stream = choice_stream(seed, 1),
                               .executor = &executor,
                               .ranking = ranking_from_name(ranking),
                               .aleatoric = false,
                               .utilities = want_utilities ? &utilities : nullptr};
    return choose(acquisition, task, rows);
  });
  py::object matrix = py::none();
  if (want_utilities) {
    matrix = to_numpy(std::move(utilities), {batch, num_rows(candidates)});
  }
  return py::make_tuple(to_numpy(std::vector<std::int64_t>(choice.rows.begin(), choice.rows.end())),
                        to_numpy(std::move(choice.scores)), matrix);
}

py::array_t<std::int64_t> candidate_rows(std::size_t pool_size, std::size_t count, std::uint64_t seed) {
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
  module.def("choose", &choose_rows, py::arg("acquisition"), py::arg("model"), matrix("candidates"),
             matrix("training_inputs"), matrix("training_targets"), py::arg("batch"), py::arg("seed"),
             py::arg("ranking"), py::arg("utilities"), py::arg("threads"));
  module.def("draw_candidates", &candidate_rows, py::arg("pool_size"), py::arg("count"), py::arg("seed"));
  module.def("acquisitions", &list_acquisitions);
}

}  // namespace dissent::python
