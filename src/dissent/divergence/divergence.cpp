#include "dissent/divergence/divergence.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "dissent/base/special.hpp"

namespace dissent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::array<DivergenceInfo, 8> kDivergences{{
    {DivergenceKind::kKl, "kl", false, false, Bound::kUpper, "integral p ln(p/q)"},
    {DivergenceKind::kBhattacharyya, "bhattacharyya", false, true, Bound::kLower, "-ln integral sqrt(p q)"},
    {DivergenceKind::kChernoff, "chernoff", true, false, Bound::kLower, "-ln integral p^a q^(1-a), 0 < a < 1"},
    {DivergenceKind::kRenyi, "renyi", true, false, Bound::kNone, "ln(integral p^a q^(1-a)) / (a-1), a > 0, a != 1"},
    {DivergenceKind::kHellinger, "hellinger", false, true, Bound::kLower, "1 - integral sqrt(p q)"},
    {DivergenceKind::kWasserstein, "wasserstein", false, true, Bound::kNone,
     "squared 2-Wasserstein distance (in squared output units)"},
    {DivergenceKind::kMin, "min", false, true, Bound::kLower, "0"},
    {DivergenceKind::kMax, "max", false, true, Bound::kUpper, "0 if p = q, else infinity"},
}};

// The scalar core of chernoff:a for one dimension, without the mean: (1/2) ln(s^2 / (s_j^2a s_i^2(1-a))), where
// s^2 = a s_j^2 + (1-a) s_i^2. Valid for any a != 0 with s^2 > 0; infinite (a > 1) otherwise.
double chernoff_scale(double alpha, double stddev_i, double stddev_j) {
  // ratio - 1, without cancellation; the two branches agree where they meet.
  const double e = (stddev_i - stddev_j) / stddev_j;
  if (std::abs(e) < 0.25) {
    const double beta = 1 - alpha;
    const double u = e * (2 + e);
    if (beta > 0.5 && beta < 1) {  // the mirror image C_a(i, j) = C_1-a(j, i) keeps the digits that 1 - beta would lose
      return chernoff_scale(beta, stddev_j, stddev_i);
    }
    if (1 + beta * u <= 0) {
      return kInfinity;
    }
    return 0.5 * (beta * x_minus_log1p(u) - x_minus_log1p(beta * u));
  }
  const double log_i = std::log(stddev_i);
  const double log_j = std::log(stddev_j);
  double log_mixed = 0;  // ln(s^2)
  if (alpha < 1) {
    log_mixed = log_add_exp(std::log(alpha) + 2 * log_j, std::log1p(-alpha) + 2 * log_i);
  } else {
    const double ratio = std::exp(2 * (log_i - log_j));
    const double mixed = alpha + (1 - alpha) * ratio;
    if (mixed <= 0) {
      return kInfinity;
    }
    log_mixed = std::log(mixed) + 2 * log_j;
  }
  return 0.5 * log_mixed - alpha * log_j - (1 - alpha) * log_i;
}

// -ln integral p^a q^(1-a); for a > 1 it is negative, and -infinity stands for a divergent integral.
double chernoff(double alpha, const DiagonalGaussian& p, const DiagonalGaussian& q) {
  double sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const double si = p.stddev[d];
    const double sj = q.stddev[d];
    const double scale = chernoff_scale(alpha, si, sj);
    if (scale == kInfinity) {
      return -kInfinity;
    }
    const double delta = p.mean[d] - q.mean[d];
    // The mean part alpha (1 - alpha) / 2 * delta^2 / s^2, as a square of a quotient: no square that over- or underflows.
    if (alpha < 1) {
      const double z = delta / std::hypot(std::sqrt(alpha) * sj, std::sqrt(1 - alpha) * si);
      sum += 0.5 * alpha * (1 - alpha) * z * z + scale;
    } else {
      const double e = (si - sj) / sj;
      const double z = delta / sj;
      sum += 0.5 * alpha * (1 - alpha) * z * z / (1 + (1 - alpha) * e * (2 + e)) + scale;
    }
  }
  return sum;
}

double chernoff(double alpha, const FullGaussian& p, const FullGaussian& q) {
  if (p.mean == q.mean && p.factor == q.factor) {
    return 0;
  }
  const Eigen::VectorXd delta = p.mean - q.mean;
  const Eigen::MatrixXd covariance_p = p.factor * p.factor.transpose();
  const Eigen::MatrixXd covariance_q = q.factor * q.factor.transpose();
  const Eigen::LLT<Eigen::MatrixXd> mixed(alpha * covariance_q + (1 - alpha) * covariance_p);
  const FullGaussian between{delta, mixed.matrixL()};
  if (mixed.info() != Eigen::Success || !(between.factor.diagonal().array() > 0).all()) {
    return -kInfinity;  // only for alpha > 1
  }
  const double mean_part = between.factor.triangularView<Eigen::Lower>().solve(delta).squaredNorm();
  const double log_part =
      sum_log_stddev(between) - alpha * sum_log_stddev(q) - (1 - alpha) * sum_log_stddev(p);
  const double value = 0.5 * alpha * (1 - alpha) * mean_part + log_part;
  return alpha < 1 ? std::max(0.0, value) : std::min(0.0, value);
}

