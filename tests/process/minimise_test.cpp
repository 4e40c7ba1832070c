#include "dissent/process/minimise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dissent {
namespace {

using Eigen::VectorXd;

double rosenbrock(const VectorXd& x, VectorXd& gradient) {
  const double a = 1 - x[0];
  const double b = x[1] - x[0] * x[0];
  gradient[0] = -2 * a - 400 * x[0] * b;
  gradient[1] = 200 * b;
  return a * a + 100 * b * b;
}

TEST(Minimise, FindsTheBottomOfRosenbrocksValley) {
  VectorXd start(2);
  start << -1.2, 1;
  const Minimum found = minimise(rosenbrock, start, {.iterations = 200, .tolerance = 1e-14});
  EXPECT_NEAR(found.at[0], 1, 1e-5);
  EXPECT_NEAR(found.at[1], 1, 1e-5);
  EXPECT_LE(found.evaluations, 120);
}

TEST(Minimise, StaysInsideOfADomainThatEnds) {
  const auto barrier = [](const VectorXd& x, VectorXd& gradient) {
    if (x[0] <= 0) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    gradient[0] = 1 - 1e-3 / x[0];
    return x[0] - 1e-3 * std::log(x[0]);
  };
  const Minimum found = minimise(barrier, VectorXd::Constant(1, 1.0), {.tolerance = 1e-14});
  EXPECT_NEAR(found.at[0], 1e-3, 1e-6);
}

TEST(Minimise, AStartOutsideOrAtTheMinimumComesBack) {
  const auto nowhere = [](const VectorXd&, VectorXd&) { return std::numeric_limits<double>::infinity(); };
  EXPECT_EQ(minimise(nowhere, VectorXd::Zero(2), {}).at, VectorXd::Zero(2));
  const auto bowl = [](const VectorXd& x, VectorXd& gradient) {
    gradient = 2 * x;
    return x.squaredNorm();
  };
  EXPECT_EQ(minimise(bowl, VectorXd::Zero(3), {}).at, VectorXd::Zero(3));
}

TEST(Minimise, StopsAtItsLimits) {
  VectorXd start(2);
  start << -1.2, 1;
  const Minimum few = minimise(rosenbrock, start, {.iterations = 3, .tolerance = 0});
  const Minimum more = minimise(rosenbrock, start, {.iterations = 6, .tolerance = 0});
  EXPECT_LT(few.evaluations, more.evaluations);
  EXPECT_LT(more.value, few.value);
}

}  // namespace
}  // namespace dissent
