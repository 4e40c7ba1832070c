// Agreement with the reference implementation of Berry & Meger's estimators, to 1e-10 relative where its values are
// finite (and not themselves rounding: it forms ln of a mean of exponentials, which leaves 1e-15 near 0). Not compared:
// elk and kde, entropies of estimators that we do not ship.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "dissent/array/npz.hpp"
#include "dissent/estimator/monte_carlo.hpp"
#include "support/mixtures.hpp"

namespace dissent {
namespace {

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* directory = std::getenv("DISSENT_GOLDEN_DIR");
    if (directory == nullptr) {
      GTEST_SKIP() << "DISSENT_GOLDEN_DIR does not name the folder of golden values";
    }
    directory_ = directory;
  }
  NpzFile open(const std::string& name) const { return NpzFile(directory_ + "/" + name + ".npz"); }
  static Mixture<double> mixture(const NpzFile& file) {
    const Array mean = file.load("mus");
    return {mean.shape()[0], mean.shape()[1], mean.shape()[2], mean.to<double>(), file.load("sigs").to<double>(), {}};
  }

 private:
  std::string directory_;
};

void expect_values(const std::vector<double>& values, const std::vector<double>& expected, const std::string& what,
                   double least = 1e-14) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t n = 0; n < values.size(); ++n) {
    EXPECT_TRUE(std::isfinite(values[n])) << what << " of input " << n;
    if (std::isfinite(expected[n])) {
      EXPECT_LE(std::abs(values[n] - expected[n]), 1e-10 * std::abs(expected[n]) + least) << what << " of input " << n;
    }
  }
}

// The reference divides the sum over pairs by the number of divergences that are not 0, among which its rounding may
// put a component's divergence from itself: so its value times M (M - 1) + k, k in 0 .. M, is the sum.
void expect_mean_divergence(const std::vector<double>& values, const std::vector<double>& expected, double m) {
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (std::isfinite(expected[n])) {
      const double divisor = values[n] / expected[n] * m * (m - 1);
      EXPECT_NEAR(divisor, std::round(divisor), 1e-10 * divisor) << "kl_mean of input " << n;
      EXPECT_GE(std::round(divisor), m * (m - 1)) << "kl_mean of input " << n;
      EXPECT_LE(std::round(divisor), m * m) << "kl_mean of input " << n;
    }
  }
}

void expect_estimates(const NpzFile& file, const Mixture<double>& mixture, const std::string& where) {
  const Weights weights = Weights::uniform(mixture.num_components);
  const std::vector<std::pair<std::string, std::string>> estimates{{"kl_exp", "kl"},
                                                                   {"kl_exp_stable", "kl"},
                                                                   {"bhatt_exp", "bhattacharyya"},
                                                                   {"bhatt_exp_stable", "bhattacharyya"},
                                                                   {"wasserstein_exp", "wasserstein"}};
  for (const auto& [golden, name] : estimates) {
    if (file.contains(golden)) {
      const Uncertainty u = test::run(name, mixture, weights);
      expect_values(u.epistemic, file.load(golden).to<double>(), where + " " + golden);
      expect_values(u.aleatoric, file.load("lower_bound").to<double>(), where + " " + name + " aleatoric", 1e-12);
    }
  }
  expect_mean_divergence(test::run("epkl", mixture, weights).epistemic, file.load("kl_mean").to<double>(),
                         static_cast<double>(mixture.num_components));
}

TEST_F(Golden, Estimates) {
  for (const int num_components : {2, 5, 10, 50}) {
    for (const int num_outputs : {1, 3, 11, 27, 257}) {
      const std::string name = fmt::format("est_N{}_M{}_D{}", num_components == 50 && num_outputs == 257 ? 8 : 64,
                                           num_components, num_outputs);
      const NpzFile file = open(name);
      expect_estimates(file, mixture(file), name);
    }
  }
}

