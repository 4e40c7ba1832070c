// dissent score: the uncertainty of predictions that someone has in a file, in one pass over it at constant memory.
//
// Inputs are read, scored and written a chunk at a time, in order; the threads share the work inside a chunk. Chunks
// depend on the shape of the input alone, so any number of threads gives the same bytes. refine compares every input
// with every other: with it, the whole input is one chunk.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/mixture/mixture_file.hpp"
#include "dissent/mixture/shape_doubt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "score_rows.hpp"
#include "score_summary.hpp"
#include "score_weights.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxChunk = std::size_t{1} << 16;  // inputs, so that results stay small where inputs are
constexpr std::size_t kSlowChunk = 1024;                 // inputs, for estimators that take a while on each
constexpr std::size_t kBlock = 64;                       // inputs that the estimators take at a time
constexpr std::size_t kTopShown = 10;                    // where --top does not say

struct ScoreOptions {
  std::string input;
  std::vector<std::string> estimators{"kl"};
  std::string weights;
  std::optional<std::size_t> top;
  std::string output;
  int threads = 0;
  std::uint64_t seed = 0;
  bool json = false;
  bool quiet = false;
};

Estimator parse_name(const std::string& text, const ScoreOptions& options) {
  if (text == "refine" && options.top) {
    return parse_estimator(fmt::format("refine:{}", *options.top));
  }
  check(text != "refine",
        "--estimator: 'refine' needs the number of inputs to rank: write 'refine:10' or add --top 10");
  std::vector<std::string> known;
  for (const EstimatorInfo& info : estimators()) {
    known.push_back(info.name);
  }
  const std::string stem = text.substr(0, text.find(':'));
  check(std::ranges::find(known, stem) != known.end(),
        "--estimator: '{}' is not known{} ('dissent estimators' lists all)", text, did_you_mean(stem, known));
  return parse_estimator(text);
}

std::vector<Estimator> parse_estimators(const ScoreOptions& options) {
  std::vector<Estimator> all;
  for (const std::string& text : options.estimators) {
    all.push_back(parse_name(text, options));
    const std::string name = all.back().name();
    const auto same = [&name](const Estimator& e) { return e.name() == name; };
    check(std::ranges::count_if(all, same) == 1, "--estimator: '{}' is given twice", name);
  }
  return all;
}

// Inputs per chunk: a whole number of the estimators' blocks where they fit.
std::size_t chunk_size(const MixtureFile& input, const std::vector<Estimator>& estimators) {
  if (std::ranges::any_of(estimators, [](const Estimator& e) { return e.info->ranks_inputs; })) {
    return std::max<std::size_t>(1, input.num_inputs);
  }
  const std::size_t fitting = std::max<std::size_t>(1, kChunkBytes / std::max<std::size_t>(1, input.bytes_per_input()));
  const bool slow = std::ranges::any_of(estimators, [](const Estimator& e) { return !e.info->by_pairs; });
  const std::size_t most = slow ? kSlowChunk : kMaxChunk;
  const std::size_t size = std::min(fitting, most);
  return size < kBlock ? size : size / kBlock * kBlock;
}

void check_output(const ScoreOptions& options) {
  if (options.output.empty()) {
    return;
  }
  check_output_name(options.output);
  check(!options.json || options.output != "-", "--output: - and --json would both print to standard output; give one");
}

void check_numbers(const std::vector<std::string>& names, const Columns& columns, std::size_t begin) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    for (std::size_t n = 0; n < columns[k].size(); ++n) {
      if (std::isnan(columns[k][n])) {
        fail_system("{} of input {} came out as NaN, which is a bug; please report it with this input", names[k],
                    begin + n);
      }
    }
  }
}

// What takes the results of a chunk, one after the other.
struct Receivers {
  std::vector<std::string> names;
  std::vector<ColumnSummary> summaries;
  TopScores top;
  Space space;
  ScoreWriter* all_rows;  // null: only the top, or nothing, is written

  void add(std::size_t begin, const std::vector<Uncertainty>& results) {
    Rows rows{{}, columns_of(results, space)};
    check_numbers(names, rows.columns, begin);
    for (std::size_t k = 0; k < summaries.size(); ++k) {
      summaries[k].add(rows.columns[k]);
    }
    top.add(begin, results.front(), rows.columns);
    if (all_rows != nullptr) {
      for (std::size_t n = 0; n < results[0].size(); ++n) {
        rows.index.push_back(begin + n);
      }
      all_rows->write(rows);
    }
  }
};

