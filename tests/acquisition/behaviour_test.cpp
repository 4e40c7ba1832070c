// What a user may expect of a choice, on fitted models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/ensemble/fit.hpp"

namespace dissent {
namespace {

// y = 3 sin x + noise; the noise is 0.2, but 50 times as large around 1.5, in [1, 2].
double noise_of(double x) { return 0.2 + 10 * std::exp(-0.5 * std::pow((x - 1.5) / 0.3, 2)); }

class NoisyRegion : public testing::TestWithParam<Model> {};

// Rows are labelled evenly, save for [-2, -1.5], where none is. Three seeds together, fixed: deterministic.
TEST_P(NoisyRegion, IsChasedByVarianceAndNotByKl) {
  double by_kl = 0;
  double by_variance = 0;
  double by_chance = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<double> x;
    std::vector<double> y;
    Stream stream(3 + seed, Purpose::kTest);
    while (x.size() < 800) {
      const double at = 6 * stream.uniform() - 3;
      if (at < -2 || at > -1.5) {
        x.push_back(at);
        y.push_back(3 * std::sin(at) + noise_of(at) * stream.normal());
      }
    }
    EnsembleOptions options{.model = GetParam()};
    options.scaling = ScalingKind::kStandard;
    options.seed = seed;
    const Ensemble model = fit(options, {.epochs = 100}, {{"x"}, {"y"}, x, y}).model;
    std::vector<double> pool(3000);
    std::ranges::generate(pool, [&] { return 6 * stream.uniform() - 3; });
    const auto share = [&](const char* name) {
      const Choice choice =
          choose(Acquisition::parse(name), {model, {x, y}, 100, Stream(1, Purpose::kAcquire), nullptr}, pool);
      const auto inside = [&](std::size_t row) { return pool[row] >= 1 && pool[row] <= 2; };
      return static_cast<double>(std::ranges::count_if(choice.rows, inside)) / 100;
    };
    by_kl += share("kl") / 3;
    by_variance += share("variance") / 3;
    by_chance += static_cast<double>(std::ranges::count_if(pool, [](double v) { return v >= 1 && v <= 2; })) / 9000;
  }
  EXPECT_LT(by_kl, 2 * by_chance);
  EXPECT_GT(by_variance, 4 * by_chance);
}

INSTANTIATE_TEST_SUITE_P(Acquisition, NoisyRegion, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
