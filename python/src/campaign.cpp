// Campaigns of asking and telling, in the directories of `dissent ask` and `dissent tell`: the same functions begin and
// open them, so that either side can continue what the other has begun.
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/file_identity.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/loop/export.hpp"
#include "dissent/loop/export_file.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/loop/question_table.hpp"
#include "dissent/loop/status.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/read_table.hpp"
#include "fields.hpp"
#include "support.hpp"

namespace dissent::python {
namespace {

// By name (labelled, pool, test, aim): "file" and its path, or "text" and CSV.
using Tables = std::map<std::string, std::pair<std::string, std::string>>;

// In words: how answers were read, if that should be known, and answers that look like mistakes.
using Told = std::pair<std::vector<std::string>, std::vector<std::string>>;

// How answers are taken.
struct Telling {
  bool refit = true;
  bool correct = false;
  bool extra = false;
  int threads = 0;
  std::string device = "cpu";
  py::object progress = py::none();
};

class OpenCampaign {
 public:
  // Empty `tables` open a campaign that was begun before. `settings`: those of the campaign by keyword.
  OpenCampaign(const std::string& path, const Tables& tables, const ColumnOptions& columns, const py::dict& settings)
      : laboratory_(Laboratory::open(path, {{table(tables, "labelled"), table(tables, "pool"), table(tables, "test"),
                                             columns, table(tables, "aim")},
                                            values_of<CampaignSettings>(settings)})) {
    for (const auto& [name, given] : tables) {
      if (given.first == "file") {
        given_files_.push_back(given.second);
      }
    }
  }

  // As `dissent ask`: rows that already wait come first, new ones make up the rest of `batch`. The pool may end, but
  // not at the first batch.
  py::object ask(std::size_t batch, int threads, const std::string& device, const py::object& progress) {
    if (campaign().chosen.empty()) {
      check_batch(laboratory_.data(), batch);
    }
    FitTeller tell(progress);
    fitting(threads, device, tell,
            [&](const FitControl& control, ScoreDevice* scores) { return laboratory_.ask(batch, control, scores); });
    return pending_rows();
  }

  // Takes targets [n, D] of rows of the pool: all or nothing. Returns what to know about them.
  Told tell(std::vector<std::size_t> rows, const Doubles& targets, const Telling& telling) {
    const std::span<const double> values = span_of(targets);
    Answers answers{"tell", std::move(rows), {values.begin(), values.end()}};
    answers.unasked = telling.extra;
    return take(std::move(answers), telling);
  }

  // The same for a table with the columns `row` and the targets.
  Told tell_table(const std::string& kind, const std::string& text, const Telling& telling) {
    return take(laboratory_.answers_in(kind == "file" ? read_table(text) : parse_csv(text, "tell", {.delimiter = ','}),
                                       telling.extra),
                telling);
  }

  // Rows whose experiments failed.
  void drop(std::vector<std::size_t> rows, const Telling& telling) {
    Answers answers{"drop"};
    answers.dropped = std::move(rows);
    take(std::move(answers), telling);
  }

