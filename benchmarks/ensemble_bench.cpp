// Times one ensemble of the paper's sizes: ensemble_bench FOLDER pne|flow NUM_INPUTS NUM_OUTPUTS, or ensemble_bench fit
//   step     every member on a batch of 256 rows of its own bootstrap sample, with the trainer as `fit` runs it
//   predict  10,000 rows of inputs to a mixture
//   mean     of the predictive distribution, for 200 rows of inputs, as campaigns use it for their error
//   choose   the ten of 10,000 candidates that kl, or bhattacharyya, finds most uncertain, prediction included
//   fit      a whole fit of hetero, preset paper, 600 rows in one batch
// Prints one line of JSON per measurement (timing.hpp). FOLDER receives the model and its predictions for a few rows,
// so that the peer (ensemble_bench.py) can show that it computes the same.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "dissent/array/npz.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/ensemble/trainer.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/problem/one_dimensional.hpp"
#include "timing.hpp"

namespace dissent::bench {
namespace {

constexpr std::size_t kTrainingRows = 2048;  // eight steps an epoch
constexpr std::size_t kCandidates = 10'000;
constexpr std::size_t kMeanRows = 200;
constexpr std::size_t kCheckedRows = 512;
constexpr std::size_t kChosen = 10;

std::vector<double> uniform_rows(std::size_t num_rows, std::size_t num_columns, std::uint64_t index) {
  Stream stream(1, Purpose::kTest, index);
  std::vector<double> values(num_rows * num_columns);
  std::ranges::generate(values, [&] { return stream.uniform(); });
  return values;
}

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t k = 0; k < count; ++k) {
    result.push_back(fmt::format("c{}", k));
  }
  return result;
}

Ensemble make_model(Model kind, std::size_t num_inputs, std::size_t num_outputs) {
  const auto unscaled = [](std::size_t size) {
    return Scaling{std::vector<double>(size, 0.0), std::vector<double>(size, 1.0)};
  };
  return Ensemble({.model = kind, .scaling = ScalingKind::kNone, .seed = 7},
                  {names(num_inputs), names(num_outputs), unscaled(num_inputs), unscaled(num_outputs)});
}

Timing per_step(const Timing& t, double steps) { return {t.median_ms / steps, t.low_ms / steps, t.high_ms / steps}; }

void time_step(Ensemble& model, const std::vector<double>& inputs, const std::vector<double>& targets) {
  Trainer trainer(
      model, fit_preset("paper").train,
      {apply_scaling(model.columns().input_scaling, inputs), apply_scaling(model.columns().target_scaling, targets)},
      {});
  trainer.plan_epochs(1'000'000);
  const std::size_t num_units = model.networks().joint() ? 1 : model.num_components();
  std::size_t epoch = 0;
  const Timing timing = measure<ThreadClock>(
      [&] {
        for (std::size_t unit = 0; unit < num_units; ++unit) {
          trainer.run_epochs(unit, epoch, epoch + 1, nullptr);
        }
        ++epoch;
      },
      15, 0.7);
  print("step", per_step(timing, static_cast<double>(trainer.steps_per_epoch())));
}

// Block by block, so that a mixture is scored while it is in the cache.
std::vector<std::size_t> choose(const Ensemble& model, std::span<const double> candidates, const Estimator& estimator) {
  constexpr std::size_t kBlock = 512;
  const std::size_t num_inputs = model.num_input_columns();
  Uncertainty u;
  Mixture<float> base;
  for (std::size_t begin = 0; begin < kCandidates; begin += kBlock) {
    const std::size_t count = std::min(kBlock, kCandidates - begin);
    model.predict_base(candidates.subspan(begin * num_inputs, count * num_inputs), base);
    const Uncertainty part = estimate(estimator, base.view());
    u.epistemic.insert(u.epistemic.end(), part.epistemic.begin(), part.epistemic.end());
    u.log_deficit.insert(u.log_deficit.end(), part.log_deficit.begin(), part.log_deficit.end());
  }
  std::vector<std::size_t> order(u.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::partial_sort(order, order.begin() + kChosen,
                            [&](std::size_t a, std::size_t b) { return more_uncertain(u, a, b); });
  order.resize(kChosen);
  return order;
}

void write_check(const Ensemble& model, const std::string& folder) {
  const std::vector<double> inputs = uniform_rows(kCheckedRows, model.num_input_columns(), 3);
  const std::vector<double> targets = uniform_rows(kCheckedRows, model.num_outputs(), 4);
  const std::vector<double> log_density = model.log_density(inputs, targets);
  const Mixture<double> mixture = model.predict(inputs);
  model.save(folder + "/model.safetensors");
  write_npz(folder + "/check.npz", {{"inputs", ArrayView(inputs)},
                                    {"targets", ArrayView(targets)},
                                    {"log_density", ArrayView(log_density)},
                                    {"mean", ArrayView(mixture.mean)},
                                    {"stddev", ArrayView(mixture.stddev)}});
}

void run(const std::string& folder, Model kind, std::size_t num_inputs, std::size_t num_outputs) {
  Ensemble model = make_model(kind, num_inputs, num_outputs);
  write_check(model, folder);
  time_step(model, uniform_rows(kTrainingRows, num_inputs, 1), uniform_rows(kTrainingRows, num_outputs, 2));
  const std::vector<double> candidates = uniform_rows(kCandidates, num_inputs, 5);
  print("predict", measure<ThreadClock>([&] { model.predict(candidates); }));
  Mixture<float> base;
  print("predict base", measure<ThreadClock>([&] { model.predict_base(candidates, base); }));
  const std::span<const double> few = std::span(candidates).first(kMeanRows * num_inputs);
  print("mean", measure<ThreadClock>([&] { predictive_mean(model, few); }));
  for (const char* name : {"kl", "bhattacharyya"}) {
    const Estimator estimator = parse_estimator(name);
    print(fmt::format("choose {}", name), measure<ThreadClock>([&] { choose(model, candidates, estimator); }));
  }
}

void run_fit() {
  constexpr std::size_t kRows = 600;
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t k = 0; k < kRows; ++k) {
    Stream stream(1, Purpose::kTest, k);
    const Point point = draw_hetero(InputDistribution::kTraining, stream);
    x.push_back(point.x);
    y.push_back(point.y);
  }
  TrainOptions train = fit_preset("paper").train;
  train.batch_size = 0;
  train.validation = 0;
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    print(fmt::format("fit {}", model_name(kind)), measure<ThreadClock>(
                                                       [&] {
                                                         fit({.model = kind}, train, {{"x"}, {"y"}, x, y});
                                                       },
                                                       3, 0));
  }
}

}  // namespace
}  // namespace dissent::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 1 && arguments[0] == "fit") {
      dissent::bench::run_fit();
    } else if (arguments.size() == 4) {
      dissent::bench::run(arguments[0], dissent::model_from_name(arguments[1]), std::stoul(arguments[2]),
                          std::stoul(arguments[3]));
    } else {
      std::fprintf(stderr, "usage: ensemble_bench FOLDER pne|flow NUM_INPUTS NUM_OUTPUTS, or ensemble_bench fit\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ensemble_bench: %s\n", error.what());
    return 1;
  }
}
