// A ScoreDevice without a card: rows are weighed by the plain formula, in double precision. It scores nothing else.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "dissent/estimator/score_device.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent::test {

// ln p_i(y) - ln p_j(y) summed over outputs, y being drawn from j by noise k.
inline double log_ratio(const Mixture<double>& rows, std::size_t row, std::size_t i, std::size_t j,
                        const ComponentNoise& own, std::size_t k) {
  const std::size_t D = rows.num_outputs;
  const auto at = [&](std::size_t component, std::size_t d) { return (row * rows.num_components + component) * D + d; };
  double sum = 0;
  for (std::size_t d = 0; d < D; ++d) {
    const double e = own.noise[d * own.stride + k];
    const double y = rows.mean[at(j, d)] + rows.stddev[at(j, d)] * e;
    const double z = (y - rows.mean[at(i, d)]) / rows.stddev[at(i, d)];
    sum += std::log(rows.stddev[at(j, d)] / rows.stddev[at(i, d)]) + 0.5 * (e * e - z * z);
  }
  return sum;
}

class PlainRows final : public RowsOnDevice {
 public:
  PlainRows(const MixtureView<double>& rows, std::atomic<std::size_t>& calls)
      : rows_(Mixture<double>::diagonal(rows.num_inputs, rows.num_components, rows.num_outputs)), calls_(calls) {
    std::copy_n(rows.mean, rows_.mean.size(), rows_.mean.begin());
    std::copy_n(rows.stddev, rows_.stddev.size(), rows_.stddev.begin());
  }

  void log_deficits(std::span<const ComponentNoise> noise, double most, std::span<double> out) override {
    ++calls_;
    for (std::size_t row = 0; row < out.size(); ++row) {
      double sum = 0;
      for (std::size_t j = 0; j < noise.size(); ++j) {
        for (std::size_t k = 0; k < noise[j].count; ++k) {
          sum += std::exp(noise[j].log_share) * std::log1p(others(row, j, noise[j], k));
        }
      }
      out[row] = std::min(std::log(sum), most);
    }
  }

 private:
  double others(std::size_t row, std::size_t j, const ComponentNoise& own, std::size_t k) const {
    double sum = 0;
    std::size_t place = 0;
    for (std::size_t i = 0; i < rows_.num_components; ++i) {
      if (i != j) {
        sum += std::exp(own.chosen[place++ * own.stride + k] + log_ratio(rows_, row, i, j, own, k));
      }
    }
    return sum;
  }

  Mixture<double> rows_;
  std::atomic<std::size_t>& calls_;
};

// Takes rows, and nothing else.
class PlainDevice final : public ScoreDevice {
 public:
  std::unique_ptr<RowsOnDevice> take_rows(const MixtureView<double>& mixture) override {
    return std::make_unique<PlainRows>(mixture, calls);
  }
  bool takes(const Estimator&, const MixtureView<float>&) const override { return false; }
  bool takes(const Estimator&, const MixtureView<double>&) const override { return false; }
  Uncertainty estimate(const Estimator&, const MixtureView<float>&, const EstimateOptions&) override { fail(); }
  Uncertainty estimate(const Estimator&, const MixtureView<double>&, const EstimateOptions&) override { fail(); }
  std::vector<Ranked> most_uncertain(const Estimator&, const MixtureView<float>&, std::size_t,
                                     const EstimateOptions&) override {
    fail();
  }
  std::vector<Ranked> most_uncertain(const Estimator&, const MixtureView<double>&, std::size_t,
                                     const EstimateOptions&) override {
    fail();
  }
  std::shared_ptr<double> estimate_there(const Estimator&, const MixtureView<float>&) override { fail(); }
  std::shared_ptr<double> estimate_there(const Estimator&, const MixtureView<double>&) override { fail(); }
  std::vector<std::size_t> top_there(const double*, const double*, std::size_t, std::size_t) override { fail(); }
  std::unique_ptr<PoolOnDevice> pool_there(const MixtureView<float>&) override { fail(); }
  std::unique_ptr<PoolOnDevice> pool_there(const MixtureView<double>&) override { fail(); }
  std::uintptr_t queue() override { fail(); }
  void copy_to_host(const double*, std::size_t, double*) override { fail(); }

  std::atomic<std::size_t> calls = 0;  // of log_deficits()

 private:
  [[noreturn]] static void fail() { throw std::logic_error("batchbald asks for no scores"); }
};

}  // namespace dissent::test
