// batchbald:K: greedy choice of the batch with the largest joint mutual information by K Monte Carlo samples
// (BatchBALD, Kirsch et al. 2019, for Gaussian outputs; sampled.hpp). Every pick draws noise of its own, the same for
// all candidates.
#include <algorithm>
#include <cmath>
#include <vector>

#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/sampled.hpp"
#include "dissent/base/executor.hpp"

namespace dissent {

Choice batchbald(std::size_t num_samples, const AcquisitionTask& task, std::span<const double> candidates) {
  constexpr std::size_t kBlock = 20;
  const Weights& weights = task.model.weights();
  const Mixture<double> mixture = task.model.predict(candidates, task.executor);
  std::vector<double> log_deficit(mixture.num_inputs);
  std::vector<double> alone;  // epistemic uncertainty of each row by itself
  GreedyPicks picks(task.stream, mixture.num_inputs, task.utilities);
  ChosenRatios chosen;
  double total = task.ranking == Ranking::kValue ? 0 : -std::log(weights.entropy);  // of the picks
  Choice choice;
  for (std::size_t pick = 0; pick < task.batch; ++pick) {
    const SampleNoise noise(weights, num_samples, mixture.num_outputs, task.stream, kNoiseDraw + pick * weights.size());
    if (pick == 0) {
      chosen = no_ratios(noise);
    }
    for_blocks(task.executor, mixture.num_inputs, kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      sampled_log_deficit(noise, mixture.view().rows(begin, end), chosen,
                          std::span(log_deficit).subspan(begin, end - begin));
    });
    const auto rank = [&](std::size_t n) {
      return ranked_by(task.ranking, std::max(0.0, weights.entropy - std::exp(log_deficit[n])), log_deficit[n]);
    };
    if (pick == 0) {
      for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
        alone.push_back(rank(n).second);
      }
    }
    const double before = total;
    const Ranked best = picks.take_best(rank, [&](const Ranked& row) { return row.score - before; });
    total = best.score;
    choice.rows.push_back(best.row);
    choice.scores.push_back(total == before ? 0 : total - before);  // both may be infinite
    choice.epistemic.push_back(alone[best.row]);
    add_ratios(noise, mixture.view(), best.row, chosen);
  }
  return choice;
}

}  // namespace dissent
