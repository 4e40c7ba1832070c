// kl-joint, bhattacharyya-joint, ...: the batch whose outputs together say most about the component.
//
// Given the component, the outputs of a batch are independent, so divergences add over its rows, and the pairwise
// estimate of the joint mutual information has the closed form of one row's with D_ij summed. Greedy: each pick is the
// row with the largest estimate together with the picks before it, one running M x M matrix, O(N M^2) a pick. The
// estimate soon reaches H(w) to the last bit; rows are ranked by its log deficit, which does not saturate. With a batch
// of one this is the pairwise estimate itself.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "dissent/acquisition/joint_kernel.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/divergence/pairwise.hpp"
#include "dissent/estimator/combine.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlockRows =
    8 * PairwiseDivergences::kBlock;  // predicted at a time, so that a mixture stays in the cache

constexpr double kLargest = 1e37;  // of a divergence, so that sums stay finite in single precision

// Every candidate by itself.
struct Alone {
  PanelBuffer<float> divergence;  // [pairs][N]
  std::vector<double> epistemic;
  std::vector<double> log_deficit;
};

Alone score_alone(const Divergence& divergence, const JointPairs& pairs, const AcquisitionTask& task,
                  std::span<const double> candidates) {
  const Ensemble& model = task.model;
  const std::size_t C = model.num_input_columns();
  const std::size_t M = model.num_components();
  const std::size_t num_rows = candidates.size() / C;
  Alone result{PanelBuffer<float>(pairs.pairs.size(), num_rows), std::vector<double>(num_rows),
               std::vector<double>(num_rows)};
  struct Scratch {
    PairwiseDivergences divergences;
    Combiner combiner;
    Mixture<float> mixture;
  };
  std::vector<std::optional<Scratch>> scratch(num_threads(task.executor));
  for_blocks(task.executor, num_rows, kBlockRows, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    std::optional<Scratch>& own = scratch[thread];
    if (!own) {
      own.emplace(
          Scratch{{divergence, M, model.num_outputs()}, Combiner({model.weights(), divergence.symmetric(), true}), {}});
    }
    model.predict_base(candidates.subspan(begin * C, (end - begin) * C), own->mixture);
    const std::size_t stride = own->divergences.stride();
    for (std::size_t first = begin; first < end; first += stride) {
      const std::size_t count = std::min(stride, end - first);
      own->divergences.compute(own->mixture.view(), first - begin, count, begin);
      const double* from = own->divergences.divergence();
      own->combiner.run({from, stride, count, result.epistemic.data() + first, result.log_deficit.data() + first});
      for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
        const double* row = from + (pairs.pairs[k].i * M + pairs.pairs[k].j) * stride;
        std::transform(row, row + count, result.divergence.panel().row(k) + first,
                       [](double value) { return static_cast<float>(std::min(value, kLargest)); });
      }
    }
  });
  return result;
}

}  // namespace

Choice choose_joint(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates) {
  const std::size_t M = task.model.num_components();
  const bool by_value = task.ranking == Ranking::kValue;
  const JointPairs pairs(task.model.weights());
  const Alone alone = score_alone(divergence, pairs, task, candidates);
  const std::size_t num_rows = alone.epistemic.size();
  GreedyPicks picks(task.stream, num_rows, task.utilities);
  std::vector<double> picked(M * M);  // sums over the picks
  RunningSums running(pairs.pairs.size());
  AlignedVector<float> information(padded_batch(num_rows));  // stays 0 when there is no pair
  Choice choice;
  for (std::size_t pick = 0; pick < task.batch; ++pick) {
    if (pick > 0 && !pairs.pairs.empty()) {
      for_blocks(task.executor, num_rows, kBlockRows, [&](std::size_t begin, std::size_t end, std::size_t) {
        const Panel<const float> all = alone.divergence.panel();
        joint_information(pairs, {all.data + begin, all.rows, all.stride}, running, end - begin,
                          information.data() + begin);
      });
    }
    // information = ln H(w) - log_deficit, less what was taken off
    const double entropy = task.model.weights().entropy;
    const double base = pick == 0 || pairs.pairs.empty() ? 0 : running.taken_off - std::log(entropy);
    const auto rank = [&](std::size_t n) {
      if (pick == 0) {
        return ranked_by(task.ranking, alone.epistemic[n], alone.log_deficit[n]);
      }
      const auto score = static_cast<double>(information[n]);
      return by_value ? ranked_by(task.ranking, entropy - std::exp(-score - base), 0) : Ranked{.score = score};
    };
    const Ranked best =
        picks.take_best(rank, [&](const Ranked& row) { return by_value ? row.score : row.score + base; });
    for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
      running.add(k, static_cast<double>(alone.divergence.panel()(k, best.row)));
      picked[pairs.pairs[k].i * M + pairs.pairs[k].j] = running.sums[k];
    }
    if (!pairs.pairs.empty()) {
      running.update();
    }
    choice.rows.push_back(best.row);
    // What the picks have come to, in double precision unless values rank.
    choice.scores.push_back(pick == 0 || by_value ? best.score : -combine(task.model.weights(), picked).log_deficit);
    choice.epistemic.push_back(alone.epistemic[best.row]);
  }
  return choice;
}

}  // namespace dissent
