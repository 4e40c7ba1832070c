#include "dissent/divergence/divergence.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "dissent/divergence/categorical_forms.hpp"
#include "dissent/divergence/closed_forms.hpp"
#include "dissent/divergence/kernels.hpp"

namespace dissent {
namespace {

using kernels::BlockResult;
using kernels::Kernel;
using kernels::PairBlock;

constexpr Kernel kKlKernel{
    .run = [](const auto& in, const double*, double* scratch,
              const BlockResult& out) { kernels::kl_block(in, scratch, out); },
    .plain = [](double, const DiagonalGaussian& p, const DiagonalGaussian& q) { return kl(p, q); }};

constexpr Kernel kBhattacharyyaKernel{
    .run = [](const auto& in, const double*, double* scratch,
              const BlockResult& out) { kernels::bhattacharyya_block(in, scratch, out); },
    .plain = [](double, const DiagonalGaussian& p, const DiagonalGaussian& q) { return chernoff(0.5, p, q); },
    .cancels = false};

constexpr Kernel kChernoffKernel{
    .run = [](const auto& in, const double* alpha, double* scratch,
              const BlockResult& out) { kernels::chernoff_block(in, alpha, scratch, out); },
    .plain = [](double alpha, const DiagonalGaussian& p, const DiagonalGaussian& q) { return chernoff(alpha, p, q); },
    .takes_alpha = true};

// Every value of the block becomes change(value).
template <class Change>
void for_values(const PairBlock& block, const Change& change) {
  for (std::size_t k = 0; k < block.num_components * block.num_components; ++k) {
    for (std::size_t n = 0; n < block.count; ++n) {
      double& value = block.divergence[k * kernels::kBlock + n];
      value = change(value);
    }
  }
}

// The kernel's block holds KL in both directions: each becomes the sum of the two.
void to_jeffreys(double, const PairBlock& block) {
  const std::size_t M = block.num_components;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = i + 1; j < M; ++j) {
      double* there = block.divergence + (i * M + j) * kernels::kBlock;
      double* back = block.divergence + (j * M + i) * kernels::kBlock;
      for (std::size_t n = 0; n < block.count; ++n) {
        there[n] = back[n] = there[n] + back[n];
      }
    }
  }
}

void to_hellinger(double, const PairBlock& block) {
  for_values(block, [](double value) { return -std::expm1(-value); });
}

void to_renyi(double alpha, const PairBlock& block) {
  for_values(block, [alpha](double value) { return value / (1 - alpha); });
}

constexpr Parameter kChernoffAlpha{.letter = "A",
                                   .least = std::numeric_limits<double>::denorm_min(),
                                   .most = 1 - 0x1p-53,
                                   .rule = "a number alpha with 0 < alpha < 1",
                                   .example = "0.3"};
constexpr Parameter kRenyiAlpha{.letter = "A",
                                .least = std::numeric_limits<double>::denorm_min(),
                                .most = std::numeric_limits<double>::max(),
                                .rule = "a number alpha > 0 other than 1 (renyi:1 is kl)",
                                .example = "0.3",
                                .except = 1};

