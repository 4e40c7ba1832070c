// batchbald:K: greedy choice of the batch with the largest joint mutual information by K Monte Carlo samples
// (BatchBALD, Kirsch et al. 2019, for Gaussian outputs; sampled.hpp). Every pick draws its own noise, the same for all
// candidates. Pending rows count as earlier picks.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/sampled.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/estimator/score_device.hpp"

namespace dissent {

namespace {

constexpr std::size_t kBlock = 20;

// The samples of the picks so far, pending rows first.
class SampledPicks {
 public:
  SampledPicks(std::size_t num_samples, const AcquisitionTask& task, const Mixture<double>& rows)
      : num_samples_(num_samples), task_(task), rows_(rows), chosen_(no_ratios(noise())) {
    if (task.device != nullptr) {
      there_ = task.device->take_rows(rows.view());
    }
  }

  // ln(H(w) - estimate) of the picks together with each row.
  void log_deficits(std::span<double> out) const {
    const SampleNoise own = noise();
    if (there_) {
      there_->log_deficits(component_noise(own, chosen_), std::log(own.weights().entropy), out);
      return;
    }
    for_blocks(task_.executor, out.size(), kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      sampled_log_deficit(own, rows_.view().rows(begin, end), chosen_, out.subspan(begin, end - begin));
    });
  }

  void take(const MixtureView<double>& mixture, std::size_t row) {
    add_ratios(noise(), mixture, row, chosen_);
    ++num_taken_;
  }

  // Takes all inputs of the mixture and returns the log deficit that they leave.
  double take_all(const MixtureView<double>& mixture) {
    double log_deficit = 0;
    for (std::size_t row = 0; row < mixture.num_inputs; ++row) {
      if (row + 1 == mixture.num_inputs) {
        sampled_log_deficit(noise(), mixture.rows(row, row + 1), chosen_, {&log_deficit, 1});
      }
      take(mixture, row);
    }
    return log_deficit;
  }

 private:
  // Of the next pick.
  SampleNoise noise() const {
    const Weights& weights = task_.model.weights();
    return {weights, num_samples_, rows_.num_outputs, task_.stream, kNoiseDraw + num_taken_ * weights.size()};
  }

  std::size_t num_samples_;
  const AcquisitionTask& task_;
  const Mixture<double>& rows_;
  std::size_t num_taken_ = 0;
  ChosenRatios chosen_;
  std::unique_ptr<RowsOnDevice> there_;  // null: the CPU weighs the samples
};

}  // namespace

Choice batchbald(std::size_t num_samples, const AcquisitionTask& task, std::span<const double> candidates) {
  const double entropy = task.model.weights().entropy;
  const auto ranked = [&](double log_deficit) {
    return ranked_by(task.ranking, std::max(0.0, entropy - std::exp(log_deficit)), log_deficit);
  };
  const Mixture<double> mixture = task.model.predict(candidates, task.executor);
  SampledPicks samples(num_samples, task, mixture);
  std::vector<double> log_deficit(mixture.num_inputs);
  samples.log_deficits(log_deficit);
  const std::vector<double> alone = log_deficit;
  double total = task.ranking == Ranking::kValue ? 0 : -std::log(entropy);  // of the picks
  if (!task.pending.empty()) {
    total = ranked(samples.take_all(task.model.predict(task.pending, task.executor).view())).score;
    samples.log_deficits(log_deficit);
  }
  GreedyPicks picks(task.stream, mixture.num_inputs, task.utilities);
  Choice choice;
  while (true) {
    const double before = total;
    const Ranked best = picks.take_best([&](std::size_t n) { return ranked(log_deficit[n]); },
                                        [&](const Ranked& row) { return row.score - before; });
    total = best.score;
    choice.rows.push_back(best.row);
    choice.scores.push_back(total == before ? 0 : total - before);  // both may be infinite
    choice.epistemic.push_back(ranked(alone[best.row]).second);
    if (choice.rows.size() == task.batch) {
      return choice;
    }
    samples.take(mixture.view(), best.row);
    samples.log_deficits(log_deficit);
  }
}

}  // namespace dissent
