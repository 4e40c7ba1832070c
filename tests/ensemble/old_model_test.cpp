// Models written by version 0.1.0 load, and predict what they predicted then, to the bit (tests/data/models_0_1). A fit
// with the options of then gives the same file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/recalibration.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/table/csv.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

std::string data(const std::string& name) { return std::string(DISSENT_TEST_DATA "/models_0_1/") + name; }

bool fused() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// The numbers are those of a CPU that multiplies and adds in one rounding. Where the compiler does so in the flow's
// kernels depends on how much it optimises, so there the bits are those of a release build.
double tolerance(bool through_flow) { return fused() && (DISSENT_RELEASE || !through_flow) ? 0 : 1e-5; }

void expect_same(std::span<const double> found, std::span<const double> expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_NEAR(found[k], expected[k], tolerance * std::max(1.0, std::abs(expected[k]))) << k;
  }
}

std::vector<double> matrix(const std::string& file, const std::vector<std::string>& names) {
  return read_csv(data(file)).matrix(names);
}

class OldModel : public testing::TestWithParam<const char*> {
 protected:
  std::string name() const { return GetParam(); }
  Ensemble model() const { return Ensemble::load(data(name() + ".model")); }
  const std::vector<double> inputs_ = matrix("inputs.csv", {"a", "b"});
};

TEST_P(OldModel, ComponentsAreTheSame) {
  const Mixture<double> mixture = model().predict(inputs_);
  expect_same(mixture.mean, matrix(name() + "_components.csv", {"u_mean", "v_mean"}), tolerance(false));
  expect_same(mixture.stddev, matrix(name() + "_components.csv", {"u_stddev", "v_stddev"}), tolerance(false));
}

TEST_P(OldModel, PredictionsAreTheSame) {
  const Ensemble loaded = model();
  const Summary summary = summarise(loaded, inputs_, loaded.predict(inputs_), {.quantiles = {0.05, 0.5, 0.95}});
  const double allowed = tolerance(!loaded.output_map().is_identity());
  const std::string file = name() + ".csv";
  expect_same(summary.mean, matrix(file, {"u_mean", "v_mean"}), allowed);
  expect_same(summary.stddev, matrix(file, {"u_stddev", "v_stddev"}), allowed);
  expect_same(summary.quantile, matrix(file, {"u_q0.05", "u_q0.5", "u_q0.95", "v_q0.05", "v_q0.5", "v_q0.95"}),
              allowed);
  expect_same(summary.aleatoric, matrix(file, {"aleatoric"}), allowed);
}

// How they were fitted, with what were the defaults then.
FitOptions options_of(const std::string& name) {
  FitOptions options;
  options.train = {.epochs = 12,
                   .batch_size = 16,
                   .validation = 0.1,
                   .choose_epoch = true,
                   .trend = false,
                   .calibrate_spread = false};
  if (name == "flow") {
    options.ensemble = {.model = Model::kFlow,
                        .num_components = 2,
                        .hidden = {7, 6},
                        .scaling = ScalingKind::kMinMax,
                        .flow_hidden = {5},
                        .num_flow_layers = 2,
                        .seed = 3};
  } else if (name == "pne") {
    options.ensemble = {.model = Model::kPne,
                        .num_components = 3,
                        .hidden = {8, 6},
                        .weights = {0.5, 0.3, 0.2},
                        .scaling = ScalingKind::kStandard,
                        .seed = 4};
  } else {
    options.ensemble = {.model = Model::kPne,
                        .num_components = 3,
                        .hidden = {9, 8},
                        .share_weights = true,
                        .scaling = ScalingKind::kMinMax,
                        .seed = 5};
  }
  options.ensemble.log_targets = LogTargets::kNone;
  options.ensemble.stray_rows = false;
  options.ensemble.alternate_layers = false;
  return options;
}

TEST_P(OldModel, AFitGivesTheSameParameters) {
  const std::vector<double> inputs = matrix("rows.csv", {"a", "b"});
  const std::vector<double> targets = matrix("rows.csv", {"u", "v"});
  Ensemble fitted = fit(options_of(name()), {{"a", "b"}, {"u", "v"}, inputs, targets}).model;
  const Ensemble loaded = model();
  if (!loaded.spread_factors().empty()) {
    recalibrate(fitted, inputs, targets);
  }
  ASSERT_EQ(fitted.parameters().size(), loaded.parameters().size());
  if (tolerance(!loaded.output_map().is_identity()) == 0) {  // in training, last bits grow
    EXPECT_TRUE(std::ranges::equal(std::as_const(fitted).parameters(), loaded.parameters()));
    EXPECT_EQ(fitted.describe(), loaded.describe());
    EXPECT_EQ(fitted.predict(inputs_).stddev, loaded.predict(inputs_).stddev);
  }
}

// As an option that is added later is missing in files of today.
TEST_P(OldModel, OptionsThatAFileDoesNotNameAreAtTheirDefaults) {
  const TempDir dir;
  std::ifstream from(data(name() + ".model"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(from), {}};
  const std::string key = R"(\"tail_bound\":1.2,)";
  const std::size_t at = bytes.find(key);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, key.size(), key.size(), ' ');
  std::ofstream(dir.file("less.model"), std::ios::binary) << bytes;
  EXPECT_EQ(Ensemble::load(dir.file("less.model")).predict(inputs_).mean, model().predict(inputs_).mean);
}

INSTANTIATE_TEST_SUITE_P(Version0_1, OldModel, testing::Values("flow", "pne", "shared"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace dissent