template <class T>
void score_chunks(const MixtureFile& input, const std::vector<Estimator>& estimators, const ScoreOptions& options,
                  Receivers& receivers) {
  ThreadPool threads(options.threads);
  Progress progress("score", input.num_inputs, options.quiet);
  MixtureReader<T> reader(input);
  const std::size_t step = chunk_size(input, estimators);
  for (std::size_t begin = 0; begin < input.num_inputs;) {
    const std::size_t end = begin + std::min(step, input.num_inputs - begin);
    const MixtureView<T> chunk = reader.read(begin, end);
    std::vector<Uncertainty> results;
    try {
      for (const Estimator& estimator : estimators) {
        results.push_back(estimate(estimator, chunk, {&threads, options.seed, begin}));
      }
    } catch (const InputError&) {
      // With several threads the first error in time wins; this names the first in the file instead.
      reader.validate(chunk, begin);
      throw;
    }
    receivers.add(begin, results);
    reader.release(begin, end);
    progress.update(end);
    begin = end;
  }
}

// What a reader of the numbers should know of the input, on standard error.
void print_notes(const MixtureFile& input) {
  if (const std::string doubt = shape_doubt(input.num_inputs, input.num_components); !doubt.empty()) {
    fmt::print(stderr, "{}: {}\n", input.mean.source(), doubt);
  } else if (input.weights.entropy == 0) {
    fmt::print(stderr, "{}\n", kOneWeightNote);
  }
  if (input.space == Space::kBase) {
    fmt::print(stderr, "{}\n", kBaseSpaceNote);
  }
}

void run_score(const ScoreOptions& options) {
  const std::vector<Estimator> estimators = parse_estimators(options);
  MixtureFile input = open_mixture(options.input, options.weights.empty());
  check_output(options);
  if (!options.weights.empty()) {
    input.weights = read_weights(options.weights, input.num_components);
  }

  const bool ranked = options.top.has_value();
  const std::size_t num_top = std::min(options.top.value_or(kTopShown), std::max<std::size_t>(1, input.num_inputs));
  const std::vector<std::string> names = column_names(estimators, input.space);
  const std::size_t num_rows = ranked ? std::min(num_top, input.num_inputs) : input.num_inputs;
  std::unique_ptr<ScoreWriter> writer;  // made before the work, so that it fails early if it must
  if (!options.output.empty()) {
    writer = make_score_writer(options.output, {names, num_rows, ranked});
  }
  Receivers receivers{names, std::vector<ColumnSummary>(names.size()), TopScores(num_top, names.size()), input.space,
                      ranked ? nullptr : writer.get()};
  if (input.single_precision()) {
    score_chunks<float>(input, estimators, options, receivers);
  } else {
    score_chunks<double>(input, estimators, options, receivers);
  }

  const Rows top = receivers.top.sorted();
  if (writer) {
    if (ranked) {
      writer->write(top);
    }
    writer->commit();
  }
  if (!options.quiet) {
    print_notes(input);
  }
  const ScoreSummary summary{options.input, options.output, input, estimators, names, receivers.summaries, top};
  if (options.json) {
    print_json(summary_json(summary));
  } else if (!options.quiet && options.output != "-") {
    print(summary_text(summary));
  }
}

}  // namespace

void add_score(Command& app) {
  Command& command =
      app.add("score", "Epistemic, aleatoric and total uncertainty of an ensemble's predictions",
              "  dissent score ensemble.npz\n"
              "  dissent score mean.npy,stddev.npy --estimator kl,bhattacharyya --output scores.csv\n"
              "  dissent score ensemble.npz --estimator refine --top 10 --json\n"
              "Arrays: mean [N, M, D] and stddev [N, M, D] or covariance [N, M, D, D]; weights [M], if not uniform.\n"
              "N inputs, M components, D outputs; [N, M] will do for D = 1. Input is streamed, except for refine.");
  const auto options = std::make_shared<ScoreOptions>();
  command.argument("INPUT", options->input, "FILE.npz, or MEAN.npy,STDDEV.npy, or MEAN.npy,COVARIANCE.npy");
  command.texts("-e,--estimator", options->estimators,
                {.help = "Estimators, by commas; see 'dissent estimators'", .shown = "NAME"});
  command.option("-w,--weights", options->weights,
                 {.help = "Weights of the components: 0.5,0.3,0.2 or a .npy or .csv file", .shown = "W"});
  command.option(
      "-k,--top", options->top,
      {.help = "Only the K most uncertain, by log_deficit of the first estimator", .shown = "K", .least = 1});
  command.option("-o,--output", options->output,
                 {.help = "Scores as .csv, .npy or .npz; - is CSV on standard output", .shown = "FILE"});
  add_threads(command, options->threads);
  add_seed(command, options->seed);
  add_json(command, options->json);
  add_quiet(command, options->quiet);
  command.files([options] {
    CommandFiles files{.read = {options->weights}, .written = {options->output}};
    files.add_read_parts(options->input);
    return files;
  });
  command.run([options] { run_score(*options); });
}

}  // namespace dissent::cli
