#include "dissent/process/process.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "dissent/base/error.hpp"
#include "dissent/base/threads.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

struct Prediction {
  std::vector<double> mean;
  std::vector<double> stddev;
};

Prediction predicted(const GaussianProcess& process, const RowMatrix& rows, ThreadPool* pool = nullptr) {
  const auto size = static_cast<std::size_t>(rows.rows() * process.options().components * process.targets().cols());
  Prediction out{std::vector<double>(size), std::vector<double>(size)};
  process.predict(rows, out.mean, out.stddev, pool);
  return out;
}

GaussianProcess fitted(const ProcessOptions& options, const RowMatrix& inputs, const RowMatrix& targets,
                       ThreadPool* pool = nullptr) {
  std::vector<OutputHyperparameters> found;
  for (Index d = 0; d < targets.cols(); ++d) {
    found.push_back(GaussianProcess::search(options, inputs, targets.col(d), static_cast<std::uint64_t>(d)));
  }
  return GaussianProcess(options, inputs, targets, found, pool);
}

RowMatrix two_targets(const RowMatrix& inputs) {
  RowMatrix out(inputs.rows(), 2);
  out << smooth_targets(inputs, 0.2, 2), -smooth_targets(inputs, 0.1, 3);
  return out;
}

void expect_sound(const GaussianProcess& process, const RowMatrix& rows) {
  const Prediction p = predicted(process, rows);
  for (std::size_t k = 0; k < p.mean.size(); ++k) {
    ASSERT_TRUE(std::isfinite(p.mean[k]) && std::isfinite(p.stddev[k]) && p.stddev[k] > 0) << "entry " << k;
    ASSERT_LT(std::abs(p.mean[k]), 20);
  }
}

TEST(Process, LearnsEachOutput) {
  const RowMatrix inputs = normal_rows(100, 2, 1);
  const GaussianProcess process = fitted({}, inputs, two_targets(inputs));
  const RowMatrix at = normal_rows(50, 2, 4);
  const RowMatrix truth = [&] {
    RowMatrix out(at.rows(), 2);
    out << smooth_targets(at, 0, 0), -smooth_targets(at, 0, 0);
    return out;
  }();
  const Prediction p = predicted(process, at);
  double squares = 0;
  for (Index n = 0; n < at.rows(); ++n) {
    for (Index d = 0; d < 2; ++d) {
      double mean = 0;
      for (Index m = 0; m < 10; ++m) {
        mean += p.mean[static_cast<std::size_t>((n * 10 + m) * 2 + d)] / 10;
      }
      squares += std::pow(mean - truth(n, d), 2) / 100;
    }
  }
  EXPECT_LT(std::sqrt(squares), 0.25);  // the targets' own stddev is about 0.85
}

TEST(Process, RecentredPathsHaveTheExactMean) {
  const RowMatrix inputs = normal_rows(20, 2, 1);
  const RowMatrix targets = smooth_targets(inputs, 0.2, 2);
  const RowMatrix at = normal_rows(300, 2, 4);  // more than a block
  const GaussianProcess process = fitted({.components = 4}, inputs, targets);
  ASSERT_EQ(process.hyperparameters()[0].components.size(), 4u);
  VectorXd exact = VectorXd::Zero(at.rows());
  for (const Hyperparameters& h : process.hyperparameters()[0].components) {
    exact += Posterior(h, inputs, targets).mean(at) / 4;
  }
  const Prediction p = predicted(process, at);
  for (Index n = 0; n < at.rows(); ++n) {
    const double* own = &p.mean[static_cast<std::size_t>(4 * n)];
    EXPECT_NEAR((own[0] + own[1] + own[2] + own[3]) / 4, exact[n], 1e-10);
  }
}

// Of 500 seeds with 4 components each: the mean of the variances between has a relative standard error of
// sqrt(2 / 3 / 500) = 3.7 % at most; five of them are 18 %, and fewer than 1e-6 choices of seeds fail.
TEST(Process, VarianceBetweenComponentsIsUnbiased) {
  const RowMatrix inputs = normal_rows(5, 1, 1);
  const RowMatrix targets = smooth_targets(inputs, 0.2, 2);
  const Hyperparameters h = some_hyperparameters(1);
  const RowMatrix at = RowMatrix::Constant(1, 1, 1.7);
  const double exact = Posterior(h, inputs, targets).variance(at)[0];
  for (const double within : {0.0, 0.4}) {
    double between = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      ProcessOptions options{.components = 4, .feature_pairs = 64, .within = within};
      options.search.seed = seed;
      const Prediction p = predicted(GaussianProcess(options, inputs, targets, {{h, {}, {}}}), at);
      const Eigen::Map<const Eigen::Array4d> mean(p.mean.data());
      between += (mean - mean.mean()).square().sum() / 4 / 500;
      EXPECT_NEAR(p.stddev[0] * p.stddev[0], h.noise_variance + within * exact, 1e-12);
    }
    EXPECT_NEAR(between, (1 - within) * exact, 0.18 * (1 - within) * exact) << "within " << within;
  }
}

