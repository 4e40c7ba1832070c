// One Gaussian component in double precision, with diagonal or full covariance: entropy, log density, sampling.
// This is the plain path that every fast kernel is tested against and that takes over where they would lose accuracy.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

inline constexpr double kLogTwoPi = 1.8378770664093454835606594728112;

struct DiagonalGaussian {
  std::span<const double> mean;
  std::span<const double> stddev;  // > 0
};

// covariance = factor factor^T, factor lower triangular with a positive diagonal.
struct FullGaussian {
  Eigen::VectorXd mean;
  Eigen::MatrixXd factor;
};

bool equal(const DiagonalGaussian& p, const DiagonalGaussian& q);  // to the bit
bool equal(const FullGaussian& p, const FullGaussian& q);

double sum_log_stddev(const DiagonalGaussian& g);  // half the log-determinant of the covariance
double sum_log_stddev(const FullGaussian& g);

double entropy(const DiagonalGaussian& g);
double entropy(const FullGaussian& g);

// -infinity only where the squared distance itself overflows.
double log_density(const DiagonalGaussian& g, std::span<const double> y);
double log_density(const FullGaussian& g, std::span<const double> y);

void sample(const DiagonalGaussian& g, Stream& stream, std::span<double> y);
void sample(const FullGaussian& g, Stream& stream, std::span<double> y);

// All components of one input, widened to double; covariances are factored once, here. Reused from input to input.
class InputComponents {
 public:
  // Throws like validate(); `number` is the input's number in the message.
  template <class T>
  void load(const MixtureView<T>& mixture, std::size_t input, std::size_t number) {
    load_means(mixture, input, number);
    load_spread(mixture, input, number);
  }

  // The two halves of load(), in this order.
  template <class T>
  void load_means(const MixtureView<T>& mixture, std::size_t input, std::size_t number);
  template <class T>
  void load_spread(const MixtureView<T>& mixture, std::size_t input, std::size_t number);

  std::size_t num_components() const { return num_components_; }
  std::size_t num_outputs() const { return num_outputs_; }
  bool diagonal() const { return diagonal_; }
  DiagonalGaussian diagonal_component(std::size_t m) const;
  const FullGaussian& full_component(std::size_t m) const { return full_[m]; }

  // Calls visit(component) with the component's own type.
  template <class Visit>
  decltype(auto) visit(std::size_t m, Visit&& visit_component) const {
    return diagonal_ ? visit_component(diagonal_component(m)) : visit_component(full_component(m));
  }

 private:
  template <class T>
  void load_covariance(const MixtureView<T>& mixture, std::size_t input, std::size_t number, std::size_t m);

  std::size_t num_components_ = 0;
  std::size_t num_outputs_ = 0;
  bool diagonal_ = true;
  std::vector<double> mean_;
  std::vector<double> stddev_;
  std::vector<FullGaussian> full_;
};

}  // namespace dissent
