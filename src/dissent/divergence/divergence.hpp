// Closed forms of the divergences D(p_i || p_j) between two Gaussians, diagonal or full, and the registry that names
// them.
//
// With F = L_j^-1 (L_i - L_j) and z = L_j^-1 (mu_i - mu_j), L the covariance's lower Cholesky factor (for a diagonal
// covariance: the standard deviations), and f(x) = x - log(1 + x):
//   kl               (|z|^2 + |F|^2) / 2 + sum_k f(F_kk)          every term >= 0, so nothing cancels
//   chernoff:a       -ln integral p_i^a p_j^(1-a); bhattacharyya is a = 1/2
//   renyi:a          chernoff:a / (1 - a) for any a > 0 but 1; infinite where the integral diverges (a > 1)
//   hellinger        squared Hellinger distance, 1 - exp(-bhattacharyya)
//   wasserstein      squared 2-Wasserstein distance; in squared units of the output, not in nats
//   min, max         the extremes of Theorem 3.1 of Berry & Meger: always 0; and 0 for equal components, else infinite
// Equal components give exactly 0. These are the plain functions; batched kernels stand in pairwise.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dissent/mixture/gaussian.hpp"

namespace dissent {

enum class DivergenceKind { kKl, kBhattacharyya, kChernoff, kRenyi, kHellinger, kWasserstein, kMin, kMax };

// What the pairwise estimate over a divergence is, relative to the true mutual information.
enum class Bound { kLower, kUpper, kNone, kExact, kInterval };
std::string_view name_of(Bound bound);

struct Divergence {
  DivergenceKind kind = DivergenceKind::kKl;
  double alpha = 0.5;  // of kChernoff and kRenyi

  std::string name() const;  // "kl", "chernoff:0.3": parse(name()) gives the same divergence
  bool symmetric() const;
};

struct DivergenceInfo {
  DivergenceKind kind;
  std::string_view name;     // as typed, without the parameter
  bool has_alpha;            // typed as name:alpha
  bool symmetric;            // for kChernoff: at alpha = 1/2 only
  Bound bound;               // of the pairwise estimate
  std::string_view formula;  // one line, for lists
};

// Every divergence there is, in the order of lists.
std::span<const DivergenceInfo> divergences();
const DivergenceInfo& info_of(DivergenceKind kind);

// "kl", "bhattacharyya", "chernoff:0.3", ...; throws an InputError that lists what there is.
Divergence parse_divergence(std::string_view text);

double divergence(const Divergence& d, const DiagonalGaussian& p, const DiagonalGaussian& q);
double divergence(const Divergence& d, const FullGaussian& p, const FullGaussian& q);

}  // namespace dissent
