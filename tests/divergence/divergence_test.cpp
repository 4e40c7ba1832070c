// The plain closed forms: against the same formulas in 50 digits, at the edges of double, and as premetrics.
#include "dissent/divergence/divergence.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "support/mixtures.hpp"
#include "support/property.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_50;
constexpr double kInf = std::numeric_limits<double>::infinity();

const std::vector<std::string> kNames{
    "kl",        "jeffreys",     "bhattacharyya", "chernoff:0.3", "chernoff:0.999", "chernoff:1e-6",
    "renyi:0.2", "renyi:0.9999", "renyi:1.5",     "hellinger",    "wasserstein",    "min",
    "max"};

// -ln integral p^a q^(1-a) = sum of a (1-a) delta^2 / (2 v) + ln(v / (v_q^a v_p^(1-a))) / 2, v = a v_q + (1-a) v_p
Exact exact_chernoff(Exact alpha, const DiagonalGaussian& p, const DiagonalGaussian& q) {
  Exact sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const Exact vp = Exact(p.stddev[d]) * p.stddev[d];
    const Exact vq = Exact(q.stddev[d]) * q.stddev[d];
    const Exact v = alpha * vq + (1 - alpha) * vp;
    if (v <= 0) {
      return -kInf;
    }
    const Exact delta = Exact(p.mean[d]) - q.mean[d];
    sum += alpha * (1 - alpha) * delta * delta / (2 * v) + (log(v) - alpha * log(vq) - (1 - alpha) * log(vp)) / 2;
  }
  return sum;
}

Exact exact_kl(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  Exact sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const Exact ratio = Exact(p.stddev[d]) / q.stddev[d];
    const Exact z = (Exact(p.mean[d]) - q.mean[d]) / q.stddev[d];
    sum += (z * z + ratio * ratio - 1) / 2 - log(ratio);
  }
  return sum;
}

Exact exact_wasserstein(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  Exact sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    sum += pow(Exact(p.mean[d]) - q.mean[d], 2) + pow(Exact(p.stddev[d]) - q.stddev[d], 2);
  }
  return sum;
}

Exact exact_divergence(const Divergence& kind, const DiagonalGaussian& p, const DiagonalGaussian& q) {
  using Formula = std::function<Exact()>;
  const std::map<std::string_view, Formula> formulas{
      {"kl", [&] { return exact_kl(p, q); }},
      {"jeffreys", [&]() -> Exact { return exact_kl(p, q) + exact_kl(q, p); }},
      {"bhattacharyya", [&] { return exact_chernoff(Exact(0.5), p, q); }},
      {"chernoff", [&] { return exact_chernoff(kind.alpha, p, q); }},
      {"renyi", [&]() -> Exact { return exact_chernoff(kind.alpha, p, q) / (1 - Exact(kind.alpha)); }},
      {"hellinger", [&]() -> Exact { return 1 - exp(-exact_chernoff(Exact(0.5), p, q)); }},
      {"wasserstein", [&] { return exact_wasserstein(p, q); }},
      {"min", [] { return Exact(0); }},
      {"max", [] { return Exact(kInf); }}};
  return formulas.at(kind.info->name)();
}

bool identical(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  return std::ranges::equal(p.mean, q.mean) && std::ranges::equal(p.stddev, q.stddev);
}

TEST(Divergence, AgreesWithFiftyDigits) {
  test::check_property(2000, [] {
    const test::MixtureCase c = *test::mixture_cases({.min_components = 2, .max_components = 2, .max_outputs = 6});
    const Mixture<double> mixture = test::diagonal_mixture<double>(c);
    InputComponents components;
    components.load(mixture.view(), 0, 0);
    const DiagonalGaussian p = components.diagonal_component(0);
    const DiagonalGaussian q = components.diagonal_component(1);
    RC_PRE(!identical(p, q));
    for (const std::string& name : kNames) {
      const Divergence kind = parse_divergence(name);
      const double truth = static_cast<double>(exact_divergence(kind, p, q));
      RC_LOG() << name << ": " << divergence(kind, p, q) << " is " << truth << "\n";
      RC_ASSERT(test::relative_error(divergence(kind, p, q), truth) < 1e-12);
    }
  });
}

