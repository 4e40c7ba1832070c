// Campaigns of asking and telling, in the directories of `dissent ask` and `dissent tell`: the same functions begin and
// open them, so that either side can go on with what the other has begun.
#include "dissent/base/error.hpp"
#include "dissent/loop/laboratory.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

constexpr double kAllThreads = 1e12;  // nanoseconds

class OpenCampaign {
 public:
  // `tables`: paths by the names labelled, pool and test; empty to open a campaign that was begun before. `settings`:
  // options by their names on the command line.
  OpenCampaign(const std::string& path, std::map<std::string, std::string> tables, std::vector<std::string> targets,
               std::vector<std::string> inputs, Settings settings)
      : laboratory_(open(path, std::move(tables), {std::move(targets), std::move(inputs)}, std::move(settings))) {}

  // As `dissent ask`: rows that wait already come first, new ones make them up to `batch`.
  py::array_t<std::int64_t> ask(std::size_t batch, int threads, const py::object& progress) {
    FitTeller tell(progress);
    unlocked(threads, kAllThreads, [&](Executor& executor) { laboratory_.ask(batch, {&executor, std::ref(tell)}); });
    return pending_rows();
  }

  // Targets [n, D] of pool rows that wait: all or nothing.
  void tell(std::vector<std::size_t> rows, const Doubles& targets, bool refit, int threads,
            const py::object& progress) {
    const std::span<const double> values = span_of(targets);
    const Answers answers{"tell", std::move(rows), {values.begin(), values.end()}};
    FitTeller tell(progress);
    unlocked(threads, kAllThreads, [&](Executor& executor) {
      laboratory_.tell(answers, refit, {&executor, std::ref(tell)});
    });
  }

  // The model of the rows labelled so far; fitted, and saved, if need be.
  Ensemble model(int threads, const py::object& progress) {
    FitTeller tell(progress);
    return unlocked(threads, kAllThreads, [&](Executor& executor) {
      return laboratory_.model({&executor, std::ref(tell)});
    });
  }

  py::array_t<std::int64_t> pending_rows() const {
    std::vector<std::int64_t> rows;
    for (const std::size_t position : pending(campaign())) {
      rows.push_back(static_cast<std::int64_t>(campaign().chosen[position].row));
    }
    return to_numpy(std::move(rows));
  }

  py::list rounds() const {
    using namespace py::literals;
    py::list records;
    for (const RoundRecord& record : campaign().rounds) {
      records.append(py::dict("round"_a = record.round, "labelled"_a = record.fit.labelled, "rmse"_a = record.fit.rmse,
                              "rmse_paper"_a = record.fit.rmse_paper, "log_likelihood"_a = record.fit.log_likelihood,
                              "chosen_epistemic"_a = record.chosen_epistemic, "fit_seconds"_a = record.fit.seconds,
                              "score_seconds"_a = record.score_seconds));
    }
    return records;
  }

  py::array_t<double> pool_inputs(const std::vector<std::size_t>& rows) const {
    const Problem& data = laboratory_.data();
    const std::size_t num_columns = data.input_names.size();
    for (const std::size_t row : rows) {
      check(row < data.pool.num_rows, "row {} is not in the pool of {}", row, data.pool.num_rows);
    }
    return to_numpy(pick_rows(data.pool.inputs, num_columns, rows), {rows.size(), num_columns});
  }

  const std::string& path() const { return laboratory_.path(); }
  const Settings& settings() const { return campaign().settings; }
  const std::vector<std::string>& inputs() const { return laboratory_.data().input_names; }
  const std::vector<std::string>& targets() const { return laboratory_.data().target_names; }
  std::size_t num_labelled() const { return laboratory_.num_labelled(); }
  std::size_t num_pool() const { return laboratory_.data().pool.num_rows; }

 private:
  static Laboratory open(const std::string& path, std::map<std::string, std::string> tables, ColumnOptions columns,
                         Settings settings) {
    LaboratoryOptions options;
    options.tables = {tables["labelled"], tables["pool"], tables["test"], std::move(columns)};
    const auto take = [&](const char* name) {
      const auto found = settings.extract(name);
      return found ? found.mapped() : std::string();
    };
    options.acquisition = take("--acquisition");
    options.candidates = take("--candidates");
    options.fit = std::move(settings);
    return Laboratory::open(path, options);
  }

  const Campaign& campaign() const { return laboratory_.campaign(); }

  Laboratory laboratory_;
};

}  // namespace

void bind_campaign(py::module_& module) {
  py::class_<OpenCampaign>(module, "Campaign")
      .def(py::init<std::string, std::map<std::string, std::string>, std::vector<std::string>, std::vector<std::string>,
                    Settings>(),
           py::arg("path"), py::arg("tables"), py::arg("targets"), py::arg("inputs"), py::arg("settings"))
      .def("ask", &OpenCampaign::ask, py::arg("batch"), py::arg("threads"), py::arg("progress"))
      .def("tell", &OpenCampaign::tell, py::arg("rows"), py::arg("targets").noconvert(), py::arg("refit"),
           py::arg("threads"), py::arg("progress"))
      .def("model", &OpenCampaign::model, py::arg("threads"), py::arg("progress"))
      .def("pending", &OpenCampaign::pending_rows)
      .def("rounds", &OpenCampaign::rounds)
      .def("pool_inputs", &OpenCampaign::pool_inputs, py::arg("rows"))
      .def_property_readonly("path", &OpenCampaign::path)
      .def_property_readonly("settings", &OpenCampaign::settings)
      .def_property_readonly("inputs", &OpenCampaign::inputs)
      .def_property_readonly("targets", &OpenCampaign::targets)
      .def_property_readonly("num_labelled", &OpenCampaign::num_labelled)
      .def_property_readonly("num_pool", &OpenCampaign::num_pool);
}

}  // namespace dissent::python
