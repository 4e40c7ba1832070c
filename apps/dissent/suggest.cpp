// dissent suggest: the rows of a pool that are worth a label most, once, and why.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "campaign_options.hpp"
#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/pool_file.hpp"
#include "dissent/table/read_table.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kComparedRows = 1000;  // of the pool, for the sentence on what drove the choice
constexpr double kHardlyMore = 1.2;          // times the pool's disagreement

struct Arguments {
  TablePaths tables;
  std::string fitted;
  ChoiceOptions choice;
  FitOptions fit;
  Values given_fit;
  std::string output;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

struct Labelled {
  std::vector<double> inputs;
  std::vector<double> targets;
};

CampaignSettings settings_of(const Arguments& arguments) {
  CampaignSettings settings;
  settings.batch = arguments.choice.batch;
  set_fields(settings, given_settings(arguments.choice, arguments.given_fit));
  return settings;
}

Ensemble fit_model(const Arguments& arguments, const Table& table, const std::vector<std::string>& input_names,
                   const Labelled& rows, Executor& executor) {
  FitResult result = fit(arguments.fit.ensemble, arguments.fit.train,
                         {input_names, arguments.tables.columns.targets, rows.inputs, rows.targets, table.source},
                         {.executor = &executor,
                          .progress = fit_bar(arguments.quiet || arguments.json),
                          .networks_only = settings_of(arguments).acquisition.info().needs_network});
  warn_diverged(result.report);
  warn_of_rows(result.report);
  say_choice(result.report, arguments.quiet || arguments.json, arguments.output == "-");
  return std::move(result.model);
}

// Of a single row everything is cheap; methods that weigh rows against each other, or sample, take a part of the pool.
std::size_t wanted_candidates(const CampaignSettings& settings, std::size_t num_outputs, std::size_t num_rows) {
  const bool cheap = settings.acquisition.streams() && !settings.acquisition.info().samples;
  if (std::holds_alternative<MethodDefault>(settings.candidates) && cheap) {
    return num_rows;
  }
  return num_candidates(settings.candidates, settings.acquisition, num_outputs, num_rows);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Disagreement and noise of rows by the same measure, whatever chose them.
Choice measured(AcquisitionTask task, std::span<const double> inputs) {
  task.batch = inputs.size() / task.model.num_input_columns();
  return choose(Acquisition::parse("random"), task, inputs);
}

// "7 of 10 lie outside the labelled range of 'x'", for the input where it is most; empty where it is none.
std::string outside_text(const Ensemble& model, std::span<const double> chosen, std::span<const double> labelled) {
  const std::size_t C = model.num_input_columns();
  std::size_t most = 0;
  std::size_t column = 0;
  for (std::size_t c = 0; c < C && !labelled.empty(); ++c) {
    double low = labelled[c];
    double high = labelled[c];
    for (std::size_t k = c; k < labelled.size(); k += C) {
      low = std::min(low, labelled[k]);
      high = std::max(high, labelled[k]);
    }
    std::size_t outside = 0;
    for (std::size_t k = c; k < chosen.size(); k += C) {
      outside += chosen[k] < low || chosen[k] > high ? 1 : 0;
    }
    if (outside > most) {
      most = outside;
      column = c;
    }
  }
  return most == 0 ? ""
                   : fmt::format("; {} of {} lie outside the labelled range of '{}'", most, chosen.size() / C,
                                 model.columns().inputs[column]);
}

// One sentence on what drove the choice.
std::string reason(const Acquisition& acquisition, const AcquisitionTask& task, const PoolFile& pool,
                   const Choice& choice) {
  const std::vector<std::string>& names = task.model.columns().inputs;
  const std::vector<double> chosen = pool.pick(names, choice.rows);
  const Choice ours = measured(task, chosen);
  const Choice usual = measured(task, pool.pick(names, draw_candidates(pool.num_rows(), kComparedRows, task.stream)));
  const double disagreement = mean(ours.epistemic);
  const double of_pool = mean(usual.epistemic);
  const std::string numbers = fmt::format(
      "{:.3g} nats on average where the pool has {:.3g} (noise: {:.3g} against {:.3g}){}", disagreement, of_pool,
      mean(ours.aleatoric), mean(usual.aleatoric), outside_text(task.model, chosen, task.training.inputs));
  if (!acquisition.info().uses_model) {
    return "Drawn at random; the components disagree about these rows by " + numbers + ".";
  }
  const bool hardly_more = disagreement <= kHardlyMore * of_pool;
  const std::string finding =
      hardly_more
          ? "components disagree about these rows hardly more than about the rest of the pool"
          : fmt::format("components disagree about these rows {:.1f} times as much as usual", disagreement / of_pool);
  if (!acquisition.info().estimates) {
    return fmt::format("Chosen by {} ({}); the {}: {}.", acquisition.text(), acquisition.info().summary, finding,
                       numbers);
  }
  return fmt::format("{} {}: {}.", hardly_more ? "The" : "Chosen because the", finding, numbers);
}

std::vector<std::string> output_names(const Table& pool) {
  std::vector<std::string> names{"row"};
  for (const Column& column : pool.columns) {
    names.push_back(column.name);
  }
  names.insert(names.end(), {"score", "epistemic", "aleatoric"});
  return names;
}

// `rows` are the chosen ones alone.
template <class Writer>
void put_rows(Writer& writer, const Table& rows, const Choice& choice) {
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    writer.field(choice.rows[k]);
    for (const Column& column : rows.columns) {
      put_field(writer, column, k);
    }
    writer.field(choice.scores[k]);
    writer.field(choice.epistemic[k]);
    writer.field(choice.aleatoric[k]);
    writer.end_row();
  }
}

void write_output(const Arguments& arguments, const Table& rows, const Choice& choice) {
  if (arguments.output == "-") {
    CsvText text("standard output", output_names(rows));
    put_rows(text, rows, choice);
    print(text.text());
    return;
  }
  CsvWriter writer(arguments.output, output_names(rows));
  put_rows(writer, rows, choice);
  writer.commit();
}

void print_report(const Arguments& arguments, const Choice& choice, std::size_t num_candidates, const std::string& why,
                  Model model) {
  if (arguments.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < choice.rows.size(); ++k) {
      rows.push_back({{"row", choice.rows[k]},
                      {"score", choice.scores[k]},
                      {"epistemic", choice.epistemic[k]},
                      {"aleatoric", choice.aleatoric[k]}});
    }
    print_json({{"version", kVersion},
                {"acquisition", settings_of(arguments).acquisition.text()},
                {"model", model_name(model)},
                {"candidates", num_candidates},
                {"rows", rows},
                {"reason", why},
                {"seed", arguments.fit.ensemble.seed},
                {"output", arguments.output}});
  } else if (!arguments.quiet && arguments.output == "-") {
    fmt::print(stderr, "{}\n", why);  // standard output is the table
  } else if (!arguments.quiet) {
    print_line("{}: {} of {}", arguments.output, choice.rows.size(), counted(num_candidates, "row"));
    print_line("{}", why);
  }
}

