#include "dissent/process/kernel.hpp"

#include <gtest/gtest.h>

#include "dissent/process/panels.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;

double plain_kernel(const Hyperparameters& h, const RowMatrix& a, Index i, const RowMatrix& b, Index j) {
  double square = 0;
  double product = 0;
  for (Index c = 0; c < a.cols(); ++c) {
    product += a(i, c) * b(j, c);
    square += std::pow((a(i, c) - b(j, c)) / h.length_scales[c], 2);
  }
  const double q = std::sqrt(5 * square);
  return h.signal_variance * (1 + q + q * q / 3) * std::exp(-q) +
         h.slope_variance * product / static_cast<double>(a.cols());
}

TEST(Kernel, IsThePlainFormula) {
  for (const Index columns : {1, 3, 10}) {
    const Hyperparameters h = some_hyperparameters(columns);
    const RowMatrix a = normal_rows(5, columns, 1);
    const RowMatrix b = normal_rows(3, columns, 2);
    const Eigen::MatrixXd k = covariance(h, a, b);
    for (Index i = 0; i < a.rows(); ++i) {
      for (Index j = 0; j < b.rows(); ++j) {
        EXPECT_NEAR(k(i, j), plain_kernel(h, a, i, b, j), 1e-14);
      }
    }
  }
}

TEST(Kernel, MatrixIsCovariancePlusNoise) {
  const Hyperparameters h = some_hyperparameters(4);
  const RowMatrix a = normal_rows(17, 4, 1);
  Eigen::MatrixXd expected = covariance(h, a, a);
  expected.diagonal().array() += h.noise_variance;
  const KernelMatrix matrix(h, a);
  EXPECT_LT((mapped(matrix.with_noise().panel(), 17) - expected).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Kernel, FarRowsHaveNoCovarianceAndNoNan) {
  Hyperparameters h = some_hyperparameters(2);
  RowMatrix a(3, 2);
  a << 1e170, 0, -1e300, 1e300, 1e12, 1;
  EXPECT_TRUE(covariance(h, a, normal_rows(4, 2, 1)).allFinite());
  h.slope_variance = 0;
  const Eigen::MatrixXd k = covariance(h, a, normal_rows(4, 2, 1));
  EXPECT_LT(k.cwiseAbs().maxCoeff(), 1e-290);  // NaN would not be less
}

TEST(Kernel, EqualRowsHaveThePriorVariance) {
  const Hyperparameters h = some_hyperparameters(3);
  const RowMatrix a = normal_rows(6, 3, 1);
  EXPECT_LT((covariance(h, a, a).diagonal() - prior_variance(h, a)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Kernel, LogVectorThereAndBack) {
  const Hyperparameters h = some_hyperparameters(3);
  const Hyperparameters back = Hyperparameters::from_log(h.log_vector());
  EXPECT_DOUBLE_EQ(back.signal_variance, h.signal_variance);
  EXPECT_DOUBLE_EQ(back.noise_variance, h.noise_variance);
  EXPECT_DOUBLE_EQ(back.slope_variance, h.slope_variance);
  EXPECT_LT((back.length_scales - h.length_scales).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(Kernel, DerivativesAreThoseOfDifferences) {
  const Index columns = 3;
  const RowMatrix a = normal_rows(12, columns, 1);
  Eigen::MatrixXd weight = normal_rows(12, 12, 2);
  weight = (weight + weight.transpose()).eval();
  const Eigen::VectorXd at = some_hyperparameters(columns).log_vector();
  const auto value = [&](const Eigen::VectorXd& log_vector) {
    const KernelMatrix matrix(Hyperparameters::from_log(log_vector), a);
    return (weight.array() * mapped(matrix.with_noise().panel(), 12).array()).sum();
  };
  const Eigen::VectorXd gradient = KernelMatrix(Hyperparameters::from_log(at), a).contract(weight);
  for (Index k = 0; k < at.size(); ++k) {
    Eigen::VectorXd above = at;
    Eigen::VectorXd below = at;
    above[k] += 1e-5;
    below[k] -= 1e-5;
    EXPECT_NEAR(gradient[k], (value(above) - value(below)) / 2e-5, 1e-7) << "entry " << k;
  }
}

}  // namespace
}  // namespace dissent
