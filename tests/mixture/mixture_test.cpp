#include "dissent/mixture/mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::string weights_error(const std::vector<double>& given, std::size_t num_components) {
  return message_of<InputError>([&] { Weights::from(given, num_components); });
}

TEST(Weights, EqualWeightsAreUniformToTheBit) {
  for (std::size_t m = 1; m <= 20; ++m) {
    const Weights uniform = Weights::uniform(m);
    EXPECT_DOUBLE_EQ(uniform.entropy, std::log(static_cast<double>(m)));
    for (const Weights& same : {Weights::from({}, m), Weights::from(uniform.value, m)}) {
      EXPECT_EQ(same.value, uniform.value);
      EXPECT_EQ(same.log, uniform.log);
      EXPECT_EQ(same.entropy, uniform.entropy);
    }
  }
}

TEST(Weights, OneComponentHasNoEntropy) {
  EXPECT_EQ(Weights::uniform(1).entropy, 0);
  EXPECT_EQ(Weights::from(std::vector<double>{1.0}, 1).entropy, 0);
}

TEST(Weights, ZeroTakesAComponentOut) {
  const Weights weights = Weights::from(std::vector<double>{0.5, 0, 0.5}, 3);
  EXPECT_EQ(weights.log[1], -kInf);
  EXPECT_DOUBLE_EQ(weights.entropy, std::log(2.0));
}

TEST(Weights, RoundingIsDividedOut) {
  const Weights weights = Weights::from(std::vector<double>{0.5 + 1e-7, 0.25, 0.25}, 3);
  EXPECT_NEAR(weights.value[0] + weights.value[1] + weights.value[2], 1, 1e-15);
  EXPECT_NO_THROW(Weights::from(std::vector<double>{0.1f, 0.2f, 0.7f}, 3));
}

TEST(Weights, BrokenRulesAreNamed) {
  EXPECT_NE(weights_error({0.5, -0.5, 1}, 3).find("weight 2 = -0.5 is negative"), std::string::npos);
  EXPECT_NE(weights_error({0.5, 0.5, kNan}, 3).find("weight 3 = nan is not a finite"), std::string::npos);
  EXPECT_NE(weights_error({kInf, 0.5}, 2).find("weight 1 = inf is not a finite"), std::string::npos);
  EXPECT_NE(weights_error({0.5, 0.5}, 3).find("2 weights for 3 components"), std::string::npos);
  EXPECT_NE(weights_error({0.6, 0.5}, 2).find("sum to 1.1"), std::string::npos);
  EXPECT_NE(weights_error({0.5, 0.5 + 2e-6}, 2).find("must sum to 1"), std::string::npos);
  EXPECT_NE(weights_error({0, 0}, 2).find("sum to 0"), std::string::npos);
  EXPECT_THROW(Weights::uniform(0), InputError);
  EXPECT_THROW(Weights::from({}, 0), InputError);
}

TEST(Mixture, ViewRefusesArraysThatDisagreeWithTheShape) {
  Mixture<double> mixture = Mixture<double>::diagonal(3, 2, 4);
  EXPECT_EQ(mixture.view().num_inputs, 3u);
  mixture.mean.pop_back();
  EXPECT_NE(message_of<InputError>([&] { mixture.view(); }).find("mean has 23 values"), std::string::npos);
  mixture = Mixture<double>::diagonal(3, 2, 4);
  mixture.stddev.pop_back();
  EXPECT_NE(message_of<InputError>([&] { mixture.view(); }).find("stddev has 23 values"), std::string::npos);
  mixture = Mixture<double>::full(3, 2, 4);
  mixture.covariance.pop_back();
  EXPECT_NE(message_of<InputError>([&] { mixture.view(); }).find("covariance has 95 values"), std::string::npos);
  mixture = Mixture<double>::full(3, 2, 4);
  mixture.stddev.resize(24, 1);
  EXPECT_NE(message_of<InputError>([&] { mixture.view(); }).find("both stddev and covariance"), std::string::npos);
}

TEST(Mixture, RowsAreAWindowOnTheSameMemory) {
  const Mixture<float> mixture = Mixture<float>::full(5, 2, 3);
  const MixtureView<float> part = mixture.view().rows(2, 4);
  EXPECT_EQ(part.num_inputs, 2u);
  EXPECT_EQ(part.mean, mixture.mean.data() + 2 * 6);
  EXPECT_EQ(part.covariance, mixture.covariance.data() + 2 * 18);
  EXPECT_EQ(part.stddev, nullptr);
}

