// dissent suggest: chooses once the rows of a pool that are most worth a label, and says why. The first `dissent ask`
// on the same files chooses the same rows.
#include <algorithm>
#include <memory>
#include <optional>

#include "campaign_options.hpp"
#include "command.hpp"
#include "console.hpp"
#include "dissent/acquisition/reasons.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/device/device.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/mixture/class_file.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "dissent/table/read_table.hpp"
#include "options.hpp"
#include "outlier_warning.hpp"
#include "pool_choice.hpp"
#include "suggest_mixture.hpp"
#include "suggest_report.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kFirstRound = 1;
constexpr std::size_t kAnotherFit = 0;             // no round of a campaign has this number
constexpr std::size_t kMostRowsToFitAgain = 1000;  // labelled; with more a fit takes long

struct SuggestArguments {
  TablePaths tables;
  std::string fitted;
  std::string mixture;
  ChoiceOptions choice;
  FitOptions fit;
  Values given_fit;
  std::string output;
  int threads = 0;
  std::string device = "cpu";
  bool once = false;
  bool json = false;
  bool quiet = false;

  bool silent() const { return quiet || json; }
};

struct Labelled {
  TableEncoding encoding;
  std::vector<std::string> input_names;
  std::vector<double> inputs;
  std::vector<double> targets;
  std::string source;
};

CampaignSettings settings_of(const SuggestArguments& arguments) {
  CampaignSettings settings;
  settings.batch = arguments.choice.batch;
  set_fields(settings, given_settings(arguments.choice, arguments.given_fit));
  return settings;
}

// What fits and choices run on.
struct Machine {
  ThreadPool threads;
  std::shared_ptr<Device> device;
};

Ensemble fit_model(const SuggestArguments& arguments, const Labelled& rows, EnsembleOptions options, std::size_t round,
                   Machine& machine) {
  options.seed = fit_seed(arguments.fit.ensemble.seed, round);
  FitResult result = fit(options, arguments.fit.train,
                         {rows.input_names, arguments.tables.columns.targets, rows.inputs, rows.targets, rows.source,
                          rows.encoding.kept()},
                         {.executor = &machine.threads,
                          .progress = fit_bar(arguments.silent()),
                          .networks_only = settings_of(arguments).acquisition.info().needs_network,
                          .device = fits_of(machine.device.get())});
  if (round == kFirstRound) {
    warn_diverged(result.report);
    warn_of_rows(result.report);
    say_choice(result.report, arguments.silent(), arguments.output == "-");
    warn_of_device(result.model.options().model, arguments.device);
  }
  return std::move(result.model);
}

// Checks everything that can be wrong before the fit, which takes longest.
void check_arguments(const SuggestArguments& arguments) {
  const CampaignSettings settings = settings_of(arguments);
  check_candidates(settings.candidates, settings.batch);
  check_uses(settings.acquisition, !arguments.tables.aim.empty(), !settings.cost.empty());
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
    check_writable(arguments.output);
  }
}

// A fitted model has its own columns; if columns are given, they must be the same.
void check_columns(const SuggestArguments& arguments, const EnsembleColumns& columns) {
  const ColumnOptions& given = arguments.tables.columns;
  check(given.targets.empty() || given.targets == columns.targets, "--targets: {} predicts {}; leave it out",
        arguments.fitted, fmt::join(columns.targets, ","));
  check(given.inputs.empty() || given.inputs == columns.source_columns(),
        "--inputs: {} has the inputs {}; leave it out", arguments.fitted, fmt::join(columns.source_columns(), ","));
  check(given.ignore.empty() && given.order.empty(), "`fitted`: the model has its columns; leave out {}",
        given.order.empty() ? "--ignore" : "--order");
}

void run_suggest_mixture(const SuggestArguments& arguments) {
  Values useless = given_settings(arguments.choice, {});
  if (!arguments.tables.aim.empty()) {
    useless["aim"] = arguments.tables.aim;
  }
  for (const char* name : {"aim", "cost", "require", "exclude", "skip_outliers"}) {
    check(!useless.contains(name), "--mixture has predictions and no columns, so `{}` would do nothing; leave it out",
          name);
  }
  check(!arguments.tables.any() && arguments.fitted.empty(),
        "--mixture has the predictions already; leave out tables, columns and --fitted");
  for (const auto& [name, value] : arguments.given_fit) {
    check(name == "seed", "--mixture has the predictions already, so `{}` would do nothing; leave it out", name);
  }
  check(arguments.device == "cpu", "--mixture is scored on the processor, so `device` would do nothing; leave it out");
  SuggestArguments asked = arguments;
  if (has_classes(arguments.mixture)) {
    asked.choice.acquisition.clear();  // only classes have `exact`
  }
  suggest_from_mixture({arguments.mixture, settings_of(asked), arguments.choice.acquisition, arguments.output,
                        arguments.threads, arguments.json, arguments.quiet});
}

