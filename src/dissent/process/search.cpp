// Multi-start search for hyperparameters, on subsets of rows drawn once.
#include "dissent/process/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/process/minimise.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// exp() of a logarithm beyond this is no hyperparameter of scaled data.
constexpr double kLargestLog = 23;
constexpr double kLooseNats = 10;
constexpr double kLooseNatsPerRow = 0.25;
constexpr int kSteps = 5;  // of 1, down from the prior's mode: to length scales of a hundredth of the data's range
constexpr std::array<double, 4> kShortLogs{0, -1, -2, -3};  // of one column
constexpr Index kMostColumnsAlone = 24;
constexpr int kMostRounds = 4;

std::vector<Index> shuffled_rows(Index count, Stream& stream) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  stream.shuffle(std::span(rows));
  return rows;
}

VectorXd mode_of_prior(const HyperPrior& prior, Index columns) {
  VectorXd out(kLogLength + columns);
  out[kLogSignal] = prior.signal.log_mean;
  out[kLogNoise] = prior.noise.log_mean;
  out[kLogSlope] = prior.slope.log_mean;
  out.tail(columns).setConstant(prior.length.log_mean +
                                0.5 * std::log(std::max<double>(1, static_cast<double>(columns))));
  return out;
}

// Around the mode: length scales move together as well as apart.
VectorXd start_near(VectorXd mode, const HyperPrior& prior, Stream& stream) {
  mode[kLogSignal] += 0.5 * prior.signal.log_stddev * stream.normal();
  mode[kLogNoise] += prior.noise.log_stddev * stream.normal();
  const double common = 0.5 * stream.normal();
  for (Index k = kLogLength; k < mode.size(); ++k) {
    mode[k] += prior.length.log_stddev * (common + 0.5 * stream.normal());
  }
  return mode;
}

// Points with shorter length scales of all columns, around the prior's mode.
std::vector<VectorXd> shorter_scales(const VectorXd& mode) {
  std::vector<VectorXd> out;
  for (int step = 1; step <= kSteps; ++step) {
    out.push_back(mode);
    out.back().tail(mode.size() - kLogLength).array() -= step;
  }
  return out;
}

// Points with a shorter length scale of one column.
void add_shorter_columns(const VectorXd& around, std::vector<VectorXd>& out) {
  for (Index k = kLogLength; k < around.size(); ++k) {
    for (const double length : kShortLogs) {
      if (length < around[k] - 0.5) {
        out.push_back(around);
        out.back()[k] = length;
      }
    }
  }
}

class Target {
 public:
  Target(const RowsRef& inputs, const VectorRef& targets, std::span<const Index> rows, const HyperPrior& prior,
         const std::function<bool()>& go_on)
      : prior_(prior), inputs_(inputs(rows, Eigen::all)), targets_(targets(rows)), go_on_(go_on) {}

  Minimum from(const VectorXd& start, int iterations) const {
    return minimise([this](const VectorXd& at, VectorXd& gradient) { return value(at, &gradient); }, start,
                    {.iterations = iterations});
  }

  // The density of a function that wiggles is flat around the prior's mode, and a search from there takes it for noise.
  // So shorter length scales are tried. Where one, as it is, explains the data better than all that was found, the
  // search goes on from there.
  // `each`: also of single columns, which is gone through again from what was found.
  Minimum or_shorter(Minimum best, const VectorXd& mode, bool each, int iterations) const {
    std::vector<VectorXd> points = shorter_scales(mode);
    if (each) {
      add_shorter_columns(mode, points);
    }
    for (int round = 0; round < kMostRounds; ++round) {
      if (each) {
        add_shorter_columns(best.at, points);
      }
      double least = best.value;
      VectorXd start;
      for (const VectorXd& at : points) {
        if (const double here = value(at, nullptr); here < least) {
          least = here;
          start = at;
        }
      }
      if (start.size() == 0) {
        break;
      }
      best = from(start, iterations);
      points.clear();
    }
    return best;
  }

 private:
  // `gradient` may be null.
  double value(const VectorXd& at, VectorXd* gradient) const {
    if (!(at.cwiseAbs().maxCoeff() <= kLargestLog) || (go_on_ && !go_on_())) {
      return std::numeric_limits<double>::infinity();
    }
    const Evidence prior = log_prior(prior_, at);
    const auto hyperparameters = Hyperparameters::from_log(at);
    if (gradient == nullptr) {
      return -(prior.value + log_marginal_value(hyperparameters, inputs_, targets_));
    }
    const Evidence data = log_marginal_likelihood(hyperparameters, inputs_, targets_);
    *gradient = -(prior.gradient + data.gradient);
    return -(prior.value + data.value);
  }

  HyperPrior prior_;
  RowMatrix inputs_;
  VectorXd targets_;
  const std::function<bool()>& go_on_;
};

}  // namespace

SearchResult find_hyperparameters(const RowsRef& inputs, const VectorRef& targets, const SearchOptions& options,
                                  std::uint64_t output, const std::function<bool()>& go_on) {
  Stream stream(options.seed, Purpose::kSearch, output);
  std::vector<Index> rows = shuffled_rows(inputs.rows(), stream);
  rows.resize(static_cast<std::size_t>(std::min(inputs.rows(), std::max(options.rows, options.start_rows))));
  const VectorXd mode = mode_of_prior(options.prior, inputs.cols());
  const auto few_rows = std::span<const Index>(rows).first(std::min(rows.size(), std::size_t(options.start_rows)));
  const Target few(inputs, targets, few_rows, options.prior, go_on);
  Minimum best = few.from(mode, options.iterations);
  for (int start = 1; start < options.starts; ++start) {
    const Minimum found = few.from(start_near(mode, options.prior, stream), options.iterations);
    best = found.value < best.value ? found : best;
  }
  const bool each = options.starts > 1 && inputs.cols() > 1 && inputs.cols() <= kMostColumnsAlone;
  best = few.or_shorter(std::move(best), mode, each, options.iterations);
  HyperPrior prior = options.prior;
  const Minimum freer = Target(inputs, targets, few_rows, options.loose, go_on).from(best.at, options.iterations);
  if (freer.value + kLooseNats + kLooseNatsPerRow * static_cast<double>(few_rows.size()) < best.value) {
    best = freer;
    prior = options.loose;
  }
  if (rows.size() > few_rows.size()) {
    const Target more(inputs, targets, rows, prior, go_on);
    best = more.or_shorter(more.from(best.at, options.iterations), mode, false, options.iterations);
  }
  return {Hyperparameters::from_log(best.at), -best.value, best.evaluations, std::move(rows), prior};
}

}  // namespace dissent
