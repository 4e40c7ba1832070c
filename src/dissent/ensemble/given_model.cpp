#include "dissent/ensemble/given_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/ensemble/component_model.hpp"
#include "dissent/ensemble/output_map.hpp"

namespace dissent {
namespace {

constexpr double kLargestMean = 1e37;  // in units of a row's stddevs, so that it fits single precision
constexpr double kLeastStddev = 1e-37;

// One row of the arrays, [M][D] each.
struct GivenRow {
  const double* mean;
  const double* stddev;
};

class GivenModel : public ComponentModel {
 public:
  GivenModel(const MixtureView<double>& pool, const MixtureView<double>& aim) : pool_(pool), aim_(aim) {}

  std::unique_ptr<ComponentModel> clone() const override { return std::make_unique<GivenModel>(*this); }
  std::size_t num_components() const override { return pool_.num_components; }
  std::span<const float> parameters() const override { return {}; }

  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Means>(); }

  void predict(const RowBlock& rows, const Scaling&, Scratch&, std::span<double> mean,
               std::span<double> stddev) const override {
    const std::size_t size = pool_.num_components * pool_.num_outputs;
    for (std::size_t b = 0; b < rows.count; ++b) {
      const GivenRow row = at(rows.inputs[b]);
      std::copy_n(row.mean, size, mean.subspan(b * size).begin());
      std::copy_n(row.stddev, size, stddev.subspan(b * size).begin());
    }
  }

  void predict(const RowBlock& rows, Scratch& scratch, std::span<float> mean, std::span<float> stddev) const override {
    const std::size_t size = pool_.num_components * pool_.num_outputs;
    for (std::size_t b = 0; b < rows.count; ++b) {
      for (std::size_t d = 0; d < pool_.num_outputs; ++d) {
        centred(at(rows.inputs[b]), d, static_cast<Means&>(scratch), mean.data() + b * size, stddev.data() + b * size);
      }
    }
  }

  void limit_certainty(const Scaling&, std::span<const double>, Executor*) override { fail_fixed(); }
  void scale_spread(std::span<const double>) override { fail_fixed(); }
  void add_arrays(NamedArrays&) const override { fail_fixed(); }

 private:
  struct Means : Scratch {
    std::vector<double> values;  // of one output
  };

  [[noreturn]] static void fail_fixed() {
    fail("the components were given as arrays, which cannot be changed or kept");
  }

  GivenRow at(double number) const {
    const std::size_t num_rows = pool_.num_inputs + aim_.num_inputs;
    check(number >= 0 && number < static_cast<double>(num_rows) && number == std::floor(number),
          "row {} of {} given rows", number, num_rows);
    const auto row = static_cast<std::size_t>(number);
    const MixtureView<double>& part = row < pool_.num_inputs ? pool_ : aim_;
    const std::size_t begin =
        (row < pool_.num_inputs ? row : row - pool_.num_inputs) * pool_.num_components * pool_.num_outputs;
    return {part.mean + begin, part.stddev + begin};
  }

  // Output d of a row, shifted and scaled.
  void centred(const GivenRow& row, std::size_t d, Means& means, float* mean, float* stddev) const {
    const std::size_t M = pool_.num_components;
    const std::size_t D = pool_.num_outputs;
    means.values.resize(M);
    double least = row.stddev[d];
    double most = least;
    for (std::size_t m = 0; m < M; ++m) {
      means.values[m] = row.mean[m * D + d];
      least = std::min(least, row.stddev[m * D + d]);
      most = std::max(most, row.stddev[m * D + d]);
    }
    const auto middle = means.values.begin() + static_cast<std::ptrdiff_t>(M / 2);
    std::nth_element(means.values.begin(), middle, means.values.end());
    const double scale = std::sqrt(least) * std::sqrt(most);
    for (std::size_t m = 0; m < M; ++m) {
      const double gap = (row.mean[m * D + d] - *middle) / scale;
      mean[m * D + d] = static_cast<float>(std::clamp(gap, -kLargestMean, kLargestMean));
      stddev[m * D + d] = static_cast<float>(std::clamp(row.stddev[m * D + d] / scale, kLeastStddev, kLargestMean));
    }
  }

  MixtureView<double> pool_;
  MixtureView<double> aim_;
};

void check_given(const MixtureView<double>& mixture) {
  check(mixture.diagonal(), "covariances are given; rows can be chosen by standard deviations alone");
  validate(mixture);
}

// The unit for the variance of means: the spread of all means of an output, so that units do not matter.
std::vector<double> spread_of_means(const MixtureView<double>& pool) {
  const std::size_t D = pool.num_outputs;
  const std::size_t count = pool.num_inputs * pool.num_components;
  std::vector<double> scale(D, 1.0);
  for (std::size_t d = 0; d < D && count > 0; ++d) {
    double mean = 0;
    for (std::size_t k = 0; k < count; ++k) {
      mean += pool.mean[k * D + d] / static_cast<double>(count);
    }
    double variance = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double gap = pool.mean[k * D + d] - mean;
      variance += gap * gap / static_cast<double>(count);
    }
    scale[d] = variance > 0 && std::isfinite(variance) ? std::sqrt(variance) : 1.0;
  }
  return scale;
}

}  // namespace

Ensemble given_ensemble(const MixtureView<double>& pool, const MixtureView<double>& aim) {
  check_given(pool);
  if (aim.num_inputs > 0) {
    check(aim.num_components == pool.num_components && aim.num_outputs == pool.num_outputs,
          "the aim has {} components and {} outputs, the rows to choose from {} and {}; they must be the same",
          aim.num_components, aim.num_outputs, pool.num_components, pool.num_outputs);
    in_source("aim", [&] { check_given(aim); });
  }
  EnsembleOptions options;
  options.num_components = pool.num_components;
  options.weights = pool.weights == nullptr ? std::vector<double>() : pool.weights->value;
  const std::size_t D = pool.num_outputs;
  EnsembleColumns columns{
      {"row"}, numbered_names("y", D), {{0.0}, {1.0}}, {std::vector<double>(D, 0.0), spread_of_means(pool)}};
  OutputMap same({std::vector<double>(D, 0.0), std::vector<double>(D, 1.0)}, {});
  return {std::move(options), std::move(columns), ModelParts(std::make_unique<GivenModel>(pool, aim), std::move(same))};
}

}  // namespace dissent
