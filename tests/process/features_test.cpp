#include "dissent/process/features.hpp"

#include <gtest/gtest.h>

#include "dissent/base/error.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

TEST(Features, InnerProductsApproachTheKernel) {
  const Hyperparameters h = some_hyperparameters(3);
  const RowMatrix rows = normal_rows(8, 3, 1);
  const RowMatrix f = FourierFeatures(16384, 3, 1).at(h, rows);
  // An entry's standard error is at most 1.3 / sqrt(16384) = 0.010; five of them, for 28 entries: 2e-5 of seeds fail.
  EXPECT_LT((f * f.transpose() - covariance(h, rows, rows)).cwiseAbs().maxCoeff(), 0.05);
}

TEST(Features, VarianceIsExact) {
  const Hyperparameters h = some_hyperparameters(2);
  const RowMatrix rows = normal_rows(8, 2, 1);
  const RowMatrix f = FourierFeatures(64, 2, 1).at(h, rows);
  EXPECT_LT((f.rowwise().squaredNorm() - prior_variance(h, rows)).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Features, ARowsFeaturesDoNotDependOnItsPlace) {
  const Hyperparameters h = some_hyperparameters(3);
  const FourierFeatures features(64, 3, 1);
  const RowMatrix rows = normal_rows(13, 3, 1);
  const RowMatrix together = features.at(h, rows);
  for (Eigen::Index k = 0; k < rows.rows(); ++k) {
    EXPECT_LT((features.at(h, rows.row(k)) - together.row(k)).cwiseAbs().maxCoeff(), 1e-6) << "row " << k;
  }
}

TEST(Features, FarRowsAreFinite) {
  const RowMatrix far = RowMatrix::Constant(1, 2, 1e300);
  EXPECT_TRUE(FourierFeatures(8, 2, 1).at(some_hyperparameters(2), far).allFinite());
}

TEST(Features, RefusesOddNumbersOfPairs) {
  EXPECT_THROW(FourierFeatures(0, 1, 1), InputError);
  EXPECT_THROW(FourierFeatures(12, 1, 1), InputError);
}

}  // namespace
}  // namespace dissent
