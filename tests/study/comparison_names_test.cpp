// Metrics and methods as people type them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/study/comparison.hpp"
#include "study/made_results.hpp"

namespace dissent {
namespace {

TEST(ComparisonNames, AreChecked) {
  try {
    compare(small_study(), {.metric = "rmsee"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "metric 'rmsee' is not known; did you mean 'rmse'? (known: rmse, rmse_paper, log_likelihood)");
  }
  EXPECT_THROW(compare(small_study(), {.ours = {"kll"}}), InputError);
  EXPECT_THROW(compare(small_study(), {.baselines = {"badge"}}), InputError);
}

std::vector<std::string> found(const std::vector<std::string>& typed) {
  return find_methods(typed, {"kl", "kl, components=3", "kl, components=5, hidden=64,64", "mc:10, components=3", "mc"});
}

TEST(ComparisonNames, MethodsAsTheyAreTyped) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(found({}), Names());
  EXPECT_EQ(found({"kl", "mc"}), (Names{"kl", "mc"}));
  EXPECT_EQ(found({"kl,mc"}), (Names{"kl", "mc"}));
  EXPECT_EQ(found({"kl, components=3"}), (Names{"kl, components=3"}));
  EXPECT_EQ(found({"kl", " components=3"}), (Names{"kl, components=3"}));  // as a list of the command line comes
  EXPECT_EQ(found({"mc, kl,components=3 , mc:10, components=3"}),
            (Names{"mc", "kl, components=3", "mc:10, components=3"}));
  EXPECT_EQ(found({"kl, components=5, hidden=64,64", "mc"}), (Names{"kl, components=5, hidden=64,64", "mc"}));
}

TEST(ComparisonNames, MethodsThatAreNotThere) {
  const auto problem = [](const std::string& typed) -> std::string {
    try {
      found({typed});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_TRUE(
      problem("kl, component=3").starts_with("method 'kl, component=3' is not known; did you mean 'kl, components=3'?"))
      << problem("kl, component=3");
  EXPECT_TRUE(problem("mc, components=4").starts_with("method 'mc, components=4' is not known"));
  EXPECT_TRUE(problem("kl, components=3, mcc").starts_with("method 'mcc' is not known; did you mean 'mc'?"));
}

// A name must be known in one of the studies; the others then compare nothing.
TEST(ComparisonNames, AreThoseOfAllStudies) {
  StudyResults other;
  add_runs(other, "hopper", "flow", "badge", 3, 1);
  const std::vector<StudyResults> studies = {small_study(), other};
  const std::vector<Comparison> comparisons = compare_studies(studies, {.ours = {"badge"}, .num_draws = 20});
  ASSERT_EQ(comparisons.size(), 2U);
  EXPECT_TRUE(comparisons[0].tasks[0].by_area.empty());
  EXPECT_TRUE(comparisons[1].tasks[0].methods[0].ours);
  EXPECT_THROW(compare_studies(studies, {.ours = {"bait"}}), InputError);
}

}  // namespace
}  // namespace dissent
