#include "dissent/loop/far_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dissent/ensemble/summary.hpp"

namespace dissent {
namespace {

constexpr double kFarStddevs = 6;

struct Told {
  std::vector<double> inputs;   // [n][C]
  std::vector<double> targets;  // [n][D]
};

Told told_rows(const Problem& data, const Answers& answers) {
  Told told{pick_rows(data.pool.inputs, data.input_names.size(), answers.rows), answers.targets};
  told.inputs.insert(told.inputs.end(), answers.extra.inputs.begin(), answers.extra.inputs.end());
  told.targets.insert(told.targets.end(), answers.extra.targets.begin(), answers.extra.targets.end());
  return told;
}

// The least and the most of each target among the labelled rows [n][D].
std::vector<std::pair<double, double>> ranges_of(std::span<const double> targets, std::size_t D) {
  std::vector<std::pair<double, double>> ranges(D);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    auto& [least, most] = ranges[k % D];
    least = k < D ? targets[k] : std::min(least, targets[k]);
    most = k < D ? targets[k] : std::max(most, targets[k]);
  }
  return ranges;
}

// How many standard deviations each told target is from its prediction, in the space of the fit. For targets fitted by
// their logarithms that is ln y, and its standard deviation comes from the quantiles one standard deviation off the
// median. [n][D]
std::vector<double> stddevs_of(const Told& told, const Ensemble& model, Executor* executor) {
  const std::vector<double> quantiles{0.15865525393145707, 0.5, 0.8413447460685429};
  const Summary summary = summarise(model, told.inputs, model.predict(told.inputs, executor),
                                    {.quantiles = quantiles, .executor = executor});
  const std::size_t D = model.columns().targets.size();
  std::vector<double> stddevs;
  for (std::size_t k = 0; k < told.targets.size(); ++k) {
    const double value = told.targets[k];
    if (!model.columns().is_log(k % D)) {
      stddevs.push_back(std::abs(value - summary.mean[k]) / summary.stddev[k]);
      continue;
    }
    const std::span<const double> of_value = std::span(summary.quantile).subspan(k * quantiles.size(), 3);
    const double stddev = std::log(of_value[2] / of_value[0]) / 2;
    stddevs.push_back(value > 0 ? std::abs(std::log(value / of_value[1])) / stddev : 0);
  }
  return stddevs;
}

// Without a model: whether a value outside of the labels is farther from them than they are from each other. If all are
// positive, small ones are also compared by their ratios.
bool is_beyond(double value, double least, double most) {
  const bool by_ratio = least > 0 && value > 0 && value < least && least / value > most / least;
  return by_ratio || std::max(least - value, value - most) > most - least;
}

}  // namespace

std::string FarAnswer::text() const {
  const std::string name = row ? fmt::format("row {}", *row) : "a row that is not of the pool";
  if (ends_logarithms) {
    return fmt::format(
        "{}: {} {:.6g} is not positive, and all labels so far are, {:.6g} to {:.6g}; logarithms are no "
        "longer possible",
        name, target, value, least, most);
  }
  const std::string expected =
      stddevs > 0 ? fmt::format(", and {:.3g} standard deviations from its prediction", stddevs) : std::string();
  return fmt::format("{}: {} {:.6g} is far outside of the labels so far, {:.6g} to {:.6g}{}", name, target, value,
                     least, most, expected);
}

std::vector<FarAnswer> far_answers(const Campaign& campaign, const Problem& data, const Answers& answers,
                                   const Ensemble* model, Executor* executor) {
  const std::size_t D = data.target_names.size();
  const Told told = told_rows(data, answers);
  const std::vector<std::pair<double, double>> ranges = ranges_of(labelled_rows(campaign, data).targets, D);
  const auto outside = [&](std::size_t k) {
    const auto& [least, most] = ranges[k % D];
    return told.targets[k] < least || told.targets[k] > most;
  };
  std::vector<std::size_t> suspects;
  for (std::size_t k = 0; k < told.targets.size(); ++k) {
    if (outside(k)) {
      suspects.push_back(k);
    }
  }
  if (suspects.empty()) {
    return {};
  }
  const std::vector<double> stddevs =
      model == nullptr ? std::vector<double>(told.targets.size(), 0) : stddevs_of(told, *model, executor);
  std::vector<FarAnswer> far;
  for (const std::size_t k : suspects) {
    const auto& [least, most] = ranges[k % D];
    const double value = told.targets[k];
    const bool ends_logarithms = least > 0 && value <= 0;
    if (ends_logarithms || (model == nullptr ? is_beyond(value, least, most) : stddevs[k] > kFarStddevs)) {
      const bool of_pool = k / D < answers.rows.size();
      far.push_back({of_pool ? std::optional(answers.rows[k / D]) : std::nullopt, data.target_names[k % D], value,
                     least, most, stddevs[k], ends_logarithms});
    }
  }
  return far;
}

}  // namespace dissent