TEST(Divergence, AgreesWithFiftyDigitsAtTheEdgesOfDouble) {
  struct Pair {
    double mean_p, stddev_p, mean_q, stddev_q;
  };
  for (const Pair& pair :
       {Pair{0, 1e-150, 0, 1e150}, Pair{0, 1e150, 0, 1e-150}, Pair{1e30, 1, 1e30, 3}, Pair{0, 1e-20, 1e-20, 2e-20},
        Pair{0, 5e-324, 0, 1e-320}, Pair{0, 1e-310, 1e-310, 1e-310}, Pair{1e6, 1, 0, 1}, Pair{0, 1e308, 1e308, 1e307},
        Pair{0, 1, 1e-160, 1}, Pair{-1e30, 1e-100, 1e30, 1e100}, Pair{1, 1, 1, 1 + 1e-15}, Pair{0, 1, 0, 1.25},
        Pair{0, 1, 0, 0.8}, Pair{0, 0.76, 0, 1}, Pair{0, 1e-160, 0, 2e-160}}) {
    const std::array<double, 4> v{pair.mean_p, pair.stddev_p, pair.mean_q, pair.stddev_q};
    const DiagonalGaussian p{std::span(v).subspan(0, 1), std::span(v).subspan(1, 1)};
    const DiagonalGaussian q{std::span(v).subspan(2, 1), std::span(v).subspan(3, 1)};
    for (const std::string& name : kNames) {
      const Divergence kind = parse_divergence(name);
      const double truth = static_cast<double>(exact_divergence(kind, p, q));
      const double value = divergence(kind, p, q);
      EXPECT_TRUE(test::relative_error(value, truth) < 1e-12 || std::max(value, truth) < 1e-300)
          << name << " of N(" << v[0] << ", " << v[1] << "), N(" << v[2] << ", " << v[3]
          << "): " << divergence(kind, p, q) << " is " << truth;
    }
  }
}

TEST(Divergence, IsAPremetric) {
  test::check_property(2000, [] {
    const test::MixtureCase c = *test::mixture_cases({.min_components = 2, .max_components = 3, .max_outputs = 5});
    for (const Mixture<double>& mixture : {test::diagonal_mixture<double>(c), test::full_mixture(c)}) {
      for (const std::string& name : kNames) {
        const std::vector<double> values = test::plain_divergences(parse_divergence(name), mixture, 0);
        for (std::size_t k = 0; k < values.size(); ++k) {
          RC_ASSERT(values[k] >= 0);
          RC_ASSERT(k % (c.num_components + 1) != 0 || values[k] == 0);  // the diagonal: a component and itself
        }
      }
    }
  });
}

TEST(Divergence, SymmetricOnesAreSymmetric) {
  const test::MixtureCase c{.num_components = 4, .num_outputs = 5, .scale_gap = 0.1, .seed = 4};
  for (const std::string& name : kNames) {
    const Divergence kind = parse_divergence(name);
    const std::vector<double> values = test::plain_divergences(kind, test::diagonal_mixture<double>(c), 0);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool same = test::relative_error(values[4 * i + j], values[4 * j + i]) < 1e-13;
        EXPECT_EQ(same, kind.symmetric()) << name;
      }
    }
  }
  EXPECT_TRUE(parse_divergence("chernoff:0.5").symmetric());
}

TEST(Divergence, FullCovarianceAgreesWithDiagonal) {
  test::check_property(2000, [] {
    const test::MixtureCase c = *test::mixture_cases({.min_components = 2, .max_components = 3, .max_outputs = 5});
    const Mixture<double> mixture = test::diagonal_mixture<double>(c);
    const Mixture<double> full = test::as_full(mixture);
    // Squaring the standard deviations has cost the full form its last digits; so it is held to those that are left.
    Mixture<double> squared = mixture;
    for (double& s : squared.stddev) {
      s = std::sqrt(s * s);
    }
    for (const std::string& name : kNames) {
      const Divergence kind = parse_divergence(name);
      const std::vector<double> expected = test::plain_divergences(kind, squared, 0);
      const std::vector<double> values = test::plain_divergences(kind, full, 0);
      for (std::size_t k = 0; k < values.size(); ++k) {
        RC_LOG() << name << " " << values[k] << " is " << expected[k] << "\n";
        RC_ASSERT(test::relative_error(values[k], expected[k]) < 1e-10);
      }
    }
  });
}

TEST(Divergence, FullCovarianceByClosedForms) {
  // Sigma_p = {{2, 1}, {1, 2}}, Sigma_q = identity, means (1, 0) and (0, 0).
  Eigen::MatrixXd covariance(2, 2);
  covariance << 2, 1, 1, 2;
  const FullGaussian p{Eigen::Vector2d(1, 0), Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL()};
  const FullGaussian q{Eigen::Vector2d(0, 0), Eigen::MatrixXd::Identity(2, 2)};
  EXPECT_NEAR(divergence(parse_divergence("kl"), p, q), 0.5 * (4 - 2 + 1 - std::log(3.0)), 1e-14);
  // inverse of Sigma_p = {{2, -1}, {-1, 2}} / 3
  EXPECT_NEAR(divergence(parse_divergence("kl"), q, p), 0.5 * (4.0 / 3 - 2 + 2.0 / 3 + std::log(3.0)), 1e-14);
  // mixed = {{1.5, .5}, {.5, 1.5}}: determinant 2, inverse {{.75, -.25}, ..}
  EXPECT_NEAR(divergence(parse_divergence("bhattacharyya"), p, q), 0.75 / 8 + 0.5 * std::log(2 / std::sqrt(3.0)),
              1e-14);
  // eigenvalues of Sigma_p are 1 and 3
  EXPECT_NEAR(divergence(parse_divergence("wasserstein"), p, q), 1 + std::pow(std::sqrt(3.0) - 1, 2), 1e-14);
  EXPECT_EQ(divergence(parse_divergence("renyi:3"), p, q), kInf);  // 3 I - 2 Sigma_p has the eigenvalue -3
}

