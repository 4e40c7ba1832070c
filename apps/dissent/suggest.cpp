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
#include "dissent/base/version.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/read_table.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kComparedRows = 1000;  // of the pool, for the sentence on what drove the choice
constexpr double kHardlyMore = 1.2;          // times the pool's disagreement

struct Arguments {
  TableOptions tables;
  std::string fitted;
  ChoiceOptions choice;
  FitOptions fit;
  std::string output;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

std::vector<double> finite_inputs(const Table& table, const std::vector<std::string>& names) {
  check(table.num_rows > 0, "{}: has no rows", table.source);
  std::vector<double> values = table.matrix(names);
  for (std::size_t k = 0; k < values.size(); ++k) {
    check(std::isfinite(values[k]), "{}: row {} column '{}' is {}; numbers must be finite", table.source,
          k / names.size() + 1, names[k % names.size()], values[k]);
  }
  return values;
}

struct Labelled {
  std::vector<double> inputs;
  std::vector<double> targets;
};

Ensemble fit_model(const Arguments& arguments, const Table& table, const std::vector<std::string>& input_names,
                   const Labelled& rows, ThreadPool& pool) {
  std::unique_ptr<Progress> progress;
  const auto show = [&](const FitProgress& state) {
    if (!progress) {
      progress = std::make_unique<Progress>("fit", state.epochs, arguments.quiet || arguments.json);
    }
    progress->update(state.epoch, loss_text(state));
    return true;
  };
  try {
    return fit(arguments.fit.ensemble(), arguments.fit.train(),
               {input_names, arguments.tables.columns.targets, rows.inputs, rows.targets}, {&pool, show})
        .model;
  } catch (const InputError& error) {
    fail_fit(table.source, error);
  }
}

// Of a single row everything is cheap; methods that weigh rows against each other, or sample, take a part of the pool.
std::size_t num_candidates(const Arguments& arguments, const Acquisition& acquisition, std::size_t num_outputs) {
  if (!arguments.choice.candidates.empty()) {
    return learn_options(arguments.fit, arguments.choice).candidates;
  }
  const bool cheap = acquisition.streams() && acquisition.kind() != AcquisitionKind::kMonteCarlo;
  return cheap ? 0 : acquisition.default_candidates(num_outputs);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Disagreement and noise of rows by the same measure, whatever chose them.
Choice measured(const AcquisitionTask& task, std::span<const double> inputs) {
  return choose(Acquisition::parse("random"), task, inputs);
}

// "7 of 10 lie outside the labelled range of 'x'", for the input where it is most; empty where it is none.
std::string outside_text(const Ensemble& model, std::span<const double> chosen, std::span<const double> labelled) {
  const std::size_t C = model.num_inputs();
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
std::string reason(const Acquisition& acquisition, AcquisitionTask task, std::span<const double> pool_inputs,
                   std::span<const double> chosen) {
  const std::size_t C = task.model.num_inputs();
  task.batch = std::min(kComparedRows, pool_inputs.size() / C);
  const Choice usual = measured(task, pool_inputs);
  task.batch = chosen.size() / C;
  const Choice ours = measured(task, chosen);
  const double disagreement = mean(ours.epistemic);
  const double of_pool = mean(usual.epistemic);
  const std::string numbers = fmt::format(
      "{:.3g} nats on average where the pool has {:.3g} (noise: {:.3g} against {:.3g}){}", disagreement, of_pool,
      mean(ours.aleatoric), mean(usual.aleatoric), outside_text(task.model, chosen, task.training.inputs));
  if (acquisition.kind() == AcquisitionKind::kRandom) {
    return "Drawn at random; the members disagree about these rows by " + numbers + ".";
  }
  if (disagreement < kHardlyMore * of_pool) {
    return "The members disagree about these rows hardly more than about the rest of the pool: " + numbers + ".";
  }
  return fmt::format("Chosen because the members disagree about these rows {:.1f} times as much as usual: {}.",
                     disagreement / of_pool, numbers);
}

template <class Writer>
void put_rows(Writer& writer, const Table& pool, const Choice& choice) {
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    const std::size_t row = choice.rows[k];
    writer.field(row);
    for (const Column& column : pool.columns) {
      if (std::ranges::binary_search(column.missing_rows, row)) {
        writer.missing();
      } else if (column.is_text()) {
        writer.field(std::string_view(column.text[row]));
      } else {
        writer.field(column.values[row]);
      }
    }
    writer.field(choice.scores[k]);
    writer.field(choice.epistemic[k]);
    writer.field(choice.aleatoric[k]);
    writer.end_row();
  }
}

std::vector<std::string> output_names(const Table& pool) {
  std::vector<std::string> names{"row"};
  for (const Column& column : pool.columns) {
    names.push_back(column.name);
  }
  names.insert(names.end(), {"score", "epistemic", "aleatoric"});
  for (const char* own : {"row", "score", "epistemic", "aleatoric"}) {
    check(!pool.has(own), "{}: has a column '{}', a name that the output needs for itself; rename it", pool.source,
          own);
  }
  return names;
}

void write_output(const Arguments& arguments, const Table& pool, const Choice& choice) {
  if (arguments.output == "-") {
    CsvText text("standard output", output_names(pool));
    put_rows(text, pool, choice);
    print(text.text());
    return;
  }
  CsvWriter writer(arguments.output, output_names(pool));
  put_rows(writer, pool, choice);
  writer.commit();
}

void print_report(const Arguments& arguments, const Choice& choice, std::size_t num_candidates,
                  const std::string& why) {
  if (arguments.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < choice.rows.size(); ++k) {
      rows.push_back({{"row", choice.rows[k]},
                      {"score", choice.scores[k]},
                      {"epistemic", choice.epistemic[k]},
                      {"aleatoric", choice.aleatoric[k]}});
    }
    print_json({{"version", kVersion},
                {"acquisition", arguments.choice.acquisition},
                {"candidates", num_candidates},
                {"rows", rows},
                {"reason", why},
                {"seed", arguments.fit.seed},
                {"output", arguments.output}});
  } else if (!arguments.quiet && arguments.output != "-") {
    print_line("{}: {} of {} rows", arguments.output, choice.rows.size(), num_candidates);
    print_line("{}", why);
  }
}

void run_suggest(const Arguments& arguments) {
  const Acquisition acquisition = Acquisition::parse(arguments.choice.acquisition);
  arguments.fit.ensemble();  // says now what is wrong with them
  arguments.fit.train();
  check(!arguments.tables.pool.empty(), "--pool is needed: a table of rows to choose from");
  check(!arguments.json || arguments.output != "-", "--json and --output - both write to standard output");
  if (arguments.output != "-") {
    check_writable(arguments.output);
  }
  ThreadPool threads(arguments.threads);
  std::optional<Ensemble> model;
  std::vector<std::string> input_names;
  Labelled labelled;
  if (!arguments.fitted.empty()) {
    model = Ensemble::load(arguments.fitted);
    input_names = model->columns().inputs;
  }
  check(model || (!arguments.tables.labelled.empty() && !arguments.tables.columns.targets.empty()),
        "give --labelled and --targets to fit a model, or one fitted before by --fitted");
  if (!arguments.tables.labelled.empty()) {
    const Table table = read_table(arguments.tables.labelled);
    input_names = model ? input_names : arguments.tables.columns.input_names(table);
    labelled.inputs = finite_inputs(table, input_names);
    labelled.targets = finite_inputs(table, model ? model->columns().targets : arguments.tables.columns.targets);
    if (!model) {
      output_names(read_table(arguments.tables.pool));  // a fit takes longer than to find a mistake there
      model = fit_model(arguments, table, input_names, labelled, threads);
    }
  }
  const Table pool = read_table(arguments.tables.pool);
  const std::vector<double> inputs = finite_inputs(pool, input_names);
  check(arguments.choice.batch <= pool.num_rows, "--batch: {} rows are wanted; {} has {}", arguments.choice.batch,
        pool.source, pool.num_rows);
  const Stream stream(arguments.fit.seed, Purpose::kAcquire);
  const std::size_t wanted = num_candidates(arguments, acquisition, model->num_outputs());
  const std::vector<std::size_t> candidates =
      draw_candidates(pool.num_rows, wanted == 0 ? 0 : std::max(wanted, arguments.choice.batch), stream);
  const AcquisitionTask task{.model = *model,
                             .training = {labelled.inputs, labelled.targets},
                             .batch = arguments.choice.batch,
                             .stream = stream,
                             .pool = &threads};
  Choice choice = choose(acquisition, task, pick_rows(inputs, input_names.size(), candidates));
  for (std::size_t& row : choice.rows) {
    row = candidates[row];
  }
  write_output(arguments, pool, choice);
  print_report(arguments, choice, candidates.size(),
               reason(acquisition, task, inputs, pick_rows(inputs, input_names.size(), choice.rows)));
}

}  // namespace

