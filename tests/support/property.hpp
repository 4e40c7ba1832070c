// Property tests with RapidCheck, the same on every run: a fixed seed and a number of cases set here, not by the
// environment. Sanitizers make each case several times slower, so a tenth of them runs there.
//     check_property(2000, [] { const MixtureCase c = *mixture_cases({.max_components = 5}); RC_ASSERT(...); });
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>
#include <utility>

namespace dissent::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kCaseDivisor = 10;
#else
inline constexpr int kCaseDivisor = 1;
#endif

template <class Testable>
void check_property(int num_cases, Testable&& testable) {
  rc::detail::TestMetadata metadata;
  metadata.id = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  metadata.description = metadata.id;
  rc::detail::TestParams params;
  params.seed = 20241;
  params.maxSuccess = num_cases / kCaseDivisor;
  const auto result = rc::detail::checkTestable(std::forward<Testable>(testable), metadata, params);
  if (!result.template is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    FAIL() << text.str();
  }
}

}  // namespace dissent::test
