#include "dissent/mixture/gaussian.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace dissent {
namespace {

double entropy_from(std::size_t num_outputs, double sum_log) {
  return 0.5 * static_cast<double>(num_outputs) * (1 + kLogTwoPi) + sum_log;
}

}  // namespace

bool equal(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  return std::ranges::equal(p.mean, q.mean) && std::ranges::equal(p.stddev, q.stddev);
}

bool equal(const FullGaussian& p, const FullGaussian& q) { return p.mean == q.mean && p.factor == q.factor; }

double sum_log_stddev(const DiagonalGaussian& g) {
  double sum = 0;
  for (const double s : g.stddev) {
    sum += std::log(s);
  }
  return sum;
}

double sum_log_stddev(const FullGaussian& g) { return g.factor.diagonal().array().log().sum(); }

double entropy(const DiagonalGaussian& g) { return entropy_from(g.stddev.size(), sum_log_stddev(g)); }

double entropy(const FullGaussian& g) {
  return entropy_from(static_cast<std::size_t>(g.mean.size()), sum_log_stddev(g));
}

double log_density(const DiagonalGaussian& g, std::span<const double> y) {
  double squares = 0;
  for (std::size_t d = 0; d < y.size(); ++d) {
    const double z = (y[d] - g.mean[d]) / g.stddev[d];
    squares += z * z;
  }
  return -0.5 * (squares + static_cast<double>(y.size()) * kLogTwoPi) - sum_log_stddev(g);
}

double log_density(const FullGaussian& g, std::span<const double> y) {
  const Eigen::Map<const Eigen::VectorXd> at(y.data(), static_cast<Eigen::Index>(y.size()));
  const Eigen::VectorXd z = g.factor.triangularView<Eigen::Lower>().solve(at - g.mean);
  return -0.5 * (z.squaredNorm() + static_cast<double>(y.size()) * kLogTwoPi) - sum_log_stddev(g);
}

void sample(const DiagonalGaussian& g, Stream& stream, std::span<double> y) {
  for (std::size_t d = 0; d < y.size(); ++d) {
    y[d] = g.mean[d] + g.stddev[d] * stream.normal();
  }
}

void sample(const FullGaussian& g, Stream& stream, std::span<double> y) {
  Eigen::Map<Eigen::VectorXd> at(y.data(), static_cast<Eigen::Index>(y.size()));
  stream.fill_normal(y);
  at = g.mean + g.factor.triangularView<Eigen::Lower>() * at.eval();
}

DiagonalGaussian InputComponents::diagonal_component(std::size_t m) const {
  return {std::span(mean_).subspan(m * num_outputs_, num_outputs_),
          std::span(stddev_).subspan(m * num_outputs_, num_outputs_)};
}

template <class T>
void InputComponents::load_means(const MixtureView<T>& mixture, std::size_t input, std::size_t number) {
  num_components_ = mixture.num_components;
  num_outputs_ = mixture.num_outputs;
  diagonal_ = mixture.diagonal();
  const std::size_t row = num_components_ * num_outputs_;
  mean_.assign(mixture.mean + input * row, mixture.mean + (input + 1) * row);
  for (std::size_t k = 0; k < row; ++k) {
    check(std::isfinite(mean_[k]), "mean[{}, {}, {}] = {} is not a finite number", number, k / num_outputs_,
          k % num_outputs_, mean_[k]);
  }
}

template <class T>
void InputComponents::load_spread(const MixtureView<T>& mixture, std::size_t input, std::size_t number) {
  if (!diagonal_) {
    full_.resize(num_components_);
    for (std::size_t m = 0; m < num_components_; ++m) {
      load_covariance(mixture, input, number, m);
    }
    return;
  }
  const std::size_t row = num_components_ * num_outputs_;
  stddev_.assign(mixture.stddev + input * row, mixture.stddev + (input + 1) * row);
  for (std::size_t k = 0; k < row; ++k) {
    check(std::isfinite(stddev_[k]), "stddev[{}, {}, {}] = {} is not a finite number", number, k / num_outputs_,
          k % num_outputs_, stddev_[k]);
    check(stddev_[k] > 0, "stddev[{}, {}, {}] = {} is not positive; standard deviations must be > 0", number,
          k / num_outputs_, k % num_outputs_, stddev_[k]);
  }
}

template <class T>
void InputComponents::load_covariance(const MixtureView<T>& mixture, std::size_t input, std::size_t number,
                                      std::size_t m) {
  using Source = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto size = static_cast<Eigen::Index>(num_outputs_);
  const Eigen::Map<const Source> source(
      mixture.covariance + (input * num_components_ + m) * num_outputs_ * num_outputs_, size, size);
  const Eigen::MatrixXd covariance = source.template cast<double>();
  check(covariance.allFinite(), "covariance[{}, {}] holds a value that is not a finite number", number, m);
  // Asymmetry beyond the rounding of the type it came in is the caller's mistake, not ours to average away.
  const double scale = covariance.diagonal().cwiseAbs().maxCoeff();
  const double asymmetry = (covariance - covariance.transpose()).cwiseAbs().maxCoeff();
  check(asymmetry <= 64 * std::numeric_limits<T>::epsilon() * scale,
        "covariance[{}, {}] is not symmetric (entries differ by {}); covariances must be symmetric: where that is "
        "rounding, take the mean of each and its transpose",
        number, m, asymmetry);
  const Eigen::LLT<Eigen::MatrixXd> llt(covariance);
  full_[m].factor = llt.matrixL();
  check(llt.info() == Eigen::Success && (full_[m].factor.diagonal().array() > 0).all(),
        "covariance[{}, {}] is not positive definite", number, m);
  full_[m].mean = Eigen::Map<const Eigen::VectorXd>(mean_.data() + m * num_outputs_, size);
}

template <class T>
void validate(const MixtureView<T>& mixture, std::size_t first_input) {
  validate_shape(mixture);
  InputComponents components;
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    components.load(mixture, n, first_input + n);
  }
}

template void validate(const MixtureView<float>&, std::size_t);
template void validate(const MixtureView<double>&, std::size_t);
template void InputComponents::load_means(const MixtureView<float>&, std::size_t, std::size_t);
template void InputComponents::load_means(const MixtureView<double>&, std::size_t, std::size_t);
template void InputComponents::load_spread(const MixtureView<float>&, std::size_t, std::size_t);
template void InputComponents::load_spread(const MixtureView<double>&, std::size_t, std::size_t);

}  // namespace dissent
