#include "dissent/ensemble/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dissent/base/random.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

struct Data {
  std::vector<double> x;
  std::vector<double> y;
  TrainingRows rows() const { return {{"x"}, {"y"}, x, y}; }
};

// y = 7 sin x + 3 z |cos(x / 2)|, x evenly spread over [-4, 4]; z normal.
double hetero_stddev(double x) { return 3 * std::abs(std::cos(x / 2)) + 0.1; }

Data hetero(std::size_t num_rows, std::uint64_t part) {
  Data data;
  Stream stream(1, Purpose::kTest, part);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double x = 8 * stream.uniform() - 4;
    data.x.push_back(x);
    data.y.push_back(7 * std::sin(x) + hetero_stddev(x) * stream.normal());
  }
  return data;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double true_log_likelihood(const Data& data) {
  std::vector<double> terms;
  for (std::size_t n = 0; n < data.x.size(); ++n) {
    const double stddev = hetero_stddev(data.x[n]);
    const double residual = (data.y[n] - 7 * std::sin(data.x[n])) / stddev;
    terms.push_back(-0.5 * (kLogTwoPi + residual * residual) - std::log(stddev));
  }
  return mean(terms);
}

// Two outputs that depend on each other.
struct Data2 {
  std::vector<double> x;
  std::vector<double> y;
  TrainingRows rows() const { return {{"a", "b"}, {"u", "v"}, x, y}; }
};

Data2 pairs(std::size_t num_rows) {
  Data2 data;
  Stream stream(2, Purpose::kTest);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double a = stream.normal();
    const double b = 100 + 10 * stream.normal();
    const double u = a + 0.3 * stream.normal();
    data.x.insert(data.x.end(), {a, b});
    data.y.insert(data.y.end(), {u, 1000 * u * u + b + 50 * stream.normal()});
  }
  return data;
}

constexpr TrainOptions kShort{.epochs = 20, .batch_size = 32};

class EveryModel : public testing::TestWithParam<Model> {
 protected:
  EnsembleOptions options(std::size_t num_components = 3) const {
    return {.model = GetParam(), .num_components = num_components, .seed = 5};
  }
};

TEST_P(EveryModel, ReachesTheTruthOnHetero) {
  ThreadPool pool(2);
  const Data train = hetero(2000, 0);
  const Data test = hetero(4000, 1);
  const FitResult result = fit(options(5), {}, train.rows(), {&pool, {}});
  const double reached = mean(result.model.log_density(test.x, test.y));
  const double truth = true_log_likelihood(test);
  // Standard error of the difference: below 0.01 nats on 4000 rows.
  EXPECT_GT(reached, truth - 0.08);
  EXPECT_LT(reached, truth + 0.03);
  EXPECT_TRUE(result.report.diverged.empty());
  EXPECT_EQ(result.report.num_rows, 1800U);
  EXPECT_EQ(result.report.num_validation_rows, 200U);
}

TEST_P(EveryModel, EpistemicUncertaintyIsLargeWhereThereIsNoData) {
  Data data;
  Stream stream(6, Purpose::kTest);
  for (int n = 0; n < 400; ++n) {
    const double x = (n % 2 == 0 ? 2 : -4) + 2 * stream.uniform();
    data.x.push_back(x);
    data.y.push_back(7 * std::sin(x) + 0.5 * stream.normal());
  }
  const Ensemble model = fit(options(5), {.epochs = 400}, data.rows()).model;
  const auto epistemic = [&](double x) {
    const Mixture<double> mixture = model.predict(std::vector<double>{x - 0.3, x, x + 0.3});
    return mean(estimate(parse_estimator("kl"), mixture.view(), model.weights()).epistemic);
  };
  // In the gap and amid the data. One fixed seed: deterministic. Over other seeds of data and model the ratio is a
  // matter of chance, so the bound is kept low.
  EXPECT_GT(epistemic(0), 2 * epistemic(3));
  EXPECT_GT(epistemic(0), 2 * epistemic(-3));
}