  // The model of the rows labelled so far; fitted, and saved, if need be.
  Ensemble model(int threads, const std::string& device, const py::object& progress) {
    FitTeller tell(progress);
    return fitting(threads, device, tell, [&](const FitControl& control) { return laboratory_.model(control); });
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

  // The rows that wait, as the table that people fill in: numbers as arrays, texts as lists, None where one is missing.
  py::dict questions() const {
    const std::string row_column = laboratory_.own_column("row");
    py::dict columns;
    for (Column& column : question_table(laboratory_).columns) {
      if (column.is_text()) {
        py::list texts;
        for (std::size_t row = 0; row < column.text.size(); ++row) {
          texts.append(column.is_missing(row) ? py::object(py::none()) : py::object(py::str(column.text[row])));
        }
        columns[py::str(column.name)] = texts;
      } else if (column.name == row_column) {
        columns[py::str(column.name)] = pending_rows();
      } else {
        columns[py::str(column.name)] = to_numpy(std::move(column.values));
      }
    }
    return columns;
  }

  py::object status() const { return loads(to_json(status_of(campaign(), &laboratory_.data()), seconds_now())); }

  py::object exported() const { return loads(exported_json(campaign(), laboratory_.data(), laboratory_.pool())); }

  // The table of labelled rows as CSV.
  std::string exported_csv() const {
    return format_csv(exported_rows(campaign(), laboratory_.data(), laboratory_.pool()));
  }

  // The file appears whole or not at all. It never replaces a file that the campaign needs or was begun from, nor any
  // other file that is not an export.
  void write_file(const std::string& path, const std::string& text) const {
    for (const std::string& own : CampaignDirectory::files(laboratory_.name())) {
      check(!same_file(path, own), "'{}' is a file of the campaign and would be overwritten; give another name", path);
    }
    for (const std::string& given : given_files_) {
      check(!same_file(path, given), "'{}' is read as well and would be overwritten; give another name", path);
    }
    check_export_replaces(path);
    AtomicFile file(path);
    file.write(text);
    file.commit();
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
  const std::vector<std::string>& notes() const { return laboratory_.data().told; }
  const std::vector<std::string>& inputs() const { return laboratory_.data().input_names; }
  const std::vector<std::string>& targets() const { return laboratory_.data().target_names; }
  std::size_t num_labelled() const { return laboratory_.num_labelled(); }
  std::size_t num_pool() const { return laboratory_.data().pool.num_rows; }

 private:
  Told take(Answers answers, const Telling& telling) {
    answers.correct = telling.correct;
    FitTeller tell(telling.progress);
    const std::vector<FarAnswer> far = fitting(telling.threads, telling.device, tell, [&](const FitControl& control) {
      return laboratory_.tell(answers, telling.refit, control);
    });
    Told told{std::move(answers.told), {}};
    for (const FarAnswer& answer : far) {
      told.second.push_back(answer.text());
    }
    return told;
  }

  static py::object loads(const Json& json) {
    return py::module_::import("json").attr("loads")(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  // A table that comes as text has the argument's name as its source, so that errors name what was given.
  static std::optional<Table> table(const Tables& tables, const std::string& name) {
    const auto found = tables.find(name);
    if (found == tables.end()) {
      return std::nullopt;
    }
    const auto& [kind, text] = found->second;
    return kind == "file" ? read_table(text) : parse_csv(text, name, {.delimiter = ','});
  }

  const Campaign& campaign() const { return laboratory_.campaign(); }

  Laboratory laboratory_;
  std::vector<std::string> given_files_;  // the tables it was opened with
};

}  // namespace

void bind_campaign(py::module_& module) {
  module.def("default_acquisition", [] { return std::string(default_acquisition()); });
  py::class_<Telling>(module, "Telling")
      .def(py::init<bool, bool, bool, int, std::string, py::object>(), py::arg("refit"), py::arg("correct"),
           py::arg("extra"), py::arg("threads"), py::arg("device"), py::arg("progress"));
  using Names = std::vector<std::string>;
  py::class_<ColumnOptions>(module, "ColumnOptions")
      .def(py::init([](Names targets, Names inputs, Names ignore, Names id, std::vector<Names> order) {
             return ColumnOptions{.targets = std::move(targets),
                                  .inputs = std::move(inputs),
                                  .ignore = std::move(ignore),
                                  .ids = std::move(id),
                                  .order = std::move(order)};
           }),
           py::arg("targets"), py::arg("inputs"), py::arg("ignore"), py::arg("id"), py::arg("order"));
  py::class_<OpenCampaign>(module, "Campaign")
      .def(py::init<std::string, Tables, ColumnOptions, py::dict>(), py::arg("path"), py::arg("tables"),
           py::arg("columns"), py::arg("settings"))
      .def("ask", &OpenCampaign::ask, py::arg("batch"), py::arg("threads"), py::arg("device"), py::arg("progress"))
      .def("tell", &OpenCampaign::tell, py::arg("rows"), py::arg("targets").noconvert(), py::arg("telling"))
      .def("tell_table", &OpenCampaign::tell_table, py::arg("kind"), py::arg("text"), py::arg("telling"))
      .def("drop", &OpenCampaign::drop, py::arg("rows"), py::arg("telling"))
      .def("model", &OpenCampaign::model, py::arg("threads"), py::arg("device"), py::arg("progress"))
      .def("pending", &OpenCampaign::pending_rows)
      .def("why", &OpenCampaign::why)
      .def("questions", &OpenCampaign::questions)
      .def("status", &OpenCampaign::status)
      .def("exported", &OpenCampaign::exported)
      .def("exported_csv", &OpenCampaign::exported_csv)
      .def("write_file", &OpenCampaign::write_file, py::arg("path"), py::arg("text"))
      .def("rounds", &OpenCampaign::rounds)
      .def("pool_inputs", &OpenCampaign::pool_inputs, py::arg("rows"))
      .def_property_readonly("path", &OpenCampaign::path)
      .def_property_readonly("settings", &OpenCampaign::settings)
      .def_property_readonly("notes", &OpenCampaign::notes)
      .def_property_readonly("inputs", &OpenCampaign::inputs)
      .def_property_readonly("targets", &OpenCampaign::targets)
      .def_property_readonly("num_labelled", &OpenCampaign::num_labelled)
      .def_property_readonly("num_pool", &OpenCampaign::num_pool);
}

}  // namespace dissent::python
