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

}  // namespace

std::string FarAnswer::text() const {
  const std::string expected =
      stddevs > 0 ? fmt::format(", and {:.3g} standard deviations from its prediction", stddevs) : std::string();
  return fmt::format("{}: {} {:.6g} is far outside of the labels so far, {:.6g} to {:.6g}{}",
                     row ? fmt::format("row {}", *row) : "a row that is not of the pool", target, value, least, most,
                     expected);
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
  Summary summary;
  if (model != nullptr) {
    summary = summarise(*model, told.inputs, model->predict(told.inputs, executor), {.executor = executor});
  }
  std::vector<FarAnswer> far;
  for (const std::size_t k : suspects) {
    const auto& [least, most] = ranges[k % D];
    const double value = told.targets[k];
    const double stddevs = model == nullptr ? 0 : std::abs(value - summary.mean[k]) / summary.stddev[k];
    const double beyond = std::max(least - value, value - most);
    if (model == nullptr ? beyond > most - least : stddevs > kFarStddevs) {
      const bool of_pool = k / D < answers.rows.size();
      far.push_back({of_pool ? std::optional(answers.rows[k / D]) : std::nullopt, data.target_names[k % D], value,
                     least, most, stddevs});
    }
  }
  return far;
}

}  // namespace dissent
