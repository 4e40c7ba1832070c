// Times the choice of 10 rows, prediction included, on one thread: acquisition_bench FOLDER
// Writes the models and rows it used to FOLDER, so that acquisition_bench.py can run the peers on the same, and
// prints the rows it chose. acquisition_bench FOLDER stream: the choice from 10 million rows that are never in memory
// together.
#include <cstdio>
#include <fstream>
#include <string>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/array/npy.hpp"
#include "dissent/base/names.hpp"
#include "dissent/ensemble/fit.hpp"
#include "timing.hpp"

namespace dissent::bench {
namespace {

struct Size {
  Model model;
  std::size_t num_inputs;
  std::size_t num_outputs;
};

std::vector<double> normal_rows(std::size_t num_rows, std::size_t num_columns, std::uint64_t index) {
  std::vector<double> values(num_rows * num_columns);
  Stream(1, Purpose::kTest, index).fill_normal(values);
  return values;
}

// Networks of the paper's sizes with drawn weights, doubled so that components differ as much as trained ones.
Ensemble drawn_model(const Size& shape) {
  const auto unit = [](std::size_t n) { return Scaling{std::vector<double>(n, 0.0), std::vector<double>(n, 1.0)}; };
  EnsembleOptions options;
  options.model = shape.model;
  Ensemble model(options, {numbered_names("x", shape.num_inputs), numbered_names("y", shape.num_outputs),
                           unit(shape.num_inputs), unit(shape.num_outputs)});
  for (float& parameter : model.parameters().first(model.flow_begin())) {
    parameter *= 2;
  }
  return model;
}

void write_rows(const std::string& path, const std::vector<double>& values, std::size_t num_columns) {
  write_npy(path, ArrayView(std::span<const double>(values), {values.size() / num_columns, num_columns}));
}

// Of default candidates, with and without 200 rows that it is aimed at.
void run_aim(const std::string& name, const Ensemble& model, std::span<const double> candidates) {
  const std::vector<double> aim = normal_rows(200, model.num_input_columns(), 3);
  for (const bool aimed : {false, true}) {
    AcquisitionTask task{
        .model = model, .training = {}, .batch = 10, .stream = Stream(1, Purpose::kAcquire), .aleatoric = false};
    task.aim = aimed ? std::span<const double>(aim) : std::span<const double>();
    const Acquisition acquisition = Acquisition::parse("aim");
    print(name + (aimed ? " aim, 200 rows" : " aim"), measure([&] { choose(acquisition, task, candidates); }, 5, 0.5));
  }
}

// A process of 11 outputs, fitted to 200 rows of drawn networks.
void run_process() {
  const Ensemble source = drawn_model({Model::kPne, 14, 11});
  const std::vector<double> inputs = normal_rows(200, 14, 2);
  const std::vector<double> targets = source.sample(inputs, 1, 1);
  EnsembleOptions options;
  options.model = Model::kGp;
  const Ensemble model = fit(options, {}, {numbered_names("x", 14), numbered_names("y", 11), inputs, targets}).model;
  run_aim("gp11, 2,000 candidates", model, normal_rows(2'000, 14, 1));
}

void run_shape(const std::string& folder, const Size& shape) {
  const Ensemble model = drawn_model(shape);
  const std::string name = std::string(model_name(shape.model)) + std::to_string(shape.num_outputs);
  const std::vector<double> candidates = normal_rows(10'000, shape.num_inputs, 1);
  const std::vector<double> training = normal_rows(200, shape.num_inputs, 2);
  model.save(folder + "/" + name + ".safetensors");
  write_rows(folder + "/" + name + "_candidates.npy", candidates, shape.num_inputs);
  write_rows(folder + "/" + name + "_training.npy", training, shape.num_inputs);
  const AcquisitionTask task{.model = model,
                             .training = {training, {}},
                             .batch = 10,
                             .stream = Stream(1, Purpose::kAcquire),
                             .aleatoric = false};
  const auto measure_method = [&](const char* method, std::size_t num_candidates) {
    const Acquisition acquisition = Acquisition::parse(method);
    const std::span<const double> rows = std::span(candidates).first(num_candidates * shape.num_inputs);
    Choice choice;
    const Timing timing = measure([&] { choice = choose(acquisition, task, rows); }, 5, 0.5);
    print(name + " " + method, timing);
    std::printf("{\"name\": \"%s %s chosen\", \"rows\": [", name.c_str(), method);
    for (std::size_t k = 0; k < choice.rows.size(); ++k) {
      std::printf("%s%zu", k == 0 ? "" : ", ", choice.rows[k]);
    }
    std::printf("]}\n");
  };
  const bool large = shape.num_outputs > 100;
  for (const char* method : {"kl", "bhattacharyya", "kl-joint", "bhattacharyya-joint"}) {
    measure_method(method, 10'000);
  }
  run_aim(name, model, candidates);
  if (shape.model == Model::kPne) {
    measure_method("badge", large ? 2'000 : 10'000);
    measure_method("lcmd", 10'000);
    measure_method("bait", large ? 300 : 1'000);
    measure_method("mc:5000", large ? 100 : 1'000);
    if (!large) {
      measure_method("batchbald:5000", 1'000);
    }
  }
}

// The most memory this program has held. (getrusage would count what its parent held when it was forked.)
double most_megabytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) {
      return std::stod(line.substr(6)) / 1024;
    }
  }
  return 0;
}

// Rows are made as they are read, by a generator that costs next to nothing.
void run_stream() {
  constexpr std::size_t kRows = 10'000'000;
  const Ensemble model = drawn_model({Model::kPne, 4, 3});
  const auto source = [&](std::size_t& next) {
    return [&next](std::span<double> rows) {
      const std::size_t count = std::min(rows.size() / 4, kRows - next);
      std::uint64_t state = next;
      for (std::size_t k = 0; k < 4 * count; ++k) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        rows[k] = static_cast<double>(state >> 40) * 0x1p-22 - 2;
      }
      next += count;
      return count;
    };
  };
  const AcquisitionTask task{model, {}, 10, Stream(1, Purpose::kAcquire), nullptr};
  for (const char* method : {"kl", "bhattacharyya"}) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t next = 0;
    choose_streaming(Acquisition::parse(method), task, source(next));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("{\"name\": \"stream %s\", \"seconds\": %.4g, \"megabytes\": %.4g}\n", method, seconds,
                most_megabytes());
  }
}

}  // namespace
}  // namespace dissent::bench

int main(int argc, char** argv) {
  using namespace dissent;
  if (argc == 3 && std::string(argv[2]) == "stream") {
    bench::run_stream();
    return 0;
  }
  if (argc != 2) {
    std::fprintf(stderr, "usage: acquisition_bench FOLDER [stream]\n");
    return 2;
  }
  bench::run_process();
  for (const Model model : {Model::kPne, Model::kFlow}) {
    bench::run_shape(argv[1], {model, 14, 11});
    bench::run_shape(argv[1], {model, 274, 257});
  }
  return 0;
}
