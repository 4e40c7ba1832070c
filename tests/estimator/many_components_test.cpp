// Thousands of components: the estimates are those of the plain sums, and the memory stays small.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/mixtures.hpp"

namespace dissent {
namespace {

TEST(ManyComponents, GiveThePlainEstimate) {
  const test::MixtureCase c{.num_inputs = 5, .num_components = 300, .num_outputs = 2, .weighted = true, .seed = 2};
  const Weights weights = test::case_weights(c);
  for (const char* name : {"kl", "bhattacharyya"}) {
    const Mixture<double> mixture = test::diagonal_mixture<double>(c);
    const Uncertainty found = test::run(name, mixture, weights);
    for (std::size_t n = 0; n < c.num_inputs; ++n) {
      const Combined truth = combine(weights, test::plain_divergences(parse_divergence(name), mixture, n));
      EXPECT_LT(test::relative_error(found.epistemic[n], truth.epistemic), 1e-10) << name;
      EXPECT_LT(test::relative_error(found.log_deficit[n], truth.log_deficit), 1e-10) << name;
    }
  }
}

// The largest memory, in bytes, of a process that does nothing but this; -1 where it fails.
template <class Work>
long peak_memory(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  rusage used{};
  return wait4(child, &status, 0, &used) == child && status == 0 ? used.ru_maxrss * 1024L : -1;
}

TEST(ManyComponents, TwoThousandTakeLessThanAGigabyte) {
  const Mixture<double> mixture =
      test::diagonal_mixture<double>({.num_inputs = 1, .num_components = 2000, .num_outputs = 1, .seed = 1});
  const Weights weights = Weights::uniform(2000);
  for (const char* name : {"kl", "bhattacharyya", "epkl"}) {
    const long peak = peak_memory([&] { test::run(name, mixture, weights); });
    EXPECT_GT(peak, 2000L * 2000 * 8) << name;  // one matrix of divergences
    EXPECT_LT(peak, 1L << 30) << name;
  }
}

}  // namespace
}  // namespace dissent
