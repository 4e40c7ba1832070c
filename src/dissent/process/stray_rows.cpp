// Finds stray rows by turns: hyperparameters without the suspects, then suspects under these hyperparameters.
#include "dissent/process/stray_rows.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numbers>
#include <utility>
#include <vector>

namespace dissent {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

constexpr int kMostRounds = 8;

// How other rows predict these rows.
struct Predicted {
  VectorXd residual;
  VectorXd variance;  // with noise
};

struct Data {
  const RowsRef& inputs;
  const VectorRef& targets;

  Posterior posterior(const SearchResult& found) const {
    return {found.hyperparameters, inputs(found.rows, Eigen::all), targets(found.rows)};
  }
  Predicted predicted(const Posterior& by, const std::vector<Index>& rows) const {
    const RowMatrix at = inputs(rows, Eigen::all);
    return {targets(rows) - by.mean(at), by.variance(at).array() + by.hyperparameters().noise_variance};
  }
};

// Log density of the rows left out, each with the best noise of its own.
double log_density(const Predicted& left_out) {
  const ArrayXd square = left_out.residual.array().square();
  const ArrayXd variance = left_out.variance.array().max(square);
  return -0.5 * (square / variance + (2 * std::numbers::pi * variance).log()).sum();
}

SearchResult search_in(const Data& data, const std::vector<Index>& rows, const SearchOptions& options,
                       std::uint64_t output, const std::function<bool()>& go_on) {
  SearchResult found = find_hyperparameters(data.inputs(rows, Eigen::all), data.targets(rows), options, output, go_on);
  for (Index& row : found.rows) {
    row = rows[static_cast<std::size_t>(row)];
  }
  return found;
}

struct Found {
  SearchResult result;
  std::vector<Index> left_out;
  double value = 0;  // log density of all rows, less the price of those left out
};

class StraySearch {
 public:
  StraySearch(const Data& data, const SearchOptions& options, std::uint64_t output, const std::function<bool()>& go_on)
      : data_(data), options_(options), output_(output), go_on_(go_on) {}

  // The result that best explains all rows that the first search saw. Stray rows hide each other and make their
  // neighbours look stray. So it first leaves out as many suspects as allowed, then those that qualify, until these
  // stay the same.
  Found from(SearchResult first) const {
    const auto most = static_cast<std::size_t>(options_.stray_share * static_cast<double>(first.rows.size()));
    const std::vector<Index> all = first.rows;
    const double value = first.log_density;
    Found best{std::move(first), {}, value};
    if (most == 0 || suspects(best, most, kLeastStrayGain).empty()) {
      return best;
    }
    Found current = without(all, suspects(best, most, 0));
    for (int round = 0; round < kMostRounds && (!go_on_ || go_on_()); ++round) {
      std::vector<Index> stray = suspects(current, most, kLeastStrayGain);
      if (stray == current.left_out) {
        break;
      }
      current = without(all, std::move(stray));
      best = current.value > best.value ? current : best;
    }
    return best;
  }

 private:
  // Rows that gain more than `least` from noise of their own; at most `most`, those that gain most. In order.
  std::vector<Index> suspects(const Found& found, std::size_t most, double least) const {
    const Posterior posterior = data_.posterior(found.result);
    std::vector<std::pair<double, Index>> gains;
    const auto add = [&](const std::vector<Index>& rows, const ArrayXd& own) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        if (const double gain = own[static_cast<Index>(k)]; gain > least) {
          gains.emplace_back(-gain, rows[k]);
        }
      }
    };
    const LeaveOneOut alone = posterior.leave_one_out();
    add(found.result.rows, stray_gains(alone.residual, alone.variance));
    if (!found.left_out.empty()) {
      const Predicted predicted = data_.predicted(posterior, found.left_out);
      add(found.left_out, stray_gains(predicted.residual, predicted.variance));
    }
    std::ranges::sort(gains);
    gains.resize(std::min(gains.size(), most));
    std::vector<Index> out;
    std::ranges::transform(gains, std::back_inserter(out), [](const auto& entry) { return entry.second; });
    std::ranges::sort(out);
    return out;
  }

  Found without(const std::vector<Index>& all, std::vector<Index> left_out) const {
    std::vector<Index> kept;
    std::ranges::copy_if(all, std::back_inserter(kept),
                         [&](Index row) { return std::ranges::find(left_out, row) == left_out.end(); });
    Found out{search_in(data_, kept, options_, output_, go_on_), std::move(left_out)};
    out.value = out.result.log_density - kLeastStrayGain * static_cast<double>(out.left_out.size());
    if (!out.left_out.empty()) {
      out.value += log_density(data_.predicted(data_.posterior(out.result), out.left_out));
    }
    return out;
  }

  const Data& data_;
  const SearchOptions& options_;
  std::uint64_t output_;
  const std::function<bool()>& go_on_;
};

// The extra noise of rows left out that still qualify when the others predict them; empty if none does.
VectorXd noise_of_stray(const Data& data, const Found& found) {
  if (found.left_out.empty()) {
    return {};
  }
  const Predicted predicted = data.predicted(data.posterior(found.result), found.left_out);
  const ArrayXd gains = stray_gains(predicted.residual, predicted.variance);
  const ArrayXd noise = predicted.residual.array().square() - predicted.variance.array();
  VectorXd out = VectorXd::Zero(data.inputs.rows());
  out(found.left_out) = (gains > kLeastStrayGain).select(noise, 0);
  return (out.array() > 0).any() ? out : VectorXd();
}

}  // namespace

ArrayXd stray_gains(const VectorRef& residual, const VectorRef& variance) {
  const ArrayXd q = (residual.array().square() / variance.array()).max(1);
  return 0.5 * (q - 1 - q.log());
}

RobustSearchResult find_robustly(const RowsRef& inputs, const VectorRef& targets, const SearchOptions& options,
                                 std::uint64_t output, const std::function<bool()>& go_on) {
  const Data data{inputs, targets};
  SearchResult first = find_hyperparameters(inputs, targets, options, output, go_on);
  Found found = StraySearch(data, options, output, go_on).from(std::move(first));
  VectorXd extra = noise_of_stray(data, found);
  return {std::move(found.result), std::move(extra)};
}

}  // namespace dissent