TEST_P(EveryModel, SameSeedSameBitsOnAnyNumberOfThreads) {
  const Data2 data = pairs(150);
  ThreadPool one(1);
  ThreadPool two(2);
  const FitResult a = fit(options(), kShort, data.rows(), {&one, {}});
  const FitResult b = fit(options(), kShort, data.rows(), {&two, {}});
  const FitResult c = fit(options(), kShort, data.rows());
  EXPECT_TRUE(std::ranges::equal(a.model.parameters(), b.model.parameters()));
  EXPECT_TRUE(std::ranges::equal(a.model.parameters(), c.model.parameters()));
  EXPECT_EQ(a.model.log_density(data.x, data.y, &one), b.model.log_density(data.x, data.y, &two));
  EXPECT_EQ(a.model.sample(data.x, 3, 7, &two), b.model.sample(data.x, 3, 7));
  EnsembleOptions other = options();
  other.seed = 6;
  EXPECT_FALSE(std::ranges::equal(a.model.parameters(), fit(other, kShort, data.rows()).model.parameters()));
}

TEST_P(EveryModel, AfterLoadingPredictsTheSameBits) {
  const TempDir folder;
  const Data2 data = pairs(300);
  EnsembleOptions chosen = options(2);
  chosen.weights = {0.25, 0.75};
  const Ensemble model = fit(chosen, kShort, data.rows()).model;
  model.save(folder.file("a.model"));
  const Ensemble loaded = Ensemble::load(folder.file("a.model"));
  const Mixture<double> before = model.predict(data.x);
  const Mixture<double> after = loaded.predict(data.x);
  EXPECT_EQ(before.mean, after.mean);
  EXPECT_EQ(before.stddev, after.stddev);
  EXPECT_EQ(model.log_density(data.x, data.y), loaded.log_density(data.x, data.y));
  EXPECT_EQ(model.sample(data.x, 2, 1), loaded.sample(data.x, 2, 1));
  EXPECT_EQ(loaded.columns().inputs, data.rows().input_names);
  EXPECT_EQ(loaded.weights().value, chosen.weights);
  loaded.save(folder.file("b.model"));
  EXPECT_EQ(read_bytes(folder.file("a.model")), read_bytes(folder.file("b.model")));
}

TEST_P(EveryModel, OneComponentIsItsMember) {
  const Data2 data = pairs(200);
  const Ensemble model = fit(options(1), kShort, data.rows()).model;
  const Mixture<double> mixture = model.predict(data.x);
  ASSERT_EQ(mixture.num_components, 1U);
  // The other way round: from base values of the member's own Gaussian to outputs, whose density the ensemble must
  // give.
  std::vector<double> base;
  Stream stream(9, Purpose::kTest);
  for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
    base.push_back(mixture.mean[k] + mixture.stddev[k] * stream.normal());
  }
  std::vector<double> outputs(base.size());
  std::vector<double> log_det(200);
  model.to_outputs(data.x, base, outputs, log_det);
  const std::vector<double> density = model.log_density(data.x, outputs);
  for (std::size_t n = 0; n < 200; ++n) {
    const std::span<const double> m(&mixture.mean[2 * n], 2);
    const std::span<const double> s(&mixture.stddev[2 * n], 2);
    const double member = log_density(DiagonalGaussian{m, s}, std::span<const double>(&base[2 * n], 2)) - log_det[n];
    // The flow computes in single precision.
    EXPECT_NEAR(density[n], member, GetParam() == Model::kPne ? 1e-9 : 2e-3);
  }
}

TEST_P(EveryModel, RowsDoNotDependOnTheirNeighbours) {
  const Data2 data = pairs(300);
  const Ensemble model(options(), {{"a", "b"},
                                   {"u", "v"},
                                   fit_scaling(ScalingKind::kMinMax, data.x, 2),
                                   fit_scaling(ScalingKind::kMinMax, data.y, 2)});
  const Mixture<double> all = model.predict(data.x);
  const std::vector<double> density = model.log_density(data.x, data.y);
  for (const std::size_t n : {0, 17, 255, 256, 299}) {
    const std::span<const double> x(&data.x[2 * n], 2);
    const Mixture<double> alone = model.predict(x);
    EXPECT_TRUE(std::ranges::equal(alone.mean, std::span(all.mean).subspan(6 * n, 6)));
    EXPECT_TRUE(std::ranges::equal(alone.stddev, std::span(all.stddev).subspan(6 * n, 6)));
    EXPECT_EQ(model.log_density(x, std::span(&data.y[2 * n], 2)).front(), density[n]);
  }
}

