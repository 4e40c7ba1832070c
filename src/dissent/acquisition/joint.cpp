// kl-joint, bhattacharyya-joint, ...: the batch whose outputs together tell most about the component.
//
// Given the component, the outputs of a batch are independent. So divergences add over its rows, and the pairwise
// estimate of the joint mutual information has the closed form of one row's, with D_ij summed. The choice is greedy:
// each pick is the row with the largest estimate together with the earlier picks. It keeps one running M x M matrix and
// takes O(N M^2) per pick. The estimate soon reaches H(w) to the last bit, so rows are ranked by its log deficit, which
// does not saturate. With a batch of one this is the pairwise estimate itself. Once the picks leave a hundredth of
// H(w), the next ones are chosen by the disagreement that the picks leave (residual.hpp). Pending rows count as earlier
// picks.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "dissent/acquisition/joint_kernel.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/residual.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/divergence/pairwise.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlockRows =
    8 * PairwiseDivergences::kBlock;  // predicted at a time, so that a mixture stays in the cache

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
      copy_pairs(pairs, own->divergences, count, result.divergence.panel(), first);
    }
  });
  return result;
}

// How joint choice goes on after saturation: by the disagreement left, among candidates that disagree most by
// themselves.
class AfterSaturation {
 public:
  AfterSaturation(const AcquisitionTask& task, std::span<const double> candidates, const Alone& alone)
      : task_(task), candidates_(candidates), alone_(alone), nats_(alone.log_deficit.size()) {}

  // Nats left at each candidate; 0 for those not considered.
  const std::vector<double>& left(std::span<const std::size_t> picks) {
    if (!residual_) {
      begin(picks);
    }
    for (; taken_ < picks.size(); ++taken_) {
      residual_->take(static_cast<std::size_t>(std::ranges::lower_bound(listed_, picks[taken_]) - listed_.begin()));
    }
    std::vector<double> of_rows(num_rows_);
    residual_->left(of_rows);
    for (std::size_t k = 0; k < listed_.size(); ++k) {
      nats_[listed_[k]] = of_rows[k];
    }
    return nats_;
  }

 private:
  void begin(std::span<const std::size_t> picks) {
    std::vector<std::size_t> rows(nats_.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::erase_if(rows, [&](std::size_t row) { return std::ranges::find(picks, row) != picks.end(); });
    listed_ =
        short_list(task_.stream, task_.batch, std::move(rows), [&](std::size_t n) { return -alone_.log_deficit[n]; });
    listed_.insert(listed_.end(), picks.begin(), picks.end());
    std::ranges::sort(listed_);
    Stream draw = task_.stream.substream(kMethodDraw);
    const std::vector<std::size_t> outputs = draw_numbers(task_.model.num_outputs(), kMostOutputs, draw);
    const std::size_t C = task_.model.num_input_columns();
    std::vector<double> inputs = pick_rows(candidates_, C, listed_);
    inputs.insert(inputs.end(), task_.pending.begin(), task_.pending.end());
    num_rows_ = inputs.size() / C;
    residual_.emplace(task_.model, inputs, outputs, task_.executor);
    for (std::size_t n = listed_.size(); n < num_rows_; ++n) {
      residual_->take(n);
    }
  }

  const AcquisitionTask& task_;
  std::span<const double> candidates_;
  const Alone& alone_;
  std::vector<double> nats_;
  std::vector<std::size_t> listed_;  // candidates considered, and the picks, ascending
  std::size_t taken_ = 0;            // of the picks
  std::size_t num_rows_ = 0;         // listed and pending
  std::optional<ResidualDisagreement> residual_;
};

// The joint estimate of the picks with each candidate.
class JointChoice {
 public:
  JointChoice(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates)
      : task_(task),
        pairs_(task.model.weights()),
        alone_(score_alone(divergence, pairs_, task, candidates)),
        picks_(task.stream, alone_.epistemic.size(), task.utilities),
        running_(pairs_.pairs.size()),
        information_(padded_batch(alone_.epistemic.size())),
        after_(task, candidates, alone_),
        total_(by_value() ? 0 : -std::log(entropy())) {
    if (!task.pending.empty()) {
      take_pending(divergence);
    }
  }

  Choice run() {
    while (choice_.rows.size() < task_.batch) {
      const bool is_first = choice_.rows.empty() && task_.pending.empty();
      const Ranked best = is_first ? first() : all_told() ? beyond() : next();
      add(best);
    }
    return std::move(choice_);
  }

