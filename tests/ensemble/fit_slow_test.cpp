// What the presets reach, and how they hold up with few rows.
#include <gtest/gtest.h>

#include <cmath>

#include "ensemble/sample_rows.hpp"

namespace dissent {
namespace {

using test::hetero;
using test::mean_of;
using test::SampleRows;

class EveryModel : public testing::TestWithParam<Model> {};

TEST_P(EveryModel, ReachesTheTruthOnHetero) {
  const SampleRows train = hetero(2000, 0);
  const SampleRows test = hetero(4000, 1);
  const FitResult result = fit({.model = GetParam(), .seed = 5}, {}, train.rows());
  const double reached = mean_of(result.model.log_density(test.x, test.y));
  const double truth = test::hetero_log_likelihood(test);
  // Standard error of the difference: below 0.01 nats on 4000 rows.
  EXPECT_GT(reached, truth - 0.08);
  EXPECT_LT(reached, truth + 0.03);
  EXPECT_TRUE(result.report.diverged.empty());
}

// Without held-out rows and without the rows that bootstrap samples leave out the gap was 3 to 7 nats.
TEST_P(EveryModel, DoesNotOverfitAHundredRows) {
  for (std::uint64_t part = 2; part < 6; ++part) {
    const SampleRows train = hetero(100, part);
    const SampleRows test = hetero(2000, 1);
    const FitResult result = fit({.model = GetParam(), .seed = part}, {.validation = 0}, train.rows());
    const double reached = mean_of(result.model.log_density(test.x, test.y));
    EXPECT_GT(reached, test::hetero_log_likelihood(test) - 1.5) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