struct Suggestion {
  Choice choice;  // rows of the pool
  std::size_t num_candidates = 0;
};

Suggestion choose_from(const PoolFile& pool, const Acquisition& acquisition, const AcquisitionTask& task,
                       std::size_t num_candidates, bool quiet) {
  const std::vector<std::string>& names = task.model.columns().inputs;
  const bool all = num_candidates == 0 || num_candidates >= pool.num_rows();
  if (all && acquisition.streams()) {
    Progress progress("score", pool.num_rows(), quiet);
    std::size_t at = 0;
    const auto next = [&](std::span<double> rows) {
      const std::size_t begin = at;
      at = std::min(pool.num_rows(), begin + rows.size() / names.size());
      pool.read(names, begin, at, rows);
      progress.update(at);
      return at - begin;
    };
    return {choose_streaming(acquisition, task, next), pool.num_rows()};
  }
  if (all) {
    std::vector<double> inputs(pool.num_rows() * names.size());
    pool.read(names, 0, pool.num_rows(), inputs);
    return {choose(acquisition, task, inputs), pool.num_rows()};
  }
  const std::vector<std::size_t> candidates =
      draw_candidates(pool.num_rows(), std::max(num_candidates, task.batch), task.stream);
  Choice choice = choose(acquisition, task, pool.pick(names, candidates));
  for (std::size_t& row : choice.rows) {
    row = candidates[row];
  }
  return {std::move(choice), candidates.size()};
}

// Everything that can be wrong is looked at before the fit, which takes longest.
void check_arguments(const Arguments& arguments) {
  const CampaignSettings settings = settings_of(arguments);
  check_candidates(settings.candidates, settings.batch);
  check_csv_output(arguments.output);
  arguments.fit.check_values();
  check_given(arguments.fit.ensemble.model, arguments.given_fit);
  if (arguments.fitted.empty()) {
    const Model model = arguments.fit.ensemble.model;
    settings.acquisition.check_model({.num_components = arguments.fit.ensemble.components(),
                                      .has_network = model == Model::kAuto || model_kind(model).has_network});
  }
  check(!arguments.tables.pool.empty(), "--pool is needed: a table of rows to choose from");
  check(!arguments.fitted.empty() || (!arguments.tables.labelled.empty() && !arguments.tables.columns.targets.empty()),
        "give --labelled and --targets to fit a model, or one fitted before by --fitted");
  if (!arguments.fitted.empty()) {
    for (const auto& [name, value] : arguments.given_fit) {
      check(name == "seed", "`fitted`: the model is fitted already, so `{}` would do nothing; leave it out", name);
    }
  }
  check(!arguments.json || arguments.output != "-", "--json and --output - both write to standard output");
  if (arguments.output != "-") {
    for (const std::string& read : {arguments.tables.pool, arguments.tables.labelled, arguments.fitted}) {
      check_distinct(arguments.output, read);
    }
    check_writable(arguments.output);
  }
}