TEST(Process, ThreadsAndRestoringChangeNoBit) {
  const RowMatrix inputs = normal_rows(40, 3, 1);
  const RowMatrix targets = two_targets(inputs);
  const RowMatrix at = normal_rows(700, 3, 4);
  ThreadPool pool(3);
  const GaussianProcess alone = fitted({}, inputs, targets);
  const GaussianProcess together = fitted({}, inputs, targets, &pool);
  const GaussianProcess restored({}, inputs, targets, alone.hyperparameters());
  const Prediction expected = predicted(alone, at);
  for (const Prediction& other : {predicted(together, at, &pool), predicted(restored, at)}) {
    EXPECT_EQ(expected.mean, other.mean);
    EXPECT_EQ(expected.stddev, other.stddev);
  }
}

TEST(Process, ASearchThatIsStoppedLeavesASoundFit) {
  const RowMatrix inputs = normal_rows(40, 3, 1);
  const VectorXd targets = smooth_targets(inputs, 0.2, 2);
  for (const int evaluations : {0, 1, 30}) {
    int left = evaluations;
    int asked_after = 0;
    const auto go_on = [&] {
      asked_after += left == 0 ? 1 : 0;
      return left > 0 && left-- > 0;
    };
    const OutputHyperparameters found = GaussianProcess::search({}, inputs, targets, 0, go_on);
    EXPECT_EQ(found.components.size(), 10U);
    EXPECT_GT(asked_after, 0);
    expect_sound(GaussianProcess({}, inputs, targets, {found}), normal_rows(5, 3, 4));
  }
}

TEST(Process, ManyRowsShareTheMode) {
  const RowMatrix inputs = normal_rows(1001, 1, 1);
  const ProcessOptions options{.search = {.starts = 1, .start_rows = 30, .rows = 60}};
  const GaussianProcess process = fitted(options, inputs, smooth_targets(inputs, 0.2, 2));
  EXPECT_TRUE(process.hyperparameters()[0].components.empty());
  expect_sound(process, normal_rows(5, 1, 4));
}

TEST(Process, OddDataGiveSoundFits) {
  const RowMatrix rows = normal_rows(30, 2, 1);
  const VectorXd targets = smooth_targets(rows, 0.2, 2);
  expect_sound(fitted({}, rows, VectorXd::Zero(30)), normal_rows(9, 2, 4));  // constant targets
  expect_sound(fitted({}, rows.topRows(1), targets.head(1)), rows);
  expect_sound(fitted({}, rows.topRows(2), targets.head(2)), rows);
  expect_sound(fitted({.components = 1}, rows, targets), 1e250 * rows);
  RowMatrix twice(60, 2);
  twice << rows, rows;
  VectorXd same(60);
  same << targets, targets;
  expect_sound(fitted({}, twice, same), rows);
  RowMatrix collinear(30, 4);
  collinear << rows, rows.col(0), 2 * rows.col(1);
  expect_sound(fitted({}, collinear, targets), collinear);
  expect_sound(fitted({}, RowMatrix::Zero(30, 2), targets), rows);  // constant inputs
  VectorXd outlier = targets;
  outlier[3] = 5;
  expect_sound(fitted({}, rows, outlier), rows);
}

TEST(Process, ThousandsOfColumnsGiveASoundFit) {
  const RowMatrix rows = normal_rows(25, 2000, 1);
  expect_sound(fitted({.components = 3}, rows, smooth_targets(rows, 0.2, 2)), rows);
}

TEST(Process, NoColumnsLeaveTheMean) {
  expect_sound(fitted({}, RowMatrix(12, 0), smooth_targets(normal_rows(12, 1, 1), 0.2, 2)), RowMatrix(3, 0));
}

GaussianProcess with_some(const ProcessOptions& options, const RowMatrix& inputs, const RowMatrix& targets) {
  const OutputHyperparameters some{some_hyperparameters(inputs.cols()), {}, {}};
  return GaussianProcess(options, inputs, targets,
                         std::vector<OutputHyperparameters>(static_cast<std::size_t>(targets.cols()), some));
}

TEST(Process, RefusesWhatItCannotFit) {
  const RowMatrix rows = normal_rows(10, 2, 1);
  RowMatrix targets = smooth_targets(rows, 0.2, 2);
  EXPECT_THROW(with_some({}, RowMatrix(0, 2), RowMatrix(0, 1)), InputError);
  EXPECT_THROW(with_some({}, RowMatrix::Zero(4001, 1), RowMatrix::Zero(4001, 1)), InputError);
  EXPECT_THROW(with_some({}, rows, targets.topRows(9)), InputError);
  EXPECT_THROW(with_some({}, rows, RowMatrix(10, 0)), InputError);
  EXPECT_THROW(with_some({.components = 0}, rows, targets), InputError);
  EXPECT_THROW(with_some({.within = 1.5}, rows, targets), InputError);
  EXPECT_THROW(GaussianProcess({}, rows, targets, {}), InputError);
  const GaussianProcess process = fitted({}, rows, targets);
  std::vector<double> room(100);
  EXPECT_THROW(process.predict(normal_rows(10, 3, 1), room, room), InputError);
  EXPECT_THROW(process.predict(normal_rows(11, 2, 1), room, room), InputError);
  targets(4, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(with_some({}, rows, targets), InputError);
}

}  // namespace
}  // namespace dissent
