#include "dissent/ensemble/given_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/mixtures.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Mixture<double> mixture_of(std::size_t num_inputs, double decades = 6) {
  return test::diagonal_mixture<double>(
      {.num_inputs = num_inputs, .num_components = 4, .num_outputs = 3, .decades = decades, .seed = 9});
}

TEST(GivenModel, PredictsTheRowsOfItsArrays) {
  const Mixture<double> pool = mixture_of(700);
  const Mixture<double> aim = mixture_of(5);
  const Ensemble model = given_ensemble(pool.view(), aim.view());
  EXPECT_EQ(model.num_components(), 4U);
  EXPECT_EQ(model.num_outputs(), 3U);
  EXPECT_EQ(model.columns().inputs, std::vector<std::string>{"row"});
  EXPECT_FALSE(model.has_networks());
  const Mixture<double> found = model.predict(std::vector<double>{699, 3, 702});
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_EQ(found.mean[k], pool.mean[699 * 12 + k]);
    EXPECT_EQ(found.stddev[12 + k], pool.stddev[3 * 12 + k]);
    EXPECT_EQ(found.mean[24 + k], aim.mean[2 * 12 + k]);
  }
}

// Float32 has 24 bits: 2^24 + 1 is the first whole number that it does not have.
TEST(GivenModel, KnowsRowsBeyondSinglePrecision) {
  constexpr std::size_t kRows = (std::size_t{1} << 24) + 2;
  const std::vector<double> stddev(kRows, 1.0);
  std::vector<double> mean(kRows);
  mean[kRows - 1] = 7;
  MixtureView<double> pool{kRows, 1, 1};
  pool.mean = mean.data();
  pool.stddev = stddev.data();
  const Ensemble model = given_ensemble(pool);
  const Mixture<double> found = model.predict(std::vector<double>{static_cast<double>(kRows - 1), 0x1p24});
  EXPECT_EQ(found.mean, (std::vector<double>{7, 0}));
}

// An offset a million times the spread, and stddevs far from 1: base space keeps the divergences.
TEST(GivenModel, BaseSpaceKeepsTheDigitsOfSmallDifferences) {
  Mixture<double> far = mixture_of(50, 0);
  const std::vector<double> expected = estimate(Estimator(), far.view()).log_deficit;
  for (std::size_t k = 0; k < far.mean.size(); ++k) {
    far.mean[k] = 1e-30 * (far.mean[k] + 1e6 * static_cast<double>(1 + k % 3));
    far.stddev[k] *= 1e-30;
  }
  const Ensemble model = given_ensemble(far.view());
  Mixture<float> base;
  std::vector<double> rows(50);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    rows[n] = static_cast<double>(n);
  }
  model.predict_base(rows, base);
  const std::vector<double> found = estimate(Estimator(), base.view()).log_deficit;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    EXPECT_NEAR(found[n], expected[n], 1e-5 * std::max(1.0, std::abs(expected[n])));
  }
}

TEST(GivenModel, RefusesWhatItCannotLookUp) {
  Mixture<double> pool = mixture_of(3);
  const auto message = [](const auto& work) { return message_of<InputError>(work); };
  const Ensemble model = given_ensemble(pool.view());
  EXPECT_NE(message([&] { model.predict(std::vector<double>{3}); }).find("row 3 of 3"), std::string::npos);
  EXPECT_NE(message([&] { model.predict(std::vector<double>{0.5}); }).find("row 0.5"), std::string::npos);
  for (const double wrong : {-1.0, -0x1p63, 0x1p64}) {  // beyond std::size_t
    EXPECT_NE(message([&] { model.predict(std::vector<double>{wrong}); }).find("of 3 given rows"), std::string::npos);
  }
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -1e300}) {
    EXPECT_THROW(model.predict(std::vector<double>{wrong}), InputError) << wrong;
  }
  const Mixture<double> narrow = test::diagonal_mixture<double>({.num_components = 3, .num_outputs = 3});
  EXPECT_NE(message([&] { given_ensemble(pool.view(), narrow.view()); }).find("the aim has 3 components"),
            std::string::npos);
  const Mixture<double> full = test::full_mixture({.num_components = 3, .num_outputs = 2});
  EXPECT_NE(message([&] { given_ensemble(full.view()); }).find("covariances"), std::string::npos);
  pool.stddev[13] = 0;
  EXPECT_NE(message([&] { given_ensemble(pool.view()); }).find("stddev[1, 0, 1]"), std::string::npos);
}

}  // namespace
}  // namespace dissent
