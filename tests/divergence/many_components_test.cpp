// More components than the kernels take at once: compared in groups, in blocks of fewer inputs.
#include <gtest/gtest.h>

#include "dissent/divergence/pairwise.hpp"
#include "support/mixtures.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMost = PairwiseDivergences::kMostDirect;

TEST(ManyComponents, BlocksStayWithinTheirMemory) {
  for (const std::size_t M : {1UL, 5UL, kMost, kMost + 1, 1000UL, 2000UL, 4000UL, 5000UL, 20000UL}) {
    const std::size_t block = PairwiseDivergences::block_size(M);
    EXPECT_GE(block, 1U);
    EXPECT_EQ(block == PairwiseDivergences::kBlock, M * M * 64 * 8 <= PairwiseDivergences::kMostBytes) << M;
    EXPECT_TRUE(block == 1 || block * M * M * 8 <= PairwiseDivergences::kMostBytes) << M;
  }
}

template <class T>
void expect_plain(const std::string& name, std::size_t num_components, std::size_t num_outputs, double tolerance) {
  const Divergence kind = parse_divergence(name);
  const Mixture<T> mixture = test::diagonal_mixture<T>(
      {.num_inputs = 3, .num_components = num_components, .num_outputs = num_outputs, .seed = num_components});
  PairwiseDivergences pairs(kind, num_components, num_outputs);
  pairs.compute(mixture.view(), 1, 2, 0);
  double worst = 0;
  for (const std::size_t n : {0UL, 1UL}) {
    const std::vector<double> expected = test::plain_divergences(kind, mixture, n + 1);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      worst = std::max(worst, test::relative_error(pairs.divergence()[k * pairs.stride() + n], expected[k]));
    }
    InputComponents components;
    components.load(mixture.view(), n + 1, n + 1);
    for (std::size_t m = 0; m < num_components; ++m) {
      EXPECT_NEAR(pairs.sum_log_stddev()[m * pairs.stride() + n], sum_log_stddev(components.diagonal_component(m)),
                  1e-4);
    }
  }
  EXPECT_LT(worst, tolerance) << name << " M=" << num_components << " D=" << num_outputs;
}

TEST(ManyComponents, GroupsGiveWhatThePlainFunctionsGive) {
  for (const char* name : {"kl", "jeffreys", "bhattacharyya", "chernoff:0.3", "hellinger"}) {
    expect_plain<double>(name, kMost + 1, 1, 1e-11);
    expect_plain<double>(name, 387, 3, 1e-11);
    expect_plain<float>(name, 300, 2, 5e-6);
  }
  expect_plain<float>("kl", 260, 40, 5e-6);
  expect_plain<double>("wasserstein", 260, 1, 1e-11);  // has no kernel
}

TEST(ManyComponents, AnAlphaOfItsOwnForEachInput) {
  const Mixture<double> mixture =
      test::diagonal_mixture<double>({.num_inputs = 2, .num_components = 270, .num_outputs = 2, .seed = 4});
  PairwiseDivergences pairs(parse_divergence("chernoff:0.5"), 270, 2);
  pairs.compute(mixture.view(), 0, 2, 0, std::vector<double>{0.2, 0.7});
  for (const std::size_t n : {0UL, 1UL}) {
    const std::vector<double> expected =
        test::plain_divergences(parse_divergence(n == 0 ? "chernoff:0.2" : "chernoff:0.7"), mixture, n);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_LT(test::relative_error(pairs.divergence()[k * pairs.stride() + n], expected[k]), 1e-11);
    }
  }
}

TEST(ManyComponents, ABadValueIsNamedByItsOwnComponent) {
  Mixture<double> mixture =
      test::diagonal_mixture<double>({.num_inputs = 2, .num_components = 300, .num_outputs = 2, .seed = 4});
  mixture.stddev[(300 + 299) * 2 + 1] = -1;
  PairwiseDivergences pairs(parse_divergence("kl"), 300, 2);
  const std::string message = message_of<InputError>([&] { pairs.compute(mixture.view(), 0, 2, 10); });
  EXPECT_NE(message.find("stddev[11, 299, 1]"), std::string::npos) << message;
}

}  // namespace
}  // namespace dissent
