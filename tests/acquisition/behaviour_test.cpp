// What a user may expect of a choice, on fitted models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/ensemble/fit.hpp"

namespace dissent {
namespace {

// y = sin x on [-3, 3] with little noise, but on [1, 2] with a stddev of 20. Rows are labelled everywhere, so that the
// noise is known for what it is, save for [-2, -1.5], where none is.
double noise_of(double x) { return x >= 1 && x <= 2 ? 20 : 0.05; }

class NoisyRegion : public testing::TestWithParam<Model> {};

// One fixed seed for each model: deterministic.
TEST_P(NoisyRegion, IsNotChased) {
  std::vector<double> x;
  std::vector<double> y;
  Stream stream(3, Purpose::kTest);
  while (x.size() < 800) {
    const double at = 6 * stream.uniform() - 3;
    if (at < -2 || at > -1.5) {
      x.push_back(at);
      y.push_back(std::sin(at) + noise_of(at) * stream.normal());
    }
  }
  EnsembleOptions options{.model = GetParam()};
  options.scaling = ScalingKind::kStandard;
  const Ensemble model = fit(options, {.epochs = 150}, {{"x"}, {"y"}, x, y}).model;
  std::vector<double> pool(3000);
  std::ranges::generate(pool, [&] { return 6 * stream.uniform() - 3; });
  const auto share = [](std::span<const double> values) {
    return static_cast<double>(std::ranges::count_if(values, [](double v) { return v >= 1 && v <= 2; })) /
           static_cast<double>(values.size());
  };
  const Choice choice =
      choose(Acquisition::parse("kl"), {model, {x, y}, 300, Stream(1, Purpose::kAcquire), nullptr}, pool);
  std::vector<double> picked;
  for (const std::size_t row : choice.rows) {
    picked.push_back(pool[row]);
  }
  EXPECT_LT(share(picked), 2 * share(pool));
}

INSTANTIATE_TEST_SUITE_P(Acquisition, NoisyRegion, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