void add_suggest(CLI::App& app) {
  CLI::App* command = add_command(
      app, "suggest", "Choose the rows of a pool that are worth a label most, and say why",
      "  dissent suggest --labelled L.csv --pool P.csv --targets y --batch 10 --acquisition kl --output next.csv\n"
      "  dissent suggest --fitted y.model --pool P.csv --output next.csv");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("--labelled", arguments->tables.labelled, "Rows whose targets are known; a model is fitted to them")
      ->option_text("FILE")
      ->check(not_empty);
  command->add_option("--pool", arguments->tables.pool, "Rows to choose from, with the same inputs")
      ->option_text("FILE")
      ->check(not_empty);
  add_column_options(*command, arguments->tables.columns, false);
  command->add_option("--fitted", arguments->fitted, "A model of 'dissent fit', in place of a fit")
      ->option_text("MODEL")
      ->check(not_empty);
  add_choice_options(*command, arguments->choice);
  command->add_option("-o,--output", arguments->output, "The rows chosen, best first; - is standard output")
      ->option_text("OUT.csv")
      ->required()
      ->check(not_empty);
  add_fit_options(*command, arguments->fit);
  add_threads(*command, arguments->threads);
  add_json(*command, arguments->json);
  add_quiet(*command, arguments->quiet);
  command->callback([arguments] { run_suggest(*arguments); });
}

}  // namespace dissent::cli
