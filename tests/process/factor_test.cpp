#include "dissent/process/factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "dissent/process/panels.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd positive_matrix(Index size) {
  const MatrixXd a = normal_rows(size, size + 3, 1);
  return a * a.transpose() / static_cast<double>(size) + 0.1 * MatrixXd::Identity(size, size);
}

// Sizes around the blocks that inverses are made of.
TEST(Factor, InversesAreThoseOfEigen) {
  for (const Index size : {1, 2, 63, 64, 65, 130, 257}) {
    const MatrixXd matrix = positive_matrix(size);
    const CholeskyFactor factor = factorise(panel_of(matrix));
    ASSERT_TRUE(factor.sound);
    EXPECT_EQ(factor.jitter, 0);
    const MatrixXd upper = mapped(factor.upper.panel(), size).triangularView<Eigen::Upper>();
    const MatrixXd eigen = matrix.llt().matrixU();
    EXPECT_LT((upper - eigen).cwiseAbs().maxCoeff(), 1e-11);
    const MatrixXd inverse = inverse_from(inverse_of_lower(factor));
    EXPECT_LT((inverse * matrix - MatrixXd::Identity(size, size)).cwiseAbs().maxCoeff(), 1e-10) << "size " << size;
    EXPECT_EQ(inverse, inverse.transpose());
    EXPECT_LT((factor.solve(matrix) - MatrixXd::Identity(size, size)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_NEAR(factor.log_determinant(), matrix.partialPivLu().matrixLU().diagonal().array().abs().log().sum(), 1e-9);
  }
}

TEST(Factor, SingularMatrixGetsTheLeastJitterThatHelps) {
  MatrixXd matrix = MatrixXd::Ones(50, 50);
  matrix(49, 49) -= 1e-12;
  const CholeskyFactor factor = factorise(panel_of(matrix));
  ASSERT_TRUE(factor.sound);
  EXPECT_GT(factor.jitter, 0);
  EXPECT_LE(factor.jitter, 1.01e-8);
}

TEST(Factor, HopelessMatrixIsUnsound) {
  EXPECT_FALSE(factorise(panel_of(-MatrixXd::Identity(3, 3))).sound);
  MatrixXd broken = MatrixXd::Identity(3, 3);
  broken(0, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(factorise(panel_of(broken)).sound);
}

}  // namespace
}  // namespace dissent