// One row per divergence, in list order. A row without a kernel uses the plain functions, which are slow but right
// everywhere. The bounds are proven: upper for kl and what is never below it, lower for chernoff and what is never
// above it.
constexpr std::array kDivergences{
    DivergenceInfo{.name = "kl",
                   .title = "Kullback-Leibler",
                   .bound = Bound::kUpper,
                   .formula = "integral p ln(p/q)",
                   .acquisition = true,
                   .plain = [](double, const auto& p, const auto& q) { return kl(p, q); },
                   .kernel = &kKlKernel},
    DivergenceInfo{.name = "jeffreys",
                   .title = "Jeffreys",
                   .symmetry = Symmetry::kAlways,
                   .bound = Bound::kUpper,
                   .formula = "integral (p - q) ln(p/q), KL in both directions",
                   .acquisition = true,
                   .plain = [](double, const auto& p, const auto& q) { return kl(p, q) + kl(q, p); },
                   .kernel = &kKlKernel,
                   .finish = to_jeffreys},
    DivergenceInfo{.name = "bhattacharyya",
                   .title = "Bhattacharyya",
                   .symmetry = Symmetry::kAlways,
                   .bound = Bound::kLower,
                   .formula = "-ln integral sqrt(p q)",
                   .acquisition = true,
                   .plain = [](double, const auto& p, const auto& q) { return chernoff(0.5, p, q); },
                   .kernel = &kBhattacharyyaKernel},
    DivergenceInfo{.name = "chernoff",
                   .title = "Chernoff",
                   .parameter = kChernoffAlpha,
                   .symmetry = Symmetry::kAtHalf,
                   .bound = Bound::kLower,
                   .formula = "-ln integral p^a q^(1-a), 0 < a < 1",
                   .acquisition = true,
                   .plain = [](double alpha, const auto& p, const auto& q) { return chernoff(alpha, p, q); },
                   .kernel = &kChernoffKernel},
    DivergenceInfo{
        .name = "renyi",
        .title = "Renyi",
        .parameter = kRenyiAlpha,
        .formula = "ln(integral p^a q^(1-a)) / (a-1), a > 0, a != 1",
        .plain = [](double alpha, const auto& p, const auto& q) { return chernoff(alpha, p, q) / (1 - alpha); },
        .kernel = &kChernoffKernel,
        .finish = to_renyi},
    DivergenceInfo{.name = "hellinger",
                   .title = "Hellinger",
                   .symmetry = Symmetry::kAlways,
                   .bound = Bound::kLower,
                   .formula = "1 - integral sqrt(p q)",
                   .plain = [](double, const auto& p, const auto& q) { return -std::expm1(-chernoff(0.5, p, q)); },
                   .kernel = &kBhattacharyyaKernel,
                   .finish = to_hellinger},
    DivergenceInfo{.name = "wasserstein",
                   .title = "Wasserstein",
                   .symmetry = Symmetry::kAlways,
                   .formula = "squared 2-Wasserstein distance (in squared output units)",
                   .plain = [](double, const auto& p, const auto& q) { return wasserstein(p, q); }},
    DivergenceInfo{.name = "min",
                   .title = "the smallest divergence",
                   .symmetry = Symmetry::kAlways,
                   .bound = Bound::kLower,
                   .formula = "0",
                   .plain = [](double, const auto&, const auto&) { return 0.0; }},
    DivergenceInfo{.name = "max",
                   .title = "the largest divergence",
                   .symmetry = Symmetry::kAlways,
                   .bound = Bound::kUpper,
                   .formula = "0 if p = q, else infinity",
                   .plain = [](double, const auto& p, const auto& q) {
                     return equal(p, q) ? 0 : std::numeric_limits<double>::infinity();
                   }}};

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, 5> kNames{"lower", "upper", "none", "exact", "interval"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::span<const DivergenceInfo> divergences() { return kDivergences; }

std::string Divergence::name() const { return method_text(info->name, info->parameter, alpha); }

bool Divergence::symmetric() const {
  return info->symmetry == Symmetry::kAlways || (info->symmetry == Symmetry::kAtHalf && alpha == 0.5);
}

Divergence parse_divergence(std::string_view text) {
  const MethodText typed = split_method(text);
  Divergence divergence{.info = &find_method("divergence", typed.name, divergences())};
  const double alpha = parse_parameter("divergence", typed, divergence.info->parameter);
  if (typed.parameter) {
    divergence.alpha = alpha;
  }
  return divergence;
}

double divergence(const Divergence& d, const DiagonalGaussian& p, const DiagonalGaussian& q) {
  return d.info->plain.diagonal(d.alpha, p, q);
}

double divergence(const Divergence& d, const FullGaussian& p, const FullGaussian& q) {
  return d.info->plain.full(d.alpha, p, q);
}

double divergence(const Divergence& d, const Categorical& p, const Categorical& q) {
  return d.info->plain.categorical(d.alpha, p, q);
}

}  // namespace dissent