TEST(Mixture, ShapesWithoutComponentsOrOutputsAreRefused) {
  EXPECT_NE(message_of<InputError>([] { validate_shape(Mixture<double>::diagonal(3, 0, 2).view()); }).find("M = 0"),
            std::string::npos);
  EXPECT_NE(message_of<InputError>([] { validate_shape(Mixture<double>::diagonal(3, 2, 0).view()); }).find("D = 0"),
            std::string::npos);
  EXPECT_NO_THROW(validate_shape(Mixture<double>::diagonal(0, 2, 2).view()));
  EXPECT_NO_THROW(validate_shape(Mixture<double>::full(0, 2, 2).view()));
}

TEST(Mixture, MissingPointersAreRefused) {
  const std::vector<double> values(4, 1);
  EXPECT_THROW(validate_shape(MixtureView<double>{1, 2, 2, nullptr, values.data(), nullptr}), InputError);
  EXPECT_THROW(validate_shape(MixtureView<double>{1, 2, 2, values.data(), nullptr, nullptr}), InputError);
  EXPECT_THROW(validate_shape(MixtureView<double>{1, 2, 2, values.data(), values.data(), values.data()}), InputError);
}

template <class T>
class Validate : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Validate, Types);

TYPED_TEST(Validate, NamesTheFirstBadValueByItsPlaceInTheWhole) {
  Mixture<TypeParam> mixture = Mixture<TypeParam>::diagonal(4, 3, 5);
  mixture.stddev.assign(mixture.stddev.size(), 1);
  EXPECT_NO_THROW(validate(mixture.view()));
  mixture.stddev[(3 * 3 + 2) * 5 + 4] = -1;
  mixture.mean[(2 * 3 + 1) * 5 + 0] = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_NE(message_of<InputError>([&] { validate(mixture.view(), 100); }).find("mean[102, 1, 0] = nan"),
            std::string::npos);
  mixture.mean[(2 * 3 + 1) * 5 + 0] = 0;
  EXPECT_NE(message_of<InputError>([&] { validate(mixture.view()); }).find("stddev[3, 2, 4] = -1 is not positive"),
            std::string::npos);
  mixture.stddev[(3 * 3 + 2) * 5 + 4] = 0;
  EXPECT_NE(message_of<InputError>([&] { validate(mixture.view()); }).find("stddev[3, 2, 4] = 0 is not positive"),
            std::string::npos);
  mixture.stddev[(3 * 3 + 2) * 5 + 4] = std::numeric_limits<TypeParam>::infinity();
  EXPECT_NE(message_of<InputError>([&] { validate(mixture.view()); }).find("stddev[3, 2, 4] = inf"), std::string::npos);
}

TYPED_TEST(Validate, CovariancesMustBeFiniteSymmetricAndPositiveDefinite) {
  Mixture<TypeParam> mixture = Mixture<TypeParam>::full(2, 2, 2);
  for (std::size_t k = 0; k < 4; ++k) {
    std::copy_n(std::vector<TypeParam>{2, 0.5, 0.5, 1}.data(), 4, mixture.covariance.data() + 4 * k);
  }
  EXPECT_NO_THROW(validate(mixture.view()));
  TypeParam* last = mixture.covariance.data() + 12;
  const auto error = [&] { return message_of<InputError>([&] { validate(mixture.view(), 7); }); };
  last[1] = TypeParam(0.51);
  EXPECT_NE(error().find("covariance[8, 1] is not symmetric"), std::string::npos);
  last[1] = last[2] = 3;
  EXPECT_NE(error().find("covariance[8, 1] is not positive definite"), std::string::npos);
  last[1] = last[2] = TypeParam(std::sqrt(2.0)) * TypeParam(1.000001);
  EXPECT_NE(error().find("covariance[8, 1] is not positive definite"), std::string::npos);
  last[1] = last[2] = 0;
  last[3] = 0;
  EXPECT_NE(error().find("covariance[8, 1] is not positive definite"), std::string::npos);
  last[3] = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_NE(error().find("covariance[8, 1] holds a value that is not a finite number"), std::string::npos);
  last[3] = std::numeric_limits<TypeParam>::infinity();
  EXPECT_NE(error().find("covariance[8, 1] holds a value that is not a finite number"), std::string::npos);
  last[3] = -1;
  EXPECT_NE(error().find("covariance[8, 1] is not positive definite"), std::string::npos);
}

TEST(Weights, MadeOnceComeBackUnchanged) {
  for (const std::vector<double>& given :
       {std::vector<double>{0.1, 0.2, 0.7}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {0.1000001, 0.3, 0.6}, {0.3, 0.3, 0.4}}) {
    const Weights once = Weights::from(given, 3);
    const Weights twice = Weights::from(once.value, 3);
    EXPECT_EQ(once.value, twice.value);
    EXPECT_EQ(once.log, twice.log);
    EXPECT_EQ(once.entropy, twice.entropy);
  }
  EXPECT_EQ(Weights::from(Weights::uniform(3).value, 3).entropy, Weights::uniform(3).entropy);
}

}  // namespace
}  // namespace dissent