// For pne base values are scaled outputs, for flow what predict() gives.
TEST_P(EveryModel, PredictBaseIsThePredictionInBaseSpace) {
  const Data2 data = pairs(300);
  const Ensemble model(options(), {{"a", "b"},
                                   {"u", "v"},
                                   fit_scaling(ScalingKind::kMinMax, data.x, 2),
                                   fit_scaling(ScalingKind::kMinMax, data.y, 2)});
  const Mixture<double> mixture = model.predict(data.x);
  Mixture<float> base;
  model.predict_base(std::span(data.x).first(20), base);  // memory of another size
  model.predict_base(data.x, base);
  EXPECT_EQ(base.view().num_inputs, 300);
  ASSERT_EQ(base.mean.size(), mixture.mean.size());
  for (std::size_t k = 0; k < base.mean.size(); ++k) {
    const Scaling& scaling = model.columns().target_scaling;
    const bool pne = GetParam() == Model::kPne;
    const double mean = pne ? scaling.scaled(k % 2, mixture.mean[k]) : mixture.mean[k];
    const double stddev = mixture.stddev[k] / (pne ? scaling.scale[k % 2] : 1);
    EXPECT_NEAR(base.mean[k], mean, 1e-6);
    EXPECT_NEAR(base.stddev[k] / stddev, 1, 1e-6);
  }
}

TEST_P(EveryModel, DensityIntegratesToOne) {
  const Data train = hetero(300, 0);
  const Ensemble model = fit(options(), kShort, train.rows()).model;
  constexpr std::size_t kPoints = 40'000;
  const std::vector<double> x(kPoints, 0.7);
  std::vector<double> y(kPoints);
  for (std::size_t k = 0; k < kPoints; ++k) {
    y[k] = -200 + 400.0 * (static_cast<double>(k) + 0.5) / kPoints;
  }
  double integral = 0;
  for (const double log_p : model.log_density(x, y)) {
    integral += std::exp(log_p) * 400.0 / kPoints;
  }
  EXPECT_NEAR(integral, 1, 2e-3);
}

TEST_P(EveryModel, SamplesFollowTheDensity) {
  const Data train = hetero(300, 0);
  const Ensemble model = fit(options(), kShort, train.rows()).model;
  constexpr std::size_t kSamples = 20'000;
  const std::vector<double> x{0.7};
  const std::vector<double> samples = model.sample(x, kSamples, 3);
  const double cut = 4;
  double mass = 0;
  const double step = 1e-2;
  for (double y = cut - 300 + step / 2; y < cut; y += step) {
    mass += step * std::exp(model.log_density(x, std::vector<double>{y}).front());
  }
  const double share =
      static_cast<double>(std::ranges::count_if(samples, [&](double y) { return y < cut; })) / kSamples;
  EXPECT_NEAR(share, mass, 5 * 0.5 / std::sqrt(kSamples));  // five standard errors: false alarms below 1e-6
}

TEST_P(EveryModel, ADivergingLossIsReportedAndLeavesAFiniteModel) {
  const Data data = hetero(200, 0);
  for (const double validation : {0.0, 0.2}) {
    TrainOptions train{.epochs = 200, .learning_rate = 1e6, .cosine_decay = false, .clip_norm = 0};
    train.validation = validation;
    const FitResult result = fit(options(), train, data.rows());
    EXPECT_FALSE(result.report.diverged.empty());
    for (const float value : result.model.parameters()) {
      ASSERT_TRUE(std::isfinite(value));
    }
    for (const double value : result.model.log_density(data.x, data.y)) {
      ASSERT_TRUE(std::isfinite(value));
    }
  }
}

TEST_P(EveryModel, ConstantColumns) {
  Data2 data = pairs(100);
  for (std::size_t n = 0; n < 100; ++n) {
    data.x[2 * n] = 3;
    data.y[2 * n + 1] = -1e6;
  }
  const Ensemble model = fit(options(), kShort, data.rows()).model;
  for (const double value : model.log_density(data.x, data.y)) {
    EXPECT_TRUE(std::isfinite(value));
  }
}

