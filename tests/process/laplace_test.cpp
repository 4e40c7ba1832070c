#include "dissent/process/laplace.hpp"

#include <gtest/gtest.h>

#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::VectorXd;

struct Fitted {
  RowMatrix inputs;
  VectorXd targets;
  SearchResult found;
};

Fitted fitted(Eigen::Index rows) {
  Fitted out;
  out.inputs = normal_rows(rows, 2, 1);
  out.targets = smooth_targets(out.inputs, 0.2, 2);
  out.found = find_hyperparameters(out.inputs, out.targets, {});
  return out;
}

VectorXd offset(const Laplace& around, const Fitted& data, std::uint64_t index) {
  return around.sample(5, 0, index).log_vector() - data.found.hyperparameters.log_vector();
}

TEST(Laplace, SamplesLieOppositeEachOtherAboutTheMode) {
  const Fitted data = fitted(30);
  const Laplace around(data.found, data.inputs, data.targets);
  const VectorXd one = offset(around, data, 6);
  EXPECT_LT((one + offset(around, data, 7)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_GT((one - offset(around, data, 8)).norm(), 0);
}

// With no rows to speak of, the posterior is the prior: its stddevs come back. The 400 pairs give each variance with a
// standard error of 7 %; five of those are a false alarm once in a million runs of another seed.
TEST(Laplace, SpreadsAsThePriorWhereDataSayNothing) {
  Fitted data = fitted(30);
  data.inputs.setZero();  // one distinct row: length scales have no effect
  const HyperPrior prior;
  data.found = find_hyperparameters(data.inputs, data.targets, {});
  const Laplace around(data.found, data.inputs, data.targets);
  double sum = 0;
  for (std::uint64_t k = 0; k < 800; k += 2) {
    sum += std::pow(offset(around, data, k)[kLogLength], 2);
  }
  EXPECT_NEAR(sum / 400, std::pow(prior.length.log_stddev, 2), 0.35 * std::pow(prior.length.log_stddev, 2));
}

TEST(Laplace, MoreRowsLeaveLessDoubt) {
  const Fitted few = fitted(15);
  const Fitted many = fitted(200);
  const Laplace around_few(few.found, few.inputs, few.targets);
  const Laplace around_many(many.found, many.inputs, many.targets);
  double spread_few = 0;
  double spread_many = 0;
  for (std::uint64_t k = 0; k < 40; k += 2) {
    spread_few += offset(around_few, few, k).squaredNorm();
    spread_many += offset(around_many, many, k).squaredNorm();
  }
  EXPECT_LT(2 * spread_many, spread_few);
}

}  // namespace
}  // namespace dissent
