#include "dissent/ensemble/spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "dissent/base/special.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/row_weights.hpp"
#include "dissent/ensemble/trainer.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kFewestRows = 10;
constexpr std::size_t kMostRows = 1000;
constexpr double kLeastGain = 0.05;  // nats per row; for less, spreads stay as they were trained
constexpr double kLeastLogFactor = -1;
constexpr double kMostLogFactor = 5;

// One output's predictions of unseen rows.
struct Unseen {
  std::vector<double> error;       // of each prediction ...
  std::vector<double> stddev;      // ... and what it claims
  std::vector<std::size_t> end;    // of each row's predictions
  std::span<const float> weights;  // of the rows, with a mean of one; empty: all count alike

  double typical = 0;  // size of an error

  // ln f has a standard normal prior, worth less than a row: it decides if rows cannot. A row like no other falls under
  // the wide tail of log densities (wide_component.hpp), so that one outlier does not widen all predictions.
  double log_likelihood(double log_factor, double floor) const {
    const double log_wide = -std::log(static_cast<double>(end.size() + 1) * std::numbers::pi * typical);
    const double factor = std::exp(log_factor);
    double sum = -0.5 * log_factor * log_factor;
    std::size_t k = 0;
    std::size_t row = 0;
    for (const std::size_t last : end) {
      double highest = -std::numeric_limits<double>::infinity();
      double rest = 0;
      double least = std::numeric_limits<double>::infinity();
      for (; k < last; ++k) {
        const double s = std::max(factor * stddev[k], floor);
        const double z = error[k] / s;
        const double term = -0.5 * z * z - std::log(s);
        rest = term > highest ? rest * std::exp(highest - term) + 1 : rest + std::exp(term - highest);
        highest = std::max(highest, term);
        least = std::min(least, std::abs(error[k]));
      }
      const double own =
          log_add_exp(highest + std::log(rest), log_wide - std::log1p(least * least / (typical * typical)));
      sum += weights.empty() ? own : static_cast<double>(weights[row]) * own;
      ++row;
    }
    return sum;
  }
};

struct Spread {
  double log_factor = 0;
  double floor = 0;
};

// A coarse grid, then halving steps. The likelihood may have several peaks, but is cheap.
Spread best_spread(Unseen& unseen) {
  std::vector<double> sizes;
  for (const double error : unseen.error) {
    sizes.push_back(std::abs(error));
  }
  std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2));
  const double typical = sizes[sizes.size() / 2];
  if (!(typical > 0)) {
    return {};
  }
  unseen.typical = typical;
  struct At {
    double log_factor, log_floor;  // the floor relative to the typical error
  };
  const auto value = [&](At at) { return unseen.log_likelihood(at.log_factor, typical * std::exp(at.log_floor)); };
  constexpr std::array kLogFactors{-0.5, 0.0, 0.5, 1.0, 2.0, 3.5};
  constexpr std::array kLogFloors{-5.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0};
  At best{0, kLogFloors.front()};
  double highest = value(best);
  const auto consider = [&](At at) {
    const double own = value(at);
    if (own > highest) {
      highest = own;
      best = at;
    }
  };
  for (const double log_factor : kLogFactors) {
    for (const double log_floor : kLogFloors) {
      consider({log_factor, log_floor});
    }
  }
  for (double step = 0.25; step > 0.02; step /= 2) {
    for (const At from = best; const auto [a, b] : {At{-1, 0}, At{1, 0}, At{0, -1}, At{0, 1}}) {
      consider({std::clamp(from.log_factor + a * step, kLeastLogFactor, kMostLogFactor), from.log_floor + b * step});
    }
  }
  const double gain = highest - unseen.log_likelihood(0, 0);
  if (!(gain > kLeastGain * static_cast<double>(unseen.end.size()))) {
    return {};
  }
  return {best.log_factor, typical * std::exp(best.log_floor)};
}

// At most kMostRows rows, evenly spaced.
UnseenRows thinned(const UnseenRows& all, std::size_t num_components) {
  const std::size_t stride = (all.rows.size() + kMostRows - 1) / kMostRows;
  UnseenRows some;
  for (std::size_t k = 0; k < all.rows.size(); k += stride) {
    some.rows.push_back(all.rows[k]);
    const std::span<const std::uint8_t> own = std::span(all.unseen).subspan(k * num_components, num_components);
    some.unseen.insert(some.unseen.end(), own.begin(), own.end());
  }
  return some;
}

}  // namespace

UnseenRows held_out_rows(std::span<const std::uint32_t> held_out, std::size_t num_components) {
  return {{held_out.begin(), held_out.end()}, std::vector<std::uint8_t>(held_out.size() * num_components, 1)};
}

UnseenRows out_of_bag_rows(const EnsembleOptions& options, std::size_t num_rows) {
  const std::size_t M = options.num_components;
  std::vector<std::uint8_t> unseen(num_rows * M, options.bootstrap ? 1 : 0);
  for (std::size_t c = 0; options.bootstrap && c < M; ++c) {
    for (const std::uint32_t row : bootstrap_sample(options.seed, c, num_rows)) {
      unseen[row * M + c] = 0;
    }
  }
  UnseenRows result;
  for (std::uint32_t row = 0; row < num_rows; ++row) {
    const std::span<const std::uint8_t> own = std::span(unseen).subspan(row * M, M);
    if (std::ranges::find(own, 1) != own.end()) {
      result.rows.push_back(row);
      result.unseen.insert(result.unseen.end(), own.begin(), own.end());
    }
  }
  return result;
}

void fit_spread(Ensemble& model, const TrainingRows& rows, const UnseenRows& all, Executor* executor) {
  if (all.rows.size() < kFewestRows) {
    return;
  }
  const std::size_t M = model.num_components();
  const std::size_t D = model.num_outputs();
  const UnseenRows unseen = thinned(all, M);
  const std::vector<double> inputs = pick_rows(rows.inputs, model.num_input_columns(), unseen.rows);
  const std::vector<double> targets = pick_rows(rows.targets, D, unseen.rows);
  const Mixture<double> mixture = model.predict(inputs, executor);
  std::vector<double> base(targets.size());
  std::vector<double> log_det(unseen.rows.size());
  model.to_base(inputs, targets, base, log_det, executor);
  const std::vector<float> weights = scaled_weights(rows.weights, unseen.rows, unseen.rows.size());
  std::vector<double> factors(D);
  std::vector<double> floors(D);
  for_blocks(executor, D, 1, [&](std::size_t d, std::size_t, std::size_t) {
    Unseen output;
    output.weights = weights;
    for (std::size_t n = 0; n < unseen.rows.size(); ++n) {
      for (std::size_t m = 0; m < M; ++m) {
        if (unseen.unseen[n * M + m] == 1) {
          output.error.push_back(base[n * D + d] - mixture.mean[(n * M + m) * D + d]);
          output.stddev.push_back(mixture.stddev[(n * M + m) * D + d]);
        }
      }
      output.end.push_back(output.error.size());
    }
    const Spread spread = best_spread(output);
    factors[d] = std::exp(spread.log_factor);
    floors[d] = spread.floor / model.output_map().base_units().scale[d];
  });
  model.networks().scale_spread(factors);
  model.networks().raise_floor(floors);
}

}  // namespace dissent
