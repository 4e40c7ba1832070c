// Random mixtures for tests, each a pure function of a small case that RapidCheck generates, prints and shrinks; and
// the plain float64 path that fast ones are compared with.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent::test {

// One random mixture. Components of an input differ by mean_gap standard deviations in the mean and by a factor
// exp(+-scale_gap) in scale; each output has a scale and an offset of its own, over `decades` orders of magnitude.
struct MixtureCase {
  std::size_t num_inputs = 1;
  std::size_t num_components = 2;
  std::size_t num_outputs = 1;
  double mean_gap = 1;
  double scale_gap = 0.5;
  double decades = 6;
  bool weighted = false;
  std::uint64_t seed = 0;
};

inline std::ostream& operator<<(std::ostream& out, const MixtureCase& c) {
  return out << "N=" << c.num_inputs << " M=" << c.num_components << " D=" << c.num_outputs
             << " mean_gap=" << c.mean_gap << " scale_gap=" << c.scale_gap << " weighted=" << c.weighted
             << " seed=" << c.seed;
}

struct CaseRange {
  std::size_t min_components = 1;
  std::size_t max_components = 6;
  std::size_t max_outputs = 1;
  double min_log10_gap = -6;  // of mean_gap and scale_gap; one of them is 0 now and then
  double max_log10_mean_gap = 2;
  double max_log10_scale_gap = 0.3;
};

inline rc::Gen<MixtureCase> mixture_cases(CaseRange range) {
  return rc::gen::exec([range] {
    const auto whole = [](std::size_t low, std::size_t high) { return *rc::gen::inRange<std::size_t>(low, high + 1); };
    const auto power = [](double low, double high) {
      return std::pow(10, low + (high - low) * static_cast<double>(*rc::gen::inRange(0, 1001)) / 1000);
    };
    MixtureCase c;
    c.num_components = whole(range.min_components, range.max_components);
    c.num_outputs = whole(1, range.max_outputs);
    const std::size_t kind = whole(0, 9);
    c.mean_gap = kind == 0 ? 0 : power(range.min_log10_gap, range.max_log10_mean_gap);
    c.scale_gap = kind == 1 ? 0 : power(range.min_log10_gap, range.max_log10_scale_gap);
    c.weighted = *rc::gen::arbitrary<bool>();
    c.seed = whole(0, 1u << 30);
    return c;
  });
}

template <class T>
Mixture<T> diagonal_mixture(const MixtureCase& c) {
  Mixture<T> mixture = Mixture<T>::diagonal(c.num_inputs, c.num_components, c.num_outputs);
  Stream stream(c.seed, Purpose::kTest, 1);
  std::vector<double> offset(c.num_outputs);
  std::vector<double> scale(c.num_outputs);
  for (std::size_t n = 0; n < c.num_inputs; ++n) {
    for (std::size_t d = 0; d < c.num_outputs; ++d) {
      scale[d] = std::pow(10, c.decades * (stream.uniform() - 0.5));
      offset[d] = scale[d] * stream.normal();
    }
    for (std::size_t m = 0; m < c.num_components; ++m) {
      for (std::size_t d = 0; d < c.num_outputs; ++d) {
        const std::size_t at = (n * c.num_components + m) * c.num_outputs + d;
        mixture.mean[at] = static_cast<T>(offset[d] + scale[d] * c.mean_gap * stream.normal());
        mixture.stddev[at] = static_cast<T>(scale[d] * std::exp(c.scale_gap * (2 * stream.uniform() - 1)));
      }
    }
  }
  return mixture;
}

// A well-conditioned random matrix: rotations of a kind, scaled by at most 3.
inline Eigen::MatrixXd random_map(std::size_t size, Stream& stream) {
  const auto n = static_cast<Eigen::Index>(size);
  Eigen::MatrixXd map = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index r = 0; r < n; ++r) {
    for (Eigen::Index c = 0; c < n; ++c) {
      map(r, c) = (r == c ? 1 + 2 * stream.uniform() : 0.0) + 0.4 * stream.normal() / static_cast<double>(n);
    }
  }
  return map;
}

// Full covariances of components as in diagonal_mixture, correlated by a map of each component's own.
inline Mixture<double> full_mixture(MixtureCase c) {
  c.decades = 1;  // a map mixes the outputs, and with them their rounding
  Mixture<double> mixture = Mixture<double>::full(c.num_inputs, c.num_components, c.num_outputs);
  const Mixture<double> diagonal = diagonal_mixture<double>(c);
  mixture.mean = diagonal.mean;
  Stream stream(c.seed, Purpose::kTest, 2);
  const auto size = static_cast<Eigen::Index>(c.num_outputs);
  const Eigen::MatrixXd common = random_map(c.num_outputs, stream);
  for (std::size_t k = 0; k < c.num_inputs * c.num_components; ++k) {
    const Eigen::Map<const Eigen::VectorXd> stddev(diagonal.stddev.data() + k * c.num_outputs, size);
    const Eigen::MatrixXd own = common + c.scale_gap * 0.1 * random_map(c.num_outputs, stream);
    const Eigen::MatrixXd root = stddev.asDiagonal() * own;
    Eigen::MatrixXd covariance = root * root.transpose();
    covariance = (0.5 * (covariance + covariance.transpose())).eval();
    std::copy_n(covariance.data(), covariance.size(),
                mixture.covariance.data() + k * static_cast<std::size_t>(covariance.size()));
  }
  return mixture;
}

// The same components, their covariances written out in full.
template <class T>
Mixture<T> as_full(const Mixture<T>& diagonal) {
  Mixture<T> full = Mixture<T>::full(diagonal.num_inputs, diagonal.num_components, diagonal.num_outputs);
  full.mean = diagonal.mean;
  const std::size_t size = diagonal.num_outputs;
  for (std::size_t k = 0; k < diagonal.stddev.size(); ++k) {
    full.covariance[k * size + k % size] = diagonal.stddev[k] * diagonal.stddev[k];
  }
  return full;
}

inline Weights case_weights(const MixtureCase& c) {
  if (!c.weighted) {
    return Weights::uniform(c.num_components);
  }
  Stream stream(c.seed, Purpose::kTest, 3);
  std::vector<double> values(c.num_components);
  double sum = 0;
  for (double& value : values) {
    value = 0.02 + stream.uniform();
    sum += value;
  }
  for (double& value : values) {
    value /= sum;
  }
  return Weights::from(values, c.num_components);
}

template <class T>
Uncertainty run(std::string_view estimator, const Mixture<T>& mixture, const Weights& weights,
                const EstimateOptions& options = {}) {
  return estimate(parse_estimator(estimator), mixture.view().weighted(weights), options);
}

inline const std::vector<double>& extra(const Uncertainty& u, std::string_view name) { return u.extra(name); }

// All divergences of one input by the plain functions, [M][M].
template <class T>
std::vector<double> plain_divergences(const Divergence& kind, const Mixture<T>& mixture, std::size_t input) {
  InputComponents components;
  components.load(mixture.view(), input, input);
  const std::size_t size = components.num_components();
  std::vector<double> values(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      values[i * size + j] = components.diagonal()
                                 ? divergence(kind, components.diagonal_component(i), components.diagonal_component(j))
                                 : divergence(kind, components.full_component(i), components.full_component(j));
    }
  }
  return values;
}

inline double relative_error(double value, double truth) {
  return value == truth ? 0 : std::abs(value - truth) / std::max(std::abs(value), std::abs(truth));
}

}  // namespace dissent::test