TEST_P(EveryModel, BadInputIsNamed) {
  Data2 data = pairs(50);
  data.x[2 * 6 + 1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message_of<InputError>([&] { fit(options(), kShort, data.rows()); }),
            "fit: row 7 column 'b' is nan; numbers must be finite");
  const Data2 few = pairs(2);
  EXPECT_EQ(message_of<InputError>([&] { fit(options(), kShort, few.rows()); }),
            "fit: 2 rows, 1 of them held out; at least 2 must remain to train on");
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

TEST(Fit, MembersNeverShareInitialWeightsUnlessAsked) {
  const Data2 data = pairs(10);
  EnsembleOptions options{.num_components = 4, .keep_probability = 1};
  const EnsembleColumns columns{{"a", "b"},
                                {"u", "v"},
                                fit_scaling(ScalingKind::kMinMax, data.x, 2),
                                fit_scaling(ScalingKind::kMinMax, data.y, 2)};
  const auto num_equal = [&](const Ensemble& model) {
    const auto a = model.stack().components[1].range(model.parameters());
    const auto b = model.stack().components[3].range(model.parameters());
    std::size_t equal = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      equal += a[k] != 0 && a[k] == b[k] ? 1 : 0;
    }
    return equal;
  };
  EXPECT_EQ(num_equal(Ensemble(options, columns)), 0U);
  options.own_initial_weights = false;
  EXPECT_GT(num_equal(Ensemble(options, columns)), 100U);
}

TEST(Fit, AComponentOfPneIsTheSameInAnEnsembleOfAnySize) {
  const Data2 data = pairs(100);
  const Mixture<double> three =
      fit({.model = Model::kPne, .num_components = 3}, kShort, data.rows()).model.predict(data.x);
  const Mixture<double> one =
      fit({.model = Model::kPne, .num_components = 1}, kShort, data.rows()).model.predict(data.x);
  for (std::size_t n = 0; n < 100; ++n) {
    EXPECT_EQ(three.mean[n * 6], one.mean[n * 2]);
    EXPECT_NE(three.mean[n * 6], three.mean[n * 6 + 2]);
  }
}

TEST(Fit, ManyOutputsDoNotUnderflow) {
  constexpr std::size_t kOutputs = 257;
  std::vector<double> x, y;
  std::vector<std::string> names;
  Stream stream(8, Purpose::kTest);
  for (std::size_t d = 0; d < kOutputs; ++d) {
    names.push_back(fmt::format("y{}", d));
  }
  for (int n = 0; n < 100; ++n) {
    x.push_back(stream.normal());
    for (std::size_t d = 0; d < kOutputs; ++d) {
      y.push_back(x.back() + 0.1 * stream.normal());
    }
  }
  for (const Model model : {Model::kPne, Model::kFlow}) {
    const Ensemble ensemble = fit({.model = model}, kShort, {{"x"}, names, x, y}).model;
    std::vector<double> far = y;
    for (double& value : far) {
      value += 1000;
    }
    for (const double value : ensemble.log_density(x, far)) {
      EXPECT_TRUE(std::isfinite(value));
      EXPECT_LT(value, -1e4);
    }
  }
}

TEST(Fit, FlowShowsBothModesAndPneCannot) {
  Data data;
  Stream stream(4, Purpose::kTest);
  for (int n = 0; n < 2000; ++n) {
    const double x = stream.uniform();
    data.x.push_back(x);
    data.y.push_back((stream.uniform() < 0.5 ? -5 : 5) + x + 0.5 * stream.normal());
  }
  ThreadPool pool(2);
  const auto likelihood = [&](Model model) {
    const Ensemble ensemble = fit({.model = model}, {}, data.rows(), {&pool, {}}).model;
    if (model == Model::kFlow) {
      const std::vector<double> samples = ensemble.sample(std::vector<double>{0.5}, 4000, 1);
      const auto upper = std::ranges::count_if(samples, [](double y) { return y > 0.5; });
      EXPECT_GT(upper, 1600);
      EXPECT_LT(upper, 2400);
      const auto between = std::ranges::count_if(samples, [](double y) { return y > -2 && y < 3; });
      EXPECT_LT(between, 200);
    }
    return mean(ensemble.log_density(data.x, data.y));
  };
  EXPECT_GT(likelihood(Model::kFlow), likelihood(Model::kPne) + 0.5);
}

}  // namespace
}  // namespace dissent
