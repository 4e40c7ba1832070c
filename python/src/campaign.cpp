// Campaigns of asking and telling, in the directories of `dissent ask` and `dissent tell`: the same functions begin and
// open them, so that either side can go on with what the other has begun.
#include "dissent/base/error.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/read_table.hpp"
#include "fields.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

constexpr double kAllThreads = 1e12;  // nanoseconds

// By the names labelled, pool, test and aim: "file" and its path, or "text" and CSV.
using Tables = std::map<std::string, std::pair<std::string, std::string>>;

class OpenCampaign {
 public:
  // `tables` are empty to open a campaign that was begun before. `settings`: those of the campaign by keyword.
  OpenCampaign(const std::string& path, const Tables& tables, std::vector<std::string> targets,
               std::vector<std::string> inputs, const py::dict& settings)
      : laboratory_(Laboratory::open(path, {{table(tables, "labelled"),
                                             table(tables, "pool"),
                                             table(tables, "test"),
                                             {std::move(targets), std::move(inputs)},
                                             table(tables, "aim")},
                                            values_of<CampaignSettings>(settings)})) {}

  // As `dissent ask`: rows that wait already come first, new ones make them up to `batch`. The pool may end, but not at
  // the first batch.
  py::object ask(std::size_t batch, int threads, const py::object& progress) {
    if (campaign().chosen.empty()) {
      check_batch(laboratory_.data(), batch);
    }
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

  py::object pending_rows() const {
    std::vector<std::int64_t> rows;
    for (const std::size_t position : pending(campaign())) {
      rows.push_back(static_cast<std::int64_t>(campaign().chosen[position].row));
    }
    return to_numpy(std::move(rows));
  }

  // Why they were chosen, one text for each of pending_rows().
  std::vector<std::string> why() const {
    std::vector<std::string> texts;
    for (const std::size_t position : pending(campaign())) {
      texts.push_back(campaign().chosen[position].why);
    }
    return texts;
  }

  py::list rounds() const {
    py::list records;
    for (const RoundRecord& record : campaign().rounds) {
      records.append(to_dict(record));
    }
    return records;
  }

  py::object pool_inputs(const std::vector<std::size_t>& rows) const {
    const Problem& data = laboratory_.data();
    const std::size_t num_columns = data.input_names.size();
    for (const std::size_t row : rows) {
      check(row < data.pool.num_rows, "row {} is not in the pool of {}", row, data.pool.num_rows);
    }
    return to_numpy(pick_rows(data.pool.inputs, num_columns, rows), {rows.size(), num_columns});
  }

  std::string path() const { return laboratory_.name(); }
  py::dict settings() const { return to_dict(campaign().settings); }
  const std::vector<std::string>& inputs() const { return laboratory_.data().input_names; }
  const std::vector<std::string>& targets() const { return laboratory_.data().target_names; }
  std::size_t num_labelled() const { return laboratory_.num_labelled(); }
  std::size_t num_pool() const { return laboratory_.data().pool.num_rows; }

 private:
  // What comes as text has the argument's name for its source, so that errors name what was given.
  static std::optional<Table> table(const Tables& tables, const std::string& name) {
    const auto found = tables.find(name);
    if (found == tables.end()) {
      return std::nullopt;
    }
    const auto& [kind, text] = found->second;
    return kind == "file" ? read_table(text) : parse_csv(text, name);
  }

  const Campaign& campaign() const { return laboratory_.campaign(); }

  Laboratory laboratory_;
};

}  // namespace

void bind_campaign(py::module_& module) {
  module.def("default_acquisition", [] { return std::string(default_acquisition()); });
  py::class_<OpenCampaign>(module, "Campaign")
      .def(py::init<std::string, Tables, std::vector<std::string>, std::vector<std::string>, py::dict>(),
           py::arg("path"), py::arg("tables"), py::arg("targets"), py::arg("inputs"), py::arg("settings"))
      .def("ask", &OpenCampaign::ask, py::arg("batch"), py::arg("threads"), py::arg("progress"))
      .def("tell", &OpenCampaign::tell, py::arg("rows"), py::arg("targets").noconvert(), py::arg("refit"),
           py::arg("threads"), py::arg("progress"))
      .def("model", &OpenCampaign::model, py::arg("threads"), py::arg("progress"))
      .def("pending", &OpenCampaign::pending_rows)
      .def("why", &OpenCampaign::why)
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
