// dissent score: the uncertainty of predictions in a file, in one pass at constant memory.
//
// Inputs are read, scored and written a chunk at a time, in order; the threads share the work inside a chunk. Chunks
// depend only on the shape of the input, so any number of threads gives the same bytes. refine compares every input
// with every other, so it takes the whole input as one chunk.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/device/device.hpp"
#include "dissent/mixture/class_file.hpp"
#include "dissent/mixture/shape_doubt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "score_rows.hpp"
#include "score_source.hpp"
#include "score_summary.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxChunk = std::size_t{1} << 16;  // inputs, so that results stay small if inputs are small
constexpr std::size_t kSlowChunk = 1024;                 // inputs, for estimators that take a while on each
constexpr std::size_t kBlock = 64;                       // inputs that the estimators take at a time
constexpr std::size_t kTopShown = 10;                    // without --top

std::unique_ptr<ScoreSource> open_source(const ScoreOptions& options) {
  std::unique_ptr<ScoreSource> source = has_classes(options.input) ? class_source(options) : gaussian_source(options);
  for (const ScoreMethod& method : source->methods()) {
    check(std::ranges::count(source->methods(), method.name, &ScoreMethod::name) == 1,
          "--estimator: '{}' is given twice", method.name);
  }
  return source;
}

void check_score_output(const ScoreOptions& options) {
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

// What takes the results, one chunk after the other.
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

// Prints what a reader of the numbers should know about the input, on standard error.
void print_notes(const ScoreSource& source) {
  const ScoreShape& shape = source.shape();
  if (const std::string doubt = shape_doubt(shape.num_inputs, shape.num_components); !doubt.empty()) {
    fmt::print(stderr, "{}: {}\n", source.arrays().front(), doubt);
  } else if (shape.weights.entropy == 0) {
    fmt::print(stderr, "{}\n", kOneWeightNote);
  }
  if (shape.space == Space::kBase) {
    fmt::print(stderr, "{}\n", kBaseSpaceNote);
  }
}

void score_all(ScoreSource& source, const ScoreOptions& options, Receivers& receivers) {
  ThreadPool threads(options.threads);
  const std::shared_ptr<Device> device = open_device(options.device);
  Progress progress("score", source.shape().num_inputs, options.quiet);
  source.run(threads, scores_of(device.get()), [&](std::size_t begin, const std::vector<Uncertainty>& results) {
    receivers.add(begin, results);
    progress.update(begin + results.front().size());
  });
}

void run_score(const ScoreOptions& options) {
  const std::unique_ptr<ScoreSource> source = open_source(options);
  check_score_output(options);
  const ScoreShape& shape = source->shape();
  const bool ranked = options.top.has_value();
  const std::size_t num_top = std::min(options.top.value_or(kTopShown), std::max<std::size_t>(1, shape.num_inputs));
  const std::vector<std::string> names = column_names(source->methods(), shape.space);
  const std::size_t num_rows = ranked ? std::min(num_top, shape.num_inputs) : shape.num_inputs;
  std::unique_ptr<ScoreWriter> writer;  // made before the work, so that it fails early if it must
  if (!options.output.empty()) {
    writer = make_score_writer(options.output, {names, num_rows, ranked});
  }
  Receivers receivers{names, std::vector<ColumnSummary>(names.size()), TopScores(num_top, names.size()), shape.space,
                      ranked ? nullptr : writer.get()};
  score_all(*source, options, receivers);

  const Rows top = receivers.top.sorted();
  if (writer) {
    if (ranked) {
      writer->write(top);
    }
    writer->commit();
  }
  if (!options.quiet) {
    print_notes(*source);
  }
  const ScoreSummary summary{options.input, options.output, shape, source->methods(), names, receivers.summaries, top};
  if (options.json) {
    print_json(summary_json(summary));
  } else if (!options.quiet && options.output != "-") {
    print(summary_text(summary));
  }
}

}  // namespace

std::size_t chunk_size(std::size_t bytes_per_input, bool slow) {
  const std::size_t fitting = std::max<std::size_t>(1, kChunkBytes / std::max<std::size_t>(1, bytes_per_input));
  const std::size_t size = std::min(fitting, slow ? kSlowChunk : kMaxChunk);
  return size < kBlock ? size : size / kBlock * kBlock;
}

void add_score(Command& app) {
  Command& command =
      app.add("score", "Epistemic, aleatoric and total uncertainty of an ensemble's predictions",
              "  dissent score ensemble.npz\n"
              "  dissent score mean.npy,stddev.npy --estimator kl,bhattacharyya --output scores.csv\n"
              "  dissent score ensemble.npz --estimator refine --top 10 --json\n"
              "  dissent score classifier.npz --estimator exact,kl\n"
              "Arrays: mean [N, M, D] and stddev [N, M, D] or covariance [N, M, D, D]; weights [M], if not uniform.\n"
              "N inputs, M components, D outputs; [N, M] will do for D = 1. Input is streamed, except for refine.\n"
              "For a classifier: probabilities [N, M, K] of K classes instead.");
  const auto options = std::make_shared<ScoreOptions>();
  command.argument("INPUT", options->input, "FILE.npz, or MEAN.npy,STDDEV.npy, or MEAN.npy,COVARIANCE.npy");
  command.texts(
      "-e,--estimator", options->estimators,
      {.help = "Estimators, separated by commas; see 'dissent estimators'. For classes: exact, or a divergence",
       .shown = "NAME=kl"});
  command.option("-w,--weights", options->weights,
                 {.help = "Weights of the components: 0.5,0.3,0.2 or a .npy or .csv file", .shown = "W"});
  command.option(
      "-k,--top", options->top,
      {.help = "Only the K most uncertain, by log_deficit of the first estimator", .shown = "K", .least = 1});
  command.option("-o,--output", options->output,
                 {.help = "Scores as .csv, .npy or .npz; - is CSV on standard output", .shown = "FILE"});
  add_threads(command, options->threads);
  add_device(command, options->device, "Where pairwise estimates are computed: cpu, cuda, or cuda:N for card N");
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
