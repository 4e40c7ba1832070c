// Makes the shipped example: an ensemble of five regressions fitted to a few noisy measurements of a curve, which agree
// where there were measurements and not elsewhere. Writes ensemble.npz (x [161], mean and stddev [161, 5, 1], float64)
// and measurements.csv into the folder given.
//
// Each component is a ridge regression on its own 40 random cosines, fitted to its own bootstrap sample of the
// measurements: y = sum_k c_k cos(f_k x + phase_k). All share one noise level.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <string>
#include <vector>

#include "dissent/array/npz.hpp"
#include "dissent/base/random.hpp"
#include "dissent/table/csv.hpp"

namespace {

using dissent::Purpose;
using dissent::Stream;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSeed = 4;
constexpr Eigen::Index kComponents = 5;
constexpr Eigen::Index kCosines = 40;
constexpr Eigen::Index kMeasurements = 60;
constexpr Eigen::Index kGrid = 161;
constexpr double kNoise = 0.1;
constexpr double kRidge = 0.02;

double truth(double x) { return std::sin(2 * x) + 0.3 * x; }

// Half of the measurements in [-3.2, -1.2], half in [0.8, 2.2]: nothing between them, nothing beyond.
VectorXd measured_places() {
  Stream stream(kSeed, Purpose::kExample, 0);
  VectorXd x(kMeasurements);
  for (Eigen::Index n = 0; n < kMeasurements; ++n) {
    x[n] = n % 2 == 0 ? -3.2 + 2.0 * stream.uniform() : 0.8 + 1.4 * stream.uniform();
  }
  return x;
}

VectorXd measure(const VectorXd& x) {
  Stream stream(kSeed, Purpose::kExample, 1);
  return x.unaryExpr([&stream](double v) { return truth(v) + kNoise * stream.normal(); });
}

// Row n: the cosines at x[n].
MatrixXd cosines(const VectorXd& x, const VectorXd& frequency, const VectorXd& phase) {
  return ((x * frequency.transpose()).rowwise() + phase.transpose()).array().cos();
}

VectorXd fit_and_predict(Eigen::Index component, const VectorXd& x, const VectorXd& y, const VectorXd& grid) {
  Stream stream(kSeed, Purpose::kExample, 2 + static_cast<std::uint64_t>(component));
  VectorXd frequency(kCosines);
  VectorXd phase(kCosines);
  for (Eigen::Index k = 0; k < kCosines; ++k) {
    frequency[k] = 1.5 * stream.normal();
    phase[k] = 2 * std::numbers::pi * stream.uniform();
  }
  VectorXd own_x(x.size());
  VectorXd own_y(y.size());
  for (Eigen::Index n = 0; n < x.size(); ++n) {
    const auto pick = static_cast<Eigen::Index>(stream.below(static_cast<std::uint64_t>(x.size())));
    own_x[n] = x[pick];
    own_y[n] = y[pick];
  }
  const MatrixXd features = cosines(own_x, frequency, phase);
  const MatrixXd normal = features.transpose() * features + kRidge * MatrixXd::Identity(kCosines, kCosines);
  return cosines(grid, frequency, phase) * normal.llt().solve(features.transpose() * own_y);
}

void make(const std::string& folder) {
  const VectorXd x = measured_places();
  const VectorXd y = measure(x);
  const VectorXd grid = VectorXd::LinSpaced(kGrid, -4, 4);
  std::vector<double> mean(static_cast<std::size_t>(kGrid * kComponents));
  for (Eigen::Index m = 0; m < kComponents; ++m) {
    const VectorXd prediction = fit_and_predict(m, x, y, grid);
    for (Eigen::Index n = 0; n < kGrid; ++n) {
      mean[static_cast<std::size_t>(n * kComponents + m)] = prediction[n];
    }
  }
  const std::vector<double> stddev(mean.size(), kNoise);
  const std::vector<double> places(grid.begin(), grid.end());
  const dissent::Shape shape{kGrid, kComponents, 1};
  dissent::write_npz(folder + "/ensemble.npz", {{"x", dissent::ArrayView(places)},
                                                {"mean", {std::span<const double>(mean), shape}},
                                                {"stddev", {std::span<const double>(stddev), shape}}});
  dissent::CsvWriter measurements(folder + "/measurements.csv", {"x", "y"});
  for (Eigen::Index n = 0; n < kMeasurements; ++n) {
    measurements.row(x[n], y[n]);
  }
  measurements.commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_ensemble FOLDER\n");
    return 2;
  }
  try {
    make(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_ensemble: {}\n", error.what());
    return 1;
  }
}