TEST(Divergence, IsUnchangedByAnInvertibleMap) {
  test::check_property(2000, [] {
    const test::MixtureCase c =
        *test::mixture_cases({.min_components = 2, .max_components = 3, .max_outputs = 4, .min_log10_gap = -3});
    const Mixture<double> mixture = test::full_mixture(c);
    Stream stream(c.seed, Purpose::kTest, 9);
    const Eigen::MatrixXd map = test::random_map(c.num_outputs, stream);
    InputComponents components;
    components.load(mixture.view(), 0, 0);
    std::vector<FullGaussian> mapped;
    for (std::size_t m = 0; m < c.num_components; ++m) {
      const FullGaussian& g = components.full_component(m);
      const Eigen::MatrixXd root = map * g.factor;
      mapped.push_back({map * g.mean, Eigen::LLT<Eigen::MatrixXd>(root * root.transpose()).matrixL()});
    }
    // The map's own rounding moves z by about 1e-16 |mean| / stddev, and covariances by 1e-16 times their condition.
    for (const char* name : {"kl", "bhattacharyya", "chernoff:0.3", "renyi:0.7"}) {
      const double value =
          divergence(parse_divergence(name), components.full_component(0), components.full_component(1));
      const double after = divergence(parse_divergence(name), mapped[0], mapped[1]);
      RC_LOG() << name << " " << value << " became " << after << "\n";
      RC_ASSERT(std::abs(value - after) <= 1e-10 * (value + std::sqrt(value)));
    }
  });
}

TEST(Divergence, NamesRoundTrip) {
  for (const std::string& name : kNames) {
    EXPECT_EQ(parse_divergence(name).name(), parse_divergence(parse_divergence(name).name()).name());
    EXPECT_EQ(parse_divergence(parse_divergence(name).name()).alpha, parse_divergence(name).alpha);
  }
  EXPECT_EQ(parse_divergence("chernoff:0.3").name(), "chernoff:0.3");
  const Divergence odd{parse_divergence("chernoff:0.5").info, 1.0 / 3};
  EXPECT_EQ(parse_divergence(odd.name()).alpha, odd.alpha);
}

TEST(Divergence, RegistryKnowsEachOnce) {
  std::set<std::string_view> tested;
  for (const std::string& name : kNames) {
    tested.insert(parse_divergence(name).info->name);
  }
  for (const DivergenceInfo& info : divergences()) {
    const std::string typed = std::string(info.name) + (info.parameter.letter.empty() ? "" : ":0.25");
    EXPECT_EQ(parse_divergence(typed).info, &info);
    EXPECT_FALSE(info.formula.empty());
    EXPECT_FALSE(info.title.empty());
    EXPECT_TRUE(tested.contains(info.name)) << info.name << " is not among those that are tested here";
  }
}

TEST(Divergence, BadNamesAreRefusedWithWhatThereIs) {
  const auto error = [](std::string_view text) { return message_of<InputError>([&] { parse_divergence(text); }); };
  for (const DivergenceInfo& info : divergences()) {
    EXPECT_NE(error("klx").find(info.name), std::string::npos);
  }
  EXPECT_NE(error("").find("known: kl, "), std::string::npos);
  EXPECT_NE(error("helinger").find("did you mean 'hellinger'?"), std::string::npos);
  EXPECT_NE(error("kl:0.5").find("takes no parameter"), std::string::npos);
  EXPECT_NE(error("chernoff").find("needs a number, as in 'chernoff:0.3'"), std::string::npos);
  for (const char* text : {"chernoff:", "chernoff:x", "chernoff:0.3x", "chernoff: 0.3", "renyi:0,5"}) {
    EXPECT_NE(error(text).find("is not a number"), std::string::npos) << text;
  }
  for (const char* text : {"chernoff:0", "chernoff:1", "chernoff:-0.5", "chernoff:nan", "chernoff:inf", "renyi:0",
                           "renyi:1", "renyi:-1", "renyi:inf", "renyi:nan"}) {
    const char* rule =
        text[0] == 'c' ? "is not a number alpha with 0 < alpha < 1" : "is not a number alpha > 0 other than 1";
    EXPECT_NE(error(text).find(rule), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace dissent
