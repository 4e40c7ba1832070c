// The registry of divergences D(p || q) between two components. The pairwise estimators are made of them.
//
//   kl               integral p ln(p/q)
//   jeffreys         kl(p, q) + kl(q, p), the symmetrised KL. The sum and not its half: it is never below kl, so that
//   its
//                    pairwise estimate is an upper bound as kl's is. With the half that does not hold: a component of
//                    small weight w that is far from the rest one way and near the other way says w kl about itself,
//                    and the half gives it about w kl / 2
//   chernoff:a       -ln integral p^a q^(1-a); bhattacharyya is a = 1/2
//   renyi:a          chernoff:a / (1 - a) for any a > 0 but 1; infinite where the integral diverges (a > 1)
//   hellinger        squared Hellinger distance, 1 - exp(-bhattacharyya)
//   wasserstein      squared 2-Wasserstein distance; in squared units of the output, not in nats
//   min, max         the extremes of Theorem 3.1 of Berry & Meger: always 0; and 0 for equal components, else infinite
// Equal components give exactly 0.
//
// To add one: a row in the table of divergence.cpp, and a test. It becomes a pairwise estimator by itself, and where
// its row says so an acquisition. closed_forms.hpp has the plain functions, kernels.hpp the batched ones.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dissent/base/parse.hpp"

namespace dissent {

struct DiagonalGaussian;  // mixture/gaussian.hpp
struct FullGaussian;
struct Categorical;  // mixture/categorical.hpp

namespace kernels {
struct Kernel;
struct PairBlock;
}  // namespace kernels

// What the pairwise estimate over a divergence is, relative to the true mutual information.
enum class Bound { kLower, kUpper, kNone, kExact, kInterval };
std::string_view name_of(Bound bound);

enum class Symmetry { kNever, kAtHalf, kAlways };  // kAtHalf: for alpha = 1/2 alone

// D(p || q) of two components of a kind; made of one function that takes any.
struct PlainDivergence {
  double (*diagonal)(double alpha, const DiagonalGaussian& p, const DiagonalGaussian& q);
  double (*full)(double alpha, const FullGaussian& p, const FullGaussian& q);
  double (*categorical)(double alpha, const Categorical& p, const Categorical& q);

  template <class F>
  constexpr PlainDivergence(F f) : diagonal(f), full(f), categorical(f) {}
};

struct DivergenceInfo {
  std::string_view name;     // as typed, without the parameter
  std::string_view title;    // in sentences
  Parameter parameter = {};  // alpha
  Symmetry symmetry = Symmetry::kNever;
  Bound bound = Bound::kNone;  // of the pairwise estimate
  std::string_view formula;    // one line, for lists
  // Rows are chosen by it as well, alone and joint: it is finite, in nats, and adds up over independent outputs.
  bool acquisition = false;
  PlainDivergence plain;
  const kernels::Kernel* kernel = nullptr;  // null: by the plain functions alone
  void (*finish)(double alpha,
                 const kernels::PairBlock& block) = nullptr;  // from what the kernel gave, if not the same
};

// Every divergence there is, in the order of lists; kl is the first.
std::span<const DivergenceInfo> divergences();

// Which divergence, with its parameter: a plain value.
struct Divergence {
  const DivergenceInfo* info = &divergences().front();
  double alpha = 0.5;  // of those that take one

  std::string name() const;  // "kl", "chernoff:0.3": parse_divergence(name()) gives the same divergence
  bool symmetric() const;
};

// "kl", "bhattacharyya", "chernoff:0.3", ...; throws an InputError that lists what there is.
Divergence parse_divergence(std::string_view text);

// The plain functions, which hold everywhere.
double divergence(const Divergence& d, const DiagonalGaussian& p, const DiagonalGaussian& q);
double divergence(const Divergence& d, const FullGaussian& p, const FullGaussian& q);
double divergence(const Divergence& d, const Categorical& p, const Categorical& q);

}  // namespace dissent
