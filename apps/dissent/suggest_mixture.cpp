#include "suggest_mixture.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "console.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/categorical.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/mixture/class_file.hpp"
#include "dissent/mixture/mixture_file.hpp"
#include "dissent/mixture/shape_doubt.hpp"
#include "dissent/table/csv.hpp"
#include "options.hpp"
#include "suggest_report.hpp"

namespace dissent::cli {
namespace {

struct Chosen {
  std::string acquisition;
  Choice choice;  // rows of the file
  std::size_t num_candidates = 0;
  std::size_t num_rows = 0;
  Space space = Space::kOutput;
  std::string who = "The components";
  std::string what = "these rows";

  // Names and values of the columns. Noise in base space is left out: it would not be in the user's units.
  std::vector<std::pair<std::string, const std::vector<double>*>> columns() const {
    std::vector<std::pair<std::string, const std::vector<double>*>> all{{"score", &choice.scores},
                                                                        {"epistemic", &choice.epistemic}};
    if (space == Space::kOutput) {
      all.emplace_back("aleatoric", &choice.aleatoric);
    }
    return all;
  }
};

Stream stream_of(const CampaignSettings& settings) { return choice_stream(settings.fit.ensemble.seed, 1); }

// Existing predictions cost nothing to look at: takes all rows, except for methods that sample or compare pairs of
// rows.
std::vector<std::size_t> candidate_rows(const CampaignSettings& settings, const Acquisition& acquisition,
                                        std::size_t num_outputs, std::size_t num_rows) {
  const bool cheap = acquisition.streams() && !acquisition.info().samples;
  const std::size_t wanted = std::holds_alternative<MethodDefault>(settings.candidates) && cheap
                                 ? num_rows
                                 : num_candidates(settings.candidates, acquisition, num_outputs, num_rows);
  return draw_candidates(settings.candidates, wanted == 0 ? 0 : std::max(wanted, settings.batch), num_rows,
                         std::identity(), stream_of(settings));
}

Chosen choose_from(const MixtureSuggestion& asked, const MixtureFile& file) {
  const CampaignSettings& settings = asked.settings;
  MixtureReader<double> reader(file);
  const MixtureView<double> pool = reader.read(0, file.num_inputs);
  reader.validate(pool, 0);
  const Ensemble model = given_ensemble(pool);
  ThreadPool threads(asked.threads);
  const AcquisitionTask task{.model = model,
                             .training = {},
                             .batch = settings.batch,
                             .stream = stream_of(settings),
                             .executor = &threads,
                             .ranking = settings.ranking};
  const std::vector<std::size_t> rows =
      candidate_rows(settings, settings.acquisition, file.num_outputs, file.num_inputs);
  Choice choice = choose(settings.acquisition, task, std::vector<double>(rows.begin(), rows.end()));
  for (std::size_t& row : choice.rows) {
    row = rows[row];
  }
  return {.acquisition = settings.acquisition.text(),
          .choice = std::move(choice),
          .num_candidates = rows.size(),
          .num_rows = file.num_inputs,
          .space = file.space};
}

Chosen choose_from(const MixtureSuggestion& asked, const ClassFile& file) {
  const CampaignSettings& settings = asked.settings;
  const std::string name = asked.acquisition.empty() ? "bhattacharyya-joint" : asked.acquisition;
  const Acquisition like = Acquisition::parse(name == "exact" ? "kl" : name);
  const std::vector<std::size_t> rows = candidate_rows(settings, like, file.num_classes, file.num_inputs);
  ClassReader reader(file);
  const CategoricalView classes = reader.read(rows);
  ThreadPool threads(asked.threads);
  Choice choice = choose_classes(name, {.classes = classes,
                                        .batch = settings.batch,
                                        .stream = stream_of(settings),
                                        .executor = &threads,
                                        .ranking = settings.ranking});
  for (std::size_t& row : choice.rows) {
    row = rows[row];
  }
  return {.acquisition = name,
          .choice = std::move(choice),
          .num_candidates = rows.size(),
          .num_rows = file.num_inputs,
          .who = fmt::format("The {}", counted(file.num_components, "component")),
          .what = fmt::format("the class of these rows, one of {},", file.num_classes)};
}

template <class Writer>
void put_rows(Writer& writer, const Chosen& chosen) {
  for (std::size_t k = 0; k < chosen.choice.rows.size(); ++k) {
    writer.field(chosen.choice.rows[k]);
    for (const auto& [name, values] : chosen.columns()) {
      writer.field((*values)[k]);
    }
    writer.end_row();
  }
}

void write_chosen(const std::string& output, const Chosen& chosen) {
  std::vector<std::string> names{"row"};
  for (const auto& [name, values] : chosen.columns()) {
    names.push_back(name);
  }
  if (output == "-") {
    CsvText text("standard output", names);
    put_rows(text, chosen);
    print(text.text());
    return;
  }
  CsvWriter writer(output, names);
  put_rows(writer, chosen);
  writer.commit();
}

void print_chosen(const MixtureSuggestion& asked, const Chosen& chosen) {
  const Choice& choice = chosen.choice;
  if (asked.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < choice.rows.size(); ++k) {
      nlohmann::ordered_json row{{"row", choice.rows[k]}};
      for (const auto& [name, values] : chosen.columns()) {
        row[name] = (*values)[k];
      }
      rows.push_back(row);
    }
    print_json({{"version", kVersion},
                {"acquisition", chosen.acquisition},
                {"candidates", chosen.num_candidates},
                {"rows", rows},
                {"seed", asked.settings.fit.ensemble.seed},
                {"output", asked.output}});
  } else if (!asked.quiet && asked.output != "-") {
    const double sum = std::accumulate(choice.epistemic.begin(), choice.epistemic.end(), 0.0);
    print_line("{}: {} of {}", asked.output, choice.rows.size(),
               among_text(chosen.num_rows, chosen.num_candidates, false));
    print_line("{} disagree about {} by {:.3g} nats on average.", chosen.who, chosen.what,
               sum / static_cast<double>(choice.rows.size()));
  }
}

// `arrays`: the names of those that are read, "FILE.npz[mean]".
template <class File>
void suggest_from(const MixtureSuggestion& asked, const File& file, const std::vector<std::string>& arrays) {
  check(asked.settings.batch <= file.num_inputs, "--batch: {} rows are wanted; {} has {}", asked.settings.batch,
        arrays.front(), file.num_inputs);
  if (asked.output != "-") {
    check_writable(asked.output);
  }
  if (const std::string doubt = shape_doubt(file.num_inputs, file.num_components); !doubt.empty() && !asked.quiet) {
    fmt::print(stderr, "{}: {}\n", arrays.front(), doubt);
  }
  const Chosen chosen = choose_from(asked, file);
  write_chosen(asked.output, chosen);
  print_chosen(asked, chosen);
}

}  // namespace

void suggest_from_mixture(const MixtureSuggestion& asked) {
  check_candidates(asked.settings.candidates, asked.settings.batch);
  check_csv_output(asked.output);
  check(!asked.json || asked.output != "-", "--json and --output - both write to standard output");
  if (has_classes(asked.mixture)) {
    const ClassFile file = open_classes(asked.mixture);
    suggest_from(asked, file, {file.probabilities.source()});
    return;
  }
  const MixtureFile file = open_mixture(asked.mixture);
  check(!file.full, "{}: has covariances; rows can be chosen by standard deviations alone", file.spread.source());
  suggest_from(asked, file, {file.mean.source(), file.spread.source()});
}

}  // namespace dissent::cli