// The columns of a model fitted before, or those of the table.
Labelled read_labelled(const SuggestArguments& arguments, const std::optional<Ensemble>& model, PoolFile& pool) {
  Labelled labelled;
  std::vector<std::string> told;
  if (model) {
    labelled.encoding = model->table_encoding();
  }
  if (!arguments.tables.labelled.empty()) {
    const Table table = read_table(arguments.tables.labelled);
    const std::vector<std::string>& targets = model ? model->columns().targets : arguments.tables.columns.targets;
    table.find(targets);
    if (!model) {
      ColumnOptions columns = arguments.tables.columns;
      columns.others.push_back(arguments.choice.cost.value_or(""));
      FittedEncoding fitted = fit_encoding(columns, table, pool.table());
      labelled.encoding = std::move(fitted.encoding);
      say_columns(fitted.told, arguments.silent(), arguments.output == "-");
    }
    EncodedRows rows = encoded_rows(table, labelled.encoding, targets, told);
    labelled.inputs = std::move(rows.inputs);
    labelled.targets = std::move(rows.targets);
    labelled.source = table.source;
    if (pool.table() != nullptr) {
      tell_measured(*pool.table(), targets, told);
    }
  }
  labelled.input_names = labelled.encoding.features();
  pool.encode(labelled.encoding, told);
  warn_of_columns(told, arguments.quiet);
  return labelled;
}

std::vector<double> read_aim(const SuggestArguments& arguments, const Ensemble& model, const TableEncoding& encoding) {
  const std::string& path = arguments.tables.aim;
  if (path.empty()) {
    return {};
  }
  const Table table = read_table(path);
  std::vector<std::string> told;
  std::vector<double> inputs = encoding.matrix(table, &told);
  warn_of_columns(told, arguments.quiet);
  check(!inputs.empty(), "{}: has no rows", path);
  model.check_rows(inputs, path);
  return inputs;
}

// How many of the chosen rows a second fit of the same kind would choose too, from the same candidates.
std::optional<std::size_t> find_stable(const SuggestArguments& arguments, const Labelled& labelled,
                                       const Choice& choice, AcquisitionTask task, PoolChoice& pool, Machine& machine) {
  const std::size_t num_labelled = labelled.inputs.size() / labelled.input_names.size();
  const bool chance = !settings_of(arguments).acquisition.info().uses_model;
  const bool unseen = arguments.quiet && !arguments.json;
  if (!arguments.fitted.empty() || arguments.once || unseen || chance || num_labelled > kMostRowsToFitAgain) {
    return std::nullopt;
  }
  EnsembleOptions options = arguments.fit.ensemble;
  options.model = task.model.options().model;
  const Ensemble another = fit_model(arguments, labelled, options, kAnotherFit, machine);
  pool.check_by(another);
  const AcquisitionTask same{.model = another,
                             .training = task.training,
                             .stream = task.stream,
                             .executor = task.executor,
                             .aim = task.aim,
                             .device = task.device,
                             .aleatoric = false};
  const std::size_t common = num_common(choice, pool.choose(same, true));
  pool.check_by(task.model);  // the other model ends here
  return common;
}

// Warns of rows that look like errors, in the aim and among the chosen rows.
void warn_of_errors(const PoolChoice& pool, const PoolFile& file, const Labelled& labelled, std::span<const double> aim,
                    std::span<const std::size_t> rows) {
  if (!aim.empty()) {
    std::vector<double> others = pool.inputs(rows_to_compare(file.num_rows()));
    others.insert(others.end(), labelled.inputs.begin(), labelled.inputs.end());
    warn_of_aim(aim, others, labelled.encoding);
  }
  warn_of_outliers(pool.usual(), labelled.encoding, rows, pool.inputs(rows), false);
}