 private:
  bool by_value() const { return task_.ranking == Ranking::kValue; }
  // Whether the picks leave next to nothing of H(w).
  bool all_told() const { return !by_value() && total_ + std::log(entropy()) > -std::log(kLeftWhenTold); }
  double entropy() const { return task_.model.weights().entropy; }

  void take_pending(const Divergence& divergence) {
    const Alone pending = score_alone(divergence, pairs_, task_, task_.pending);
    for (std::size_t n = 0; n < pending.epistemic.size(); ++n) {
      add_sums(pending, n);
    }
    const Combined known = combine(task_.model.weights(), sums_with({}));
    total_ = ranked_by(task_.ranking, known.epistemic, known.log_deficit).score;
  }

  Ranked first() {
    const double nothing = total_;
    Ranked best = picks_.take_best(
        [&](std::size_t n) { return ranked_by(task_.ranking, alone_.epistemic[n], alone_.log_deficit[n]); },
        [&](const Ranked& row) { return row.score - nothing; });
    total_ = best.score;
    best.score -= nothing;
    return best;
  }

  Ranked next() {
    const std::size_t num_rows = alone_.epistemic.size();
    if (!pairs_.pairs.empty()) {
      for_blocks(task_.executor, num_rows, kBlockRows, [&](std::size_t begin, std::size_t end, std::size_t) {
        const Panel<const float> all = alone_.divergence.panel();
        joint_information(pairs_, {all.data + begin, all.rows, all.stride}, running_, end - begin,
                          information_.data() + begin);
      });
    }
    // information = ln H(w) - log_deficit, minus what was taken off
    const double base = pairs_.pairs.empty() ? 0 : running_.taken_off - std::log(entropy());
    const double before = total_;
    const auto rank = [&](std::size_t n) {
      const auto score = static_cast<double>(information_[n]);
      return by_value() ? ranked_by(task_.ranking, entropy() - std::exp(-score - base), 0) : Ranked{.score = score};
    };
    const auto total = [&](const Ranked& row) { return by_value() ? row.score : row.score + base; };
    Ranked best = picks_.take_best(rank, [&](const Ranked& row) { return total(row) - before; });
    total_ = by_value() ? best.score : -combine(task_.model.weights(), sums_with(best.row)).log_deficit;
    best.score = total_ - before;
    return best;
  }

  // Divergences of the picks and, if given, one more row, [M][M], in double precision.
  std::vector<double> sums_with(std::optional<std::size_t> row) const {
    const std::size_t M = task_.model.num_components();
    std::vector<double> sums(M * M);
    for (std::size_t k = 0; k < pairs_.pairs.size(); ++k) {
      const JointPairs::Pair& pair = pairs_.pairs[k];
      const double more = row ? static_cast<double>(alone_.divergence.panel()(k, *row)) : 0;
      sums[pair.i * M + pair.j] = running_.sums[k] + more;
    }
    return sums;
  }

  Ranked beyond() {
    const std::vector<double>& left = after_.left(choice_.rows);
    return picks_.take_best([&](std::size_t n) { return Ranked{.score = left[n]}; });
  }

  // Adds the divergences of row n, a pick or a pending row.
  void add_sums(const Alone& rows, std::size_t n) {
    for (std::size_t k = 0; k < pairs_.pairs.size(); ++k) {
      running_.add(k, static_cast<double>(rows.divergence.panel()(k, n)));
    }
    if (!pairs_.pairs.empty()) {
      running_.update();
    }
  }

  void add(const Ranked& best) {
    add_sums(alone_, best.row);
    choice_.rows.push_back(best.row);
    choice_.scores.push_back(best.score);
    choice_.epistemic.push_back(alone_.epistemic[best.row]);
  }

  const AcquisitionTask& task_;
  JointPairs pairs_;
  Alone alone_;
  GreedyPicks picks_;
  RunningSums running_;
  AlignedVector<float> information_;  // stays 0 when there is no pair
  AfterSaturation after_;
  double total_;  // of the picks and pending rows: -ln(H(w) - estimate), or the estimate
  Choice choice_;
};

}  // namespace

Choice choose_joint(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates) {
  return JointChoice(divergence, task, candidates).run();
}

}  // namespace dissent
