#include "dissent/acquisition/top.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlockRows = 512;   // predicted and scored at a time, so that a mixture stays in the cache
constexpr std::size_t kSampledRows = 20;  // the same for Monte Carlo, which takes long for a row

// Variance over the components of their means in output space, summed over outputs in scaled units, for each row.
// A flow carries each component's base mean to outputs, which is not the mean of the component there: that would take
// samples.
std::vector<double> variance_of_means(const Ensemble& model, std::span<const double> inputs) {
  const std::size_t D = model.num_outputs();
  const std::size_t M = model.num_components();
  const Mixture<double> mixture = model.predict(inputs);
  std::vector<double> mean(mixture.mean.size());
  model.carry(inputs, M, mixture.mean, mean, {});
  std::vector<double> variance(mixture.num_inputs);
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    for (std::size_t d = 0; d < D; ++d) {
      const double* at = mean.data() + n * M * D + d;
      double center = 0;
      for (std::size_t m = 0; m < M; ++m) {
        center += model.weights().value[m] * at[m * D];
      }
      for (std::size_t m = 0; m < M; ++m) {
        const double gap = (at[m * D] - center) / model.columns().target_scaling.scale[d];
        variance[n] += model.weights().value[m] * gap * gap;
      }
    }
  }
  return variance;
}

}  // namespace

TopChooser::TopChooser(const Acquisition& acquisition, const AcquisitionTask& task)
    : acquisition_(acquisition),
      task_(task),
      best_(task.stream, task.batch),
      best_inputs_(task.batch * task.model.num_inputs()) {
  if (acquisition.kind() == AcquisitionKind::kMonteCarlo) {
    noise_.emplace(task.model.weights(), acquisition.num_samples(), task.model.num_outputs(), task.stream, kNoiseDraw);
    no_ratios_ = no_ratios(*noise_);
  }
}

void TopChooser::score(std::span<const double> inputs, std::size_t first_row, std::span<Ranked> rows,
                       Mixture<float>& base) const {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k].row = first_row + k;
  }
  switch (acquisition_.kind()) {
    case AcquisitionKind::kRandom:
      for (Ranked& row : rows) {
        row.score = task_.stream.substream(row.row).uniform();
      }
      return;
    case AcquisitionKind::kVariance: {
      const std::vector<double> variance = variance_of_means(task_.model, inputs);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        rows[k].score = variance[k];
      }
      return;
    }
    case AcquisitionKind::kMonteCarlo: {
      std::vector<double> log_deficit(rows.size());
      sampled_log_deficit(*noise_, task_.model.predict(inputs).view(), no_ratios_, log_deficit);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        rows[k].score = -log_deficit[k];
        rows[k].second = std::max(0.0, task_.model.weights().entropy - std::exp(log_deficit[k]));
      }
      return;
    }
    case AcquisitionKind::kPairwise: {
      task_.model.predict_base(inputs, base);
      const Uncertainty uncertainty =
          estimate({.divergence = acquisition_.divergence()}, base.view(), task_.model.weights());
      for (std::size_t k = 0; k < rows.size(); ++k) {
        rows[k].score = -uncertainty.log_deficit[k];
        rows[k].second = uncertainty.epistemic[k];
      }
      return;
    }
    case AcquisitionKind::kJoint:
    case AcquisitionKind::kBatchBald:
    case AcquisitionKind::kBadge:
    case AcquisitionKind::kBait:
    case AcquisitionKind::kLcmd:
      break;  // weigh rows against each other, and never come here
  }
}

void TopChooser::offer(std::span<const double> inputs) {
  const std::size_t C = task_.model.num_inputs();
  const std::size_t num_rows = inputs.size() / C;
  scored_.assign(num_rows, {});
  const std::size_t block = acquisition_.kind() == AcquisitionKind::kMonteCarlo ? kSampledRows : kBlockRows;
  base_.resize(num_threads(task_.executor));
  for_blocks(task_.executor, num_rows, block, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    score(inputs.subspan(begin * C, (end - begin) * C), num_rows_ + begin,
          std::span(scored_).subspan(begin, end - begin), base_[thread]);
  });
  for (std::size_t k = 0; k < num_rows; ++k) {
    const std::size_t slot = best_.offer(scored_[k]);
    if (slot != TopRows::kNone) {
      std::copy_n(inputs.data() + k * C, C, best_inputs_.data() + slot * C);
    }
  }
  num_rows_ += num_rows;
}

Choice TopChooser::finish() const {
  check(task_.batch <= num_rows_, "choose: a batch of {} from {} candidates; there must be as many candidates as picks",
        task_.batch, num_rows_);
  Choice choice;
  std::vector<std::size_t> slots;
  const bool has_estimate =
      acquisition_.kind() == AcquisitionKind::kPairwise || acquisition_.kind() == AcquisitionKind::kMonteCarlo;
  for (const TopRows::Entry& entry : best_.sorted()) {
    choice.rows.push_back(entry.row.row);
    choice.scores.push_back(entry.row.score);
    if (has_estimate) {
      choice.epistemic.push_back(entry.row.second);
    }
    slots.push_back(entry.slot);
  }
  describe(task_, pick_rows(best_inputs_, task_.model.num_inputs(), slots), choice);
  return choice;
}

void describe(const AcquisitionTask& task, std::span<const double> inputs, Choice& choice) {
  const Mixture<double> mixture = task.model.predict(inputs, task.executor);
  if (choice.epistemic.empty()) {
    choice.epistemic = estimate(Estimator{}, mixture.view(), task.model.weights()).epistemic;
  }
  if (task.aleatoric) {
    SummaryOptions options;
    options.executor = task.executor;
    choice.aleatoric = summarise(task.model, inputs, mixture, options).aleatoric;
  }
}

}  // namespace dissent