void run_suggest(const SuggestArguments& arguments) {
  if (!arguments.mixture.empty()) {
    run_suggest_mixture(arguments);
    return;
  }
  check_arguments(arguments);
  const CampaignSettings settings = settings_of(arguments);
  PoolFile file(arguments.tables.pool);
  Machine machine{.threads = ThreadPool(arguments.threads), .device = open_device(arguments.device)};
  std::optional<Ensemble> model;
  if (!arguments.fitted.empty()) {
    model = Ensemble::load(arguments.fitted);
    check_columns(arguments, model->columns());
  }
  const Labelled labelled = read_labelled(arguments, model, file);
  PoolChoice pool(file, settings, labelled.input_names, labelled.inputs);
  if (!model) {
    model = fit_model(arguments, labelled, arguments.fit.ensemble, kFirstRound, machine);
  }
  pool.check_by(*model);
  const std::vector<double> aim = read_aim(arguments, *model, labelled.encoding);
  const AcquisitionTask task{.model = *model,
                             .training = {labelled.inputs, labelled.targets},
                             .stream = choice_stream(arguments.fit.ensemble.seed, kFirstRound),
                             .executor = &machine.threads,
                             .aim = aim,
                             .device = scores_of(machine.device.get())};
  const Acquisition& acquisition = settings.acquisition;
  Suggestion suggestion{.acquisition = acquisition.text(),
                        .model = std::string(model_name(model->options().model)),
                        .seed = arguments.fit.ensemble.seed};
  suggestion.choice = pool.choose(task, arguments.silent());
  suggestion.num_candidates = pool.num_candidates();
  suggestion.among = among_text(pool.num_open(), pool.num_candidates(), pool.has_conditions());
  const std::vector<std::size_t>& rows = suggestion.choice.rows;
  const std::vector<double> cost = pool.costs(rows);
  suggestion.why = reasons(*model, pool.inputs(rows),
                           {.labelled = labelled.inputs,
                            .cost = cost,
                            .method = &acquisition.info(),
                            .scores = suggestion.choice.scores,
                            .aim = !aim.empty(),
                            .usual = pool.usual(),
                            .executor = &machine.threads});
  suggestion.sentence = choice_sentence(settings, task, pool, suggestion.choice);
  suggestion.rows = file.table(rows);
  suggestion.stable_rows = find_stable(arguments, labelled, suggestion.choice, task, pool, machine);
  write_suggestion(arguments.output, suggestion);
  if (!arguments.silent()) {
    warn_of_errors(pool, file, labelled, aim, rows);
  }
  if (!arguments.quiet && acquisition.info().uses_training && labelled.inputs.empty()) {
    fmt::print(stderr, "{} chose without knowing the labelled rows; --labelled tells it\n", acquisition.text());
  }
  if (arguments.json) {
    print_suggestion_json(arguments.output, suggestion);
  } else if (!arguments.quiet) {
    print_suggestion(arguments.output, suggestion);
  }
}

}  // namespace

void add_suggest(Command& app) {
  Command& command = app.add(
      "suggest", "Choose the rows of a pool most worth labelling, and say why",
      "  dissent suggest --labelled L.csv --pool P.csv --targets y --batch 10 --output next.csv\n"
      "  dissent suggest --labelled L.csv --pool P.csv --targets y --aim future.csv --cost hours --output next.csv\n"
      "  dissent suggest --fitted y.model --pool P.csv --output next.csv\n"
      "  dissent suggest --mixture predictions.npz --output next.csv");
  const auto arguments = std::make_shared<SuggestArguments>();
  command.option("--labelled", arguments->tables.labelled,
                 {.help = "Rows whose targets are known; a model is fitted to them", .shown = "FILE"});
  command.option("--pool", arguments->tables.pool,
                 {.help = "Rows to choose from, with the same inputs", .shown = "FILE"});
  add_aim_option(command, arguments->tables.aim);
  add_column_options(command, arguments->tables.columns, Need::kOptional);
  command.option("--fitted", arguments->fitted,
                 {.help = "A model of 'dissent fit', instead of fitting one", .shown = "MODEL"});
  command.option(
      "--mixture", arguments->mixture,
      {.help = "Predictions of any ensemble, as 'score' takes them, instead of model and pool", .shown = "FILE.npz"});
  add_choice_options(command, arguments->choice);
  command.option("-o,--output", arguments->output,
                 {.help = "The rows chosen, best first; - is standard output", .shown = "OUT.csv"}, Need::kRequired);
  command.flag("--once", arguments->once,
               "Skip the second fit, which shows how many rows another fit would also choose");
  add_fit_options(command, arguments->fit, arguments->given_fit);
  add_threads(command, arguments->threads);
  add_device(command, arguments->device);
  add_json(command, arguments->json);
  add_quiet(command, arguments->quiet);
  command.files([arguments] {
    const TablePaths& tables = arguments->tables;
    CommandFiles files{.read = {tables.pool, tables.labelled, tables.aim, arguments->fitted},
                       .written = {arguments->output}};
    files.add_read_parts(arguments->mixture);
    return files;
  });
  command.run([arguments] { run_suggest(*arguments); });
}

}  // namespace dissent::cli
