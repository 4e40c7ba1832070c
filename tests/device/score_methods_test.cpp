// What methods of choice say that they do on a card, there are kernels for.
#include "dissent/device/score_methods.hpp"

#include <gtest/gtest.h>

#include <string>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/estimator/estimator.hpp"

namespace dissent::score {
namespace {

TEST(ScoreMethods, EachChoiceOnACardHasAKernel) {
  std::size_t num_checked = 0;
  for (const AcquisitionInfo& info : acquisitions()) {
    if (info.choose_there == nullptr) {
      continue;
    }
    const std::string text = info.name + (info.parameter.letter.empty() ? "" : ":0.5");
    EXPECT_TRUE(pairwise_rule(pairwise_estimator(Acquisition::parse(text).divergence()))) << text;
    ++num_checked;
  }
  EXPECT_GE(num_checked, 8U);  // four divergences and their joint forms
}

}  // namespace
}  // namespace dissent::score