double kl(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  double sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const double e = (p.stddev[d] - q.stddev[d]) / q.stddev[d];
    const double z = (p.mean[d] - q.mean[d]) / q.stddev[d];
    const double f = std::abs(e) < 0.25 ? x_minus_log1p(e) : e - (std::log(p.stddev[d]) - std::log(q.stddev[d]));
    sum += 0.5 * (z * z + e * e) + f;
  }
  return sum;
}

double kl(const FullGaussian& p, const FullGaussian& q) {
  const auto lower = q.factor.triangularView<Eigen::Lower>();
  const Eigen::VectorXd z = lower.solve(p.mean - q.mean);
  const Eigen::MatrixXd scaled = lower.solve(p.factor - q.factor);
  double sum = 0.5 * (z.squaredNorm() + scaled.squaredNorm());
  for (Eigen::Index k = 0; k < scaled.rows(); ++k) {
    const double e = scaled(k, k);
    sum += std::abs(e) < 0.25 ? x_minus_log1p(e) : e - (std::log(p.factor(k, k)) - std::log(q.factor(k, k)));
  }
  return sum;
}

double wasserstein(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  double sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const double mean_gap = p.mean[d] - q.mean[d];
    const double stddev_gap = p.stddev[d] - q.stddev[d];
    sum += mean_gap * mean_gap + stddev_gap * stddev_gap;
  }
  return sum;
}

// |mu_i - mu_j|^2 + |L_i - L_j U|^2 minimised over rotations U: tr S_i + tr S_j - 2 (sum of singular values of L_j^T L_i).
double wasserstein(const FullGaussian& p, const FullGaussian& q) {
  if (p.mean == q.mean && p.factor == q.factor) {
    return 0;
  }
  const Eigen::MatrixXd cross = q.factor.transpose() * p.factor;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(cross * cross.transpose(), Eigen::EigenvaluesOnly);
  const double nuclear = eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().sum();
  const double traces = p.factor.squaredNorm() + q.factor.squaredNorm();
  return (p.mean - q.mean).squaredNorm() + std::max(0.0, traces - 2 * nuclear);
}

bool equal(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  return std::ranges::equal(p.mean, q.mean) && std::ranges::equal(p.stddev, q.stddev);
}

bool equal(const FullGaussian& p, const FullGaussian& q) { return p.mean == q.mean && p.factor == q.factor; }

template <class Gaussian>
double dispatch(const Divergence& d, const Gaussian& p, const Gaussian& q) {
  switch (d.kind) {
    case DivergenceKind::kKl:
      return kl(p, q);
    case DivergenceKind::kBhattacharyya:
      return chernoff(0.5, p, q);
    case DivergenceKind::kChernoff:
      return chernoff(d.alpha, p, q);
    case DivergenceKind::kRenyi:
      return chernoff(d.alpha, p, q) / (1 - d.alpha);
    case DivergenceKind::kHellinger:
      return -std::expm1(-chernoff(0.5, p, q));
    case DivergenceKind::kWasserstein:
      return wasserstein(p, q);
    case DivergenceKind::kMin:
      return 0;
    case DivergenceKind::kMax:
      return equal(p, q) ? 0 : kInfinity;
  }
  return 0;
}

std::string known_names() {
  std::string names;
  for (const DivergenceInfo& info : kDivergences) {
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", info.name, info.has_alpha ? ":ALPHA" : "");
  }
  return names;
}

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, 5> kNames{"lower", "upper", "none", "exact", "interval"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::span<const DivergenceInfo> divergences() { return kDivergences; }

const DivergenceInfo& info_of(DivergenceKind kind) { return kDivergences[static_cast<std::size_t>(kind)]; }

std::string Divergence::name() const {
  const DivergenceInfo& info = info_of(kind);
  return info.has_alpha ? fmt::format("{}:{}", info.name, alpha) : std::string(info.name);
}

bool Divergence::symmetric() const {
  return info_of(kind).symmetric || (kind == DivergenceKind::kChernoff && alpha == 0.5);
}

Divergence parse_divergence(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const info = std::ranges::find(kDivergences, name, &DivergenceInfo::name);
  check(info != kDivergences.end(), "divergence: '{}' is not known; there are {}", text, known_names());
  if (!info->has_alpha) {
    check(colon == std::string_view::npos, "divergence: '{}' takes no parameter; write '{}'", name, name);
    return {info->kind, 0.5};
  }
  check(colon != std::string_view::npos, "divergence: '{}' needs its alpha, as in '{}:0.3'", name, name);
  const std::string_view number = text.substr(colon + 1);
  double alpha = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), alpha);
  check(error == std::errc() && end == number.data() + number.size(), "divergence: '{}' is not a number in '{}'", number,
        text);
  if (info->kind == DivergenceKind::kChernoff) {
    check(alpha > 0 && alpha < 1, "divergence: alpha = {} in '{}'; chernoff takes 0 < alpha < 1", alpha, text);
  } else {
    check(alpha > 0 && alpha != 1 && std::isfinite(alpha),
          "divergence: alpha = {} in '{}'; renyi takes alpha > 0 other than 1 (renyi:1 is kl)", alpha, text);
  }
  return {info->kind, alpha};
}

double divergence(const Divergence& d, const DiagonalGaussian& p, const DiagonalGaussian& q) { return dispatch(d, p, q); }

double divergence(const Divergence& d, const FullGaussian& p, const FullGaussian& q) { return dispatch(d, p, q); }

}  // namespace dissent
