#include "dissent/acquisition/joint.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "dissent/acquisition/blocks.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/divergence/pairwise.hpp"
#include "dissent/estimator/combine.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlock = PairwiseDivergences::kBlock;
constexpr std::size_t kPredictRows = 8 * kBlock;

// The divergences of all candidates, [block of kBlock rows][M][M][kBlock].
std::vector<double> all_divergences(const Divergence& divergence, const AcquisitionTask& task,
                                    std::span<const double> candidates) {
  const Ensemble& model = task.model;
  const std::size_t C = model.num_inputs();
  const std::size_t num_rows = candidates.size() / C;
  const std::size_t size = model.num_components() * model.num_components() * kBlock;
  std::vector<double> all((num_rows + kBlock - 1) / kBlock * size);
  struct Scratch {
    PairwiseDivergences pairs;
    Mixture<float> mixture;
  };
  std::vector<std::optional<Scratch>> scratch(num_threads(task.pool));
  for_blocks(task.pool, num_rows, kPredictRows, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    std::optional<Scratch>& own = scratch[thread];
    if (!own) {
      own.emplace(Scratch{{divergence, model.num_components(), model.num_outputs()}, {}});
    }
    model.predict_base(candidates.subspan(begin * C, (end - begin) * C), own->mixture);
    for (std::size_t first = begin; first < end; first += kBlock) {
      own->pairs.compute(own->mixture.view(), first - begin, std::min(kBlock, end - first), begin);
      std::copy_n(own->pairs.divergence(), size, all.data() + first / kBlock * size);
    }
  });
  return all;
}

}  // namespace

Choice choose_joint(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates) {
  const std::size_t num_rows = candidates.size() / task.model.num_inputs();
  const std::size_t num_pairs = task.model.num_components() * task.model.num_components();
  const std::vector<double> all = all_divergences(divergence, task, candidates);
  std::vector<double> running(num_pairs);  // of the picks so far
  struct Scratch {
    Combiner combiner;
    std::vector<double> sum;
  };
  std::vector<std::optional<Scratch>> scratch(num_threads(task.pool));
  std::vector<double> epistemic(num_rows);
  std::vector<double> log_deficit(num_rows);
  const auto combine_block = [&](std::size_t begin, std::size_t end, std::size_t thread) {
    std::optional<Scratch>& own = scratch[thread];
    if (!own) {
      own.emplace(Combiner({task.model.weights(), divergence.symmetric(), true}),
                  std::vector<double>(num_pairs * kBlock));
    }
    const double* from = all.data() + begin / kBlock * num_pairs * kBlock;
    for (std::size_t k = 0; k < num_pairs; ++k) {
      std::transform(from + k * kBlock, from + (k + 1) * kBlock, own->sum.data() + k * kBlock,
                     [&](double value) { return value + running[k]; });
    }
    own->combiner.run({own->sum.data(), kBlock, end - begin, epistemic.data() + begin, log_deficit.data() + begin});
  };
  Choice choice;
  std::vector<double> alone;  // epistemic uncertainty of each row by itself
  GreedyPicks picks(task.stream, num_rows);
  for (std::size_t pick = 0; pick < task.batch; ++pick) {
    for_blocks(task.pool, num_rows, kBlock, combine_block);
    if (pick == 0) {
      alone = epistemic;
    }
    const Ranked best =
        picks.take_best([&](std::size_t n) { return Ranked{.score = -log_deficit[n], .second = epistemic[n]}; });
    choice.rows.push_back(best.row);
    choice.scores.push_back(best.score);
    choice.epistemic.push_back(alone[best.row]);
    for (std::size_t k = 0; k < num_pairs; ++k) {
      running[k] += all[(best.row / kBlock * num_pairs + k) * kBlock + best.row % kBlock];
    }
  }
  return choice;
}

}  // namespace dissent
