// The registry of divergences D(p || q) between two components. The pairwise estimators are built on them.
//
//   kl               integral p ln(p/q)
//   jeffreys         kl(p, q) + kl(q, p), the symmetrised KL. The sum, not its half: it is never below kl, so its
//                    pairwise estimate is an upper bound, as kl's is. With the half that does not hold: a component of
//                    small weight w that is far from the rest one way and near the other way tells w kl about itself,
//                    and the half gives it about w kl / 2
//   chernoff:a       -ln integral p^a q^(1-a); bhattacharyya is a = 1/2
//   renyi:a          chernoff:a / (1 - a) for any a > 0 except 1; infinite if the integral diverges (a > 1)
//   hellinger        squared Hellinger distance, 1 - exp(-bhattacharyya)
//   wasserstein      squared 2-Wasserstein distance; in squared units of the output, not in nats
//   min, max         the extremes of Theorem 3.1 of Berry & Meger: always 0; and 0 for equal components, else infinite
// Equal components give exactly 0.
//
// To add one, write a row in the table of divergence.cpp and a test. It becomes a pairwise estimator automatically and,
// if its row says so, an acquisition. closed_forms.hpp has the plain functions, kernels.hpp the batched ones.
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

enum class Symmetry { kNever, kAtHalf, kAlways };  // kAtHalf: only for alpha = 1/2

// D(p || q) of two components of one kind; made from one function that takes any kind.
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
  // It can also choose rows, alone and jointly: it is finite, in nats, and adds up over independent outputs.
  bool acquisition = false;
  PlainDivergence plain;
  const kernels::Kernel* kernel = nullptr;  // null: only the plain functions
  void (*finish)(double alpha,
                 const kernels::PairBlock& block) = nullptr;  // makes the divergence from the kernel's, if they differ
};

// Every divergence, in list order; kl is the first.
std::span<const DivergenceInfo> divergences();

// A divergence with its parameter: a plain value.
struct Divergence {
  const DivergenceInfo* info = &divergences().front();
  double alpha = 0.5;  // for those that take one

  std::string name() const;  // "kl", "chernoff:0.3": parse_divergence(name()) gives the same divergence
  bool symmetric() const;
};

// "kl", "bhattacharyya", "chernoff:0.3", ...; throws an InputError that lists all.
Divergence parse_divergence(std::string_view text);

// The plain functions, which hold everywhere.
double divergence(const Divergence& d, const DiagonalGaussian& p, const DiagonalGaussian& q);
double divergence(const Divergence& d, const FullGaussian& p, const FullGaussian& q);
double divergence(const Divergence& d, const Categorical& p, const Categorical& q);

}  // namespace dissent