void check_pool(const Arguments& arguments, const PoolFile& pool, const std::vector<std::string>& input_names) {
  pool.check_columns(input_names);
  for (const char* own : {"row", "score", "epistemic", "aleatoric"}) {
    check(!pool.has(own), "{}: has a column '{}', a name that the output needs for itself; rename it", pool.source(),
          own);
  }
  check(arguments.choice.batch <= pool.num_rows(), "--batch: {} rows are wanted; {} has {}", arguments.choice.batch,
        pool.source(), pool.num_rows());
}

// A fitted model has its columns; those that are given must be the same.
void check_columns(const Arguments& arguments, const EnsembleColumns& columns) {
  const ColumnOptions& given = arguments.tables.columns;
  check(given.targets.empty() || given.targets == columns.targets, "--targets: {} predicts {}; leave it out",
        arguments.fitted, fmt::join(columns.targets, ","));
  check(given.inputs.empty() || given.inputs == columns.inputs, "--inputs: {} has the inputs {}; leave it out",
        arguments.fitted, fmt::join(columns.inputs, ","));
}

void run_suggest(const Arguments& arguments) {
  check_arguments(arguments);
  PoolFile pool(arguments.tables.pool);
  ThreadPool threads(arguments.threads);
  std::optional<Ensemble> model;
  if (!arguments.fitted.empty()) {
    model = Ensemble::load(arguments.fitted);
    check_columns(arguments, model->columns());
    check_pool(arguments, pool, model->columns().inputs);
  }
  Labelled labelled;
  if (!arguments.tables.labelled.empty()) {
    const Table table = read_table(arguments.tables.labelled);
    const std::vector<std::string> input_names =
        model ? model->columns().inputs : arguments.tables.columns.input_names(table);
    labelled.inputs = table.matrix(input_names);
    labelled.targets = table.matrix(model ? model->columns().targets : arguments.tables.columns.targets);
    if (!model) {
      check_pool(arguments, pool, input_names);
      model = fit_model(arguments, table, input_names, labelled, threads);
    }
  }
  pool.set_check([&](std::span<const double> rows, const PoolFile::RowNumber& row_of) {
    model->check_rows(rows, pool.source(), row_of);
  });
  const CampaignSettings settings = settings_of(arguments);
  const Acquisition& acquisition = settings.acquisition;
  const AcquisitionTask task{.model = *model,
                             .training = {labelled.inputs, labelled.targets},
                             .batch = arguments.choice.batch,
                             .stream = Stream(arguments.fit.ensemble.seed, Purpose::kAcquire),
                             .executor = &threads,
                             .ranking = settings.ranking};
  const auto [choice, num_candidates] =
      choose_from(pool, acquisition, task, wanted_candidates(settings, model->num_outputs(), pool.num_rows()),
                  arguments.quiet || arguments.json);
  const std::string why = reason(acquisition, task, pool, choice);  // reads more of the pool, which may be bad
  write_output(arguments, pool.table(choice.rows), choice);
  if (!arguments.quiet && acquisition.info().uses_training && labelled.inputs.empty()) {
    fmt::print(stderr, "{} chose without knowing the labelled rows; --labelled tells it\n", acquisition.text());
  }
  print_report(arguments, choice, num_candidates, why, model->options().model);
}

}  // namespace

void add_suggest(Command& app) {
  Command& command = app.add(
      "suggest", "Choose the rows of a pool that are worth a label most, and say why",
      "  dissent suggest --labelled L.csv --pool P.csv --targets y --batch 10 --acquisition kl --output next.csv\n"
      "  dissent suggest --fitted y.model --pool P.csv --output next.csv");
  const auto arguments = std::make_shared<Arguments>();
  command.option("--labelled", arguments->tables.labelled,
                 {.help = "Rows whose targets are known; a model is fitted to them", .shown = "FILE"});
  command.option("--pool", arguments->tables.pool,
                 {.help = "Rows to choose from, with the same inputs", .shown = "FILE"});
  add_column_options(command, arguments->tables.columns, Need::kOptional);
  command.option("--fitted", arguments->fitted,
                 {.help = "A model of 'dissent fit', in place of a fit", .shown = "MODEL"});
  add_choice_options(command, arguments->choice);
  command.option("-o,--output", arguments->output,
                 {.help = "The rows chosen, best first; - is standard output", .shown = "OUT.csv"}, Need::kRequired);
  add_fit_options(command, arguments->fit, arguments->given_fit);
  add_threads(command, arguments->threads);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.run([arguments] { run_suggest(*arguments); });
}

}  // namespace dissent::cli