TEST_F(Golden, Divergences) {
  for (const int num_components : {2, 5, 10}) {
    for (const int num_outputs : {1, 3, 11, 27, 257}) {
      const NpzFile file = open(fmt::format("est_N64_M{}_D{}", num_components, num_outputs));
      const Mixture<double> m = mixture(file);
      for (const auto& [golden, name] :
           {std::pair("kl_div", "kl"), std::pair("bhatt_div", "bhattacharyya"), std::pair("wass_div", "wasserstein")}) {
        const std::vector<double> expected = file.load(golden).to<double>();
        for (std::size_t n = 0; n < m.num_inputs; ++n) {
          const std::vector<double> values = test::plain_divergences(parse_divergence(name), m, n);
          for (std::size_t k = 0; k < values.size(); ++k) {
            const double truth = expected[k * m.num_inputs + n];
            EXPECT_LE(std::abs(values[k] - truth), 1e-10 * truth + 1e-13 * num_outputs)
                << golden << " " << k << " " << n;
          }
        }
      }
    }
  }
}

// Where the reference over- or underflows we are finite, and agree with its log-domain form.
TEST_F(Golden, HardCases) {
  const NpzFile file = open("est_edge_M5_D257");
  const Mixture<double> m = mixture(file);
  expect_estimates(file, m, "edge");
  const Weights weights = Weights::uniform(5);
  for (const char* name : {"kl", "bhattacharyya", "chernoff:0.3", "epkl", "bounds", "wasserstein", "hellinger"}) {
    for (const auto& u : {test::run(name, m, weights)}) {
      for (std::size_t n = 0; n < u.size(); ++n) {
        EXPECT_TRUE(std::isfinite(u.epistemic[n])) << name << n;
        EXPECT_TRUE(std::isfinite(u.total[n])) << name << n;
        // epkl has no deficit left where it exceeds H(w)
        EXPECT_TRUE(std::isfinite(u.log_deficit[n]) || std::string(name) == "epkl") << name << n;
      }
      EXPECT_EQ(u.epistemic[0], 0) << name;  // five equal components
    }
  }
}

TEST_F(Golden, TrueMutualInformation) {
  for (const int num_components : {2, 5, 10}) {
    const std::string name = fmt::format("true_mi_1d_M{}", num_components);
    const NpzFile file = open(name);
    const Mixture<double> m = mixture(file);
    expect_estimates(file, m, name);
    const Uncertainty u = test::run("quadrature", m, Weights::uniform(m.num_components));
    expect_values(u.epistemic, file.load("true_mi").to<double>(), name + " quadrature");
    expect_values(u.aleatoric, file.load("cond_entropy").to<double>(), name + " aleatoric");
  }
}

TEST_F(Golden, MonteCarloWithGivenNoise) {
  const NpzFile file = open("mc_given_noise_N16_M5_D3_K200");
  const Mixture<double> m = mixture(file);
  const std::vector<double> eps = file.load("eps").to<double>();  // [M][K][N][D]
  const std::vector<double> expected = file.load("mc_mi").to<double>();
  const Weights weights = Weights::uniform(5);
  // The reference averages -log mix over y minus the components' exact entropies; ours averages log(mix / p_j), whose
  // entropy part is sampled too. They differ by the noise of that part: mean of (z^2 - 1) / 2 over the samples.
  for (std::size_t n = 0; n < 16; ++n) {
    InputComponents components;
    components.load(m.view(), n, n);
    double noise_entropy = 0;
    const auto source = [&](std::size_t component, std::size_t sample, std::span<double> noise) {
      for (std::size_t d = 0; d < 3; ++d) {
        noise[d] = eps[((component * 200 + sample) * 16 + n) * 3 + d];
        noise_entropy += 0.5 * (noise[d] * noise[d] - 1) / 1000;
      }
    };
    const MonteCarloResult mc = monte_carlo_input(components, weights, share_samples(weights, 1000, 0.5), source);
    EXPECT_EQ(mc.num_samples, 1000u);
    EXPECT_NEAR(weights.entropy - mc.deficit + noise_entropy, expected[n], 1e-10 * std::abs(expected[n]));
    EXPECT_GT(mc.standard_error, 0);
  }
}

}  // namespace
}  // namespace dissent
