// Campaigns of asking and telling, in the directories of `dissent ask` and `dissent tell`: the same functions begin and
// open them, so that either side can go on with what the other has begun.
#include "ask_tell.hpp"
#include "dissent/base/error.hpp"
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
    Campaign& campaign = laboratory_.campaign;
    const std::size_t num_pending = campaign.num_pending();
    const std::size_t num_open = laboratory_.data.pool.num_rows - campaign.chosen.size();
    check(num_open + num_pending > 0, "{}: the pool is empty: every row of it has its answer", path());
    const std::size_t num_new = batch > num_pending ? std::min(batch - num_pending, num_open) : 0;
    if (num_new > 0) {
      const Ensemble model = fitted_model(threads, progress);
      unlocked(threads, kAllThreads, [&](ThreadPool& pool) {
        choose_rows(campaign, laboratory_.data, cli::learn_options(campaign), model, num_new, &pool);
      });
      save();
    }
    return pending_rows();
  }

  // Targets [n, D] of pool rows that wait: all or nothing.
  void tell(const std::vector<std::size_t>& rows, const Doubles& targets, bool refit, int threads,
            const py::object& progress) {
    Campaign told = laboratory_.campaign;
    const std::span<const double> values = span_of(targets);
    check(values.size() == rows.size() * told.num_targets, "tell: {} target values for {} rows of {}", values.size(),
          rows.size(), told.num_targets);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto found = std::ranges::find(told.chosen, rows[k], &ChosenRow::row);
      check(found != told.chosen.end(), "tell: row {} was never asked for", rows[k]);
      dissent::tell(told, static_cast<std::size_t>(found - told.chosen.begin()),
                    values.subspan(k * told.num_targets, told.num_targets));
    }
    std::swap(laboratory_.campaign, told);
    try {
      if (refit) {
        fitted_model(threads, progress);
      }
      save();
    } catch (...) {
      std::swap(laboratory_.campaign, told);
      throw;
    }
  }

  // The model of the rows labelled so far; fitted, and saved, if need be.
  Ensemble model(int threads, const py::object& progress) {
    const bool was_fitted = laboratory_.campaign.fitted.has_value();
    Ensemble model = fitted_model(threads, progress);
    if (!was_fitted) {
      save();
    }
    return model;
  }

  py::array_t<std::int64_t> pending_rows() const {
    std::vector<std::int64_t> rows;
    for (const std::size_t position : pending(laboratory_.campaign)) {
      rows.push_back(static_cast<std::int64_t>(laboratory_.campaign.chosen[position].row));
    }
    return to_numpy(std::move(rows));
  }

  py::list rounds() const {
    using namespace py::literals;
    py::list records;
    for (const RoundRecord& record : laboratory_.campaign.rounds) {
      records.append(py::dict("round"_a = record.round, "labelled"_a = record.fit.labelled, "rmse"_a = record.fit.rmse,
                              "rmse_paper"_a = record.fit.rmse_paper, "log_likelihood"_a = record.fit.log_likelihood,
                              "chosen_epistemic"_a = record.chosen_epistemic, "fit_seconds"_a = record.fit.seconds,
                              "score_seconds"_a = record.score_seconds));
    }
    return records;
  }

  py::array_t<double> pool_inputs(const std::vector<std::size_t>& rows) const {
    const std::size_t num_columns = laboratory_.data.input_names.size();
    for (const std::size_t row : rows) {
      check(row < laboratory_.data.pool.num_rows, "row {} is not in the pool of {}", row,
            laboratory_.data.pool.num_rows);
    }
    return to_numpy(pick_rows(laboratory_.data.pool.inputs, num_columns, rows), {rows.size(), num_columns});
  }

  const std::string& path() const { return laboratory_.directory.path(); }
  const Settings& settings() const { return laboratory_.campaign.settings; }
  const std::vector<std::string>& inputs() const { return laboratory_.data.input_names; }
  const std::vector<std::string>& targets() const { return laboratory_.data.target_names; }
  std::size_t num_labelled() const {
    return laboratory_.data.train.num_rows + laboratory_.campaign.chosen.size() - laboratory_.campaign.num_pending();
  }
  std::size_t num_pool() const { return laboratory_.data.pool.num_rows; }

 private:
  static cli::LaboratoryCampaign open(const std::string& path, std::map<std::string, std::string> tables,
                                      cli::ColumnOptions columns, Settings settings) {
    cli::LaboratoryOptions options;
    options.tables = {tables["labelled"], tables["pool"], tables["test"], std::move(columns)};
    const auto take = [&](const char* name, std::string& value) {
      if (const auto found = settings.find(name); found != settings.end()) {
        value = found->second;
        settings.erase(found);
        return true;
      }
      return false;
    };
    options.acquisition_given = take("--acquisition", options.choice.acquisition);
    take("--candidates", options.choice.candidates);
    options.choice.batch = 1;
    options.given_fit = std::move(settings);
    return cli::open_laboratory(path, options);
  }

  Ensemble fitted_model(int threads, const py::object& progress) {
    Campaign& campaign = laboratory_.campaign;
    if (campaign.fitted) {
      if (std::optional<Ensemble> model = laboratory_.directory.load_model(*campaign.fitted)) {
        return std::move(*model);
      }
    }
    FitTeller tell(progress);
    FittedRound fitted = unlocked(threads, kAllThreads, [&](ThreadPool& pool) {
      return fit_round(campaign, laboratory_.data, cli::learn_options(campaign), {&pool, std::ref(tell)});
    });
    laboratory_.directory.save_model(fitted.model);
    campaign.fitted = fitted.record;
    return std::move(fitted.model);
  }

  void save() {
    laboratory_.directory.save(laboratory_.campaign);
    laboratory_.directory.write_tables(laboratory_.campaign, laboratory_.data);
  }

  cli::LaboratoryCampaign laboratory_;
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
