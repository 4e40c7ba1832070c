// kl-joint, bhattacharyya-joint, ...: the batch whose outputs together tell most about the component.
//
// Given the component, the outputs of a batch are independent. So divergences add over its rows, and the pairwise
// estimate of the joint mutual information has the closed form of one row's, with D_ij summed. The choice is greedy:
// each pick is the row with the largest estimate together with the earlier picks. It keeps one running M x M matrix and
// takes O(N M^2) per pick, where the rows are: on the host or on a device (joint_candidates.hpp). The estimate soon
// reaches H(w) to the last bit, so rows are ranked by its log deficit, which does not saturate. With a batch of one
// this is the pairwise estimate itself. Once the picks leave a hundredth of H(w), the next ones are chosen by the
// disagreement that the picks leave (residual.hpp). Pending rows count as earlier picks.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "dissent/acquisition/host_candidates.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/residual.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/estimator/joint_candidates.hpp"
#include "dissent/estimator/score_device.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

// A choice, wherever its rows are.
struct JointTask {
  JointCandidates& candidates;
  JointCandidates* pending = nullptr;  // null: none
  const Weights& weights;
  std::size_t num_outputs;
  std::size_t batch;
  Stream stream;
  Executor* executor;
  Ranking ranking;
  std::vector<double>* utilities = nullptr;
  // What labels leave at these candidates, and at all pending rows after them, by the outputs that count.
  std::function<ResidualDisagreement(std::span<const std::size_t> rows, std::span<const std::size_t> outputs)> residual;

  std::size_t num_pending() const { return pending == nullptr ? 0 : pending->num_rows(); }
};

// How joint choice goes on after saturation: by the disagreement left, among candidates that disagree most by
// themselves.
class AfterSaturation {
 public:
  explicit AfterSaturation(const JointTask& task) : task_(task), nats_(task.candidates.num_rows()) {}

  // Nats left at each candidate; 0 for those not considered.
  const std::vector<double>& left(std::span<const std::size_t> picks) {
    if (!residual_) {
      begin(picks);
    }
    for (; taken_ < picks.size(); ++taken_) {
      residual_->take(static_cast<std::size_t>(std::ranges::lower_bound(listed_, picks[taken_]) - listed_.begin()));
    }
    std::vector<double> of_rows(listed_.size() + task_.num_pending());
    residual_->left(of_rows);
    for (std::size_t k = 0; k < listed_.size(); ++k) {
      nats_[listed_[k]] = of_rows[k];
    }
    return nats_;
  }

 private:
  void begin(std::span<const std::size_t> picks) {
    const std::span<const double> log_deficit = task_.candidates.log_deficit();
    std::vector<std::size_t> rows(nats_.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::erase_if(rows, [&](std::size_t row) { return std::ranges::find(picks, row) != picks.end(); });
    listed_ = short_list(task_.stream, task_.batch, std::move(rows), [&](std::size_t n) { return -log_deficit[n]; });
    listed_.insert(listed_.end(), picks.begin(), picks.end());
    std::ranges::sort(listed_);
    Stream draw = task_.stream.substream(kMethodDraw);
    residual_.emplace(task_.residual(listed_, draw_numbers(task_.num_outputs, kMostOutputs, draw)));
    for (std::size_t n = 0; n < task_.num_pending(); ++n) {
      residual_->take(listed_.size() + n);
    }
  }

  const JointTask& task_;
  std::vector<double> nats_;
  std::vector<std::size_t> listed_;  // candidates considered, and the picks, ascending
  std::size_t taken_ = 0;            // of the picks
  std::optional<ResidualDisagreement> residual_;
};

// The joint estimate of the picks with each candidate.
class JointChoice {
 public:
  explicit JointChoice(const JointTask& task)
      : task_(task),
        pairs_(task.weights),
        picks_(task.stream, task.candidates.num_rows(), task.utilities),
        running_(pairs_),
        after_(task),
        total_(by_value() ? 0 : -std::log(entropy())) {
    for (std::size_t n = 0; n < task.num_pending(); ++n) {
      add(task.pending->divergences(n));
    }
    if (task.num_pending() > 0) {
      const Combined known = combine(task.weights, sums());
      total_ = ranked_by(task.ranking, known.epistemic, known.log_deficit).score;
    }
  }

  Choice run() {
    while (choice_.rows.size() < task_.batch) {
      let_interrupt();
      const bool is_first = choice_.rows.empty() && task_.num_pending() == 0;
      const Ranked best = is_first ? first() : all_told() ? beyond() : next();
      choice_.rows.push_back(best.row);
      choice_.scores.push_back(best.score);
      choice_.epistemic.push_back(task_.candidates.epistemic()[best.row]);
    }
    return std::move(choice_);
  }

 private:
  // Ctrl-C reaches us through the executor, which throws between blocks; a device weighs rows without it.
  void let_interrupt() const {
    for_blocks(task_.executor, 1, 1, [](std::size_t, std::size_t, std::size_t) {});
  }
  bool by_value() const { return task_.ranking == Ranking::kValue; }
  // Whether the picks leave next to nothing of H(w).
  bool all_told() const { return !by_value() && total_ + std::log(entropy()) > -std::log(kLeftWhenTold); }
  double entropy() const { return task_.weights.entropy; }

  Ranked first() {
    const std::span<const double> epistemic = task_.candidates.epistemic();
    const std::span<const double> log_deficit = task_.candidates.log_deficit();
    const double nothing = total_;
    Ranked best =
        picks_.take_best([&](std::size_t n) { return ranked_by(task_.ranking, epistemic[n], log_deficit[n]); },
                         [&](const Ranked& row) { return row.score - nothing; });
    add(task_.candidates.divergences(best.row));
    total_ = best.score;
    best.score -= nothing;
    return best;
  }

  Ranked next() {
    const std::span<const float> information = task_.candidates.information(running_);
    // information = ln H(w) - log_deficit, minus what was taken off
    const double base = running_.taken_off - std::log(entropy());
    const double before = total_;
    const auto rank = [&](std::size_t n) {
      const auto score = static_cast<double>(information[n]);
      return by_value() ? ranked_by(task_.ranking, entropy() - std::exp(-score - base), 0) : Ranked{.score = score};
    };
    const auto total = [&](const Ranked& row) { return by_value() ? row.score : row.score + base; };
    Ranked best = picks_.take_best(rank, [&](const Ranked& row) { return total(row) - before; });
    add(task_.candidates.divergences(best.row));
    total_ = by_value() ? best.score : -combine(task_.weights, sums()).log_deficit;
    best.score = total_ - before;
    return best;
  }

  Ranked beyond() {
    const std::vector<double>& left = after_.left(choice_.rows);
    return picks_.take_best([&](std::size_t n) { return Ranked{.score = left[n]}; });
  }

  // Adds the divergences of a pick or a pending row.
  void add(std::span<const float> divergences) {
    for (std::size_t k = 0; k < divergences.size(); ++k) {
      running_.add(k, static_cast<double>(divergences[k]));
    }
    running_.update();
  }

  // Divergences of the picks and pending rows, [M][M]. Components that do not count agree with none.
  std::vector<double> sums() const {
    const std::size_t M = task_.weights.size();
    std::vector<double> sums(M * M, kLargestDivergence);
    for (std::size_t m = 0; m < M; ++m) {
      sums[m * M + m] = 0;
    }
    for (std::size_t k = 0; k < pairs_.pairs.size(); ++k) {
      sums[pairs_.pairs[k].i * M + pairs_.pairs[k].j] = running_.sums[k];
    }
    return sums;
  }

  const JointTask& task_;
  JointPairs pairs_;
  GreedyPicks picks_;
  RunningSums running_;
  AfterSaturation after_;
  double total_;  // of the picks and pending rows: -ln(H(w) - estimate), or the estimate
  Choice choice_;
};

}  // namespace

Choice choose_joint(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates) {
  const Ensemble& model = task.model;
  const auto scored = [&](std::span<const double> rows) {
    return rows.empty() ? nullptr : host_candidates(divergence, model, rows, task.executor);
  };
  const std::unique_ptr<JointCandidates> rows = scored(candidates);
  const std::unique_ptr<JointCandidates> pending = scored(task.pending);
  const auto residual = [&](std::span<const std::size_t> listed, std::span<const std::size_t> outputs) {
    std::vector<double> inputs = pick_rows(candidates, model.num_input_columns(), listed);
    inputs.insert(inputs.end(), task.pending.begin(), task.pending.end());
    return ResidualDisagreement(model, inputs, outputs, task.executor);
  };
  const JointTask joint{.candidates = *rows,
                        .pending = pending.get(),
                        .weights = model.weights(),
                        .num_outputs = model.num_outputs(),
                        .batch = task.batch,
                        .stream = task.stream,
                        .executor = task.executor,
                        .ranking = task.ranking,
                        .utilities = task.utilities,
                        .residual = residual};
  return JointChoice(joint).run();
}

Choice choose_joint_there(const Divergence& divergence, const PoolTask& task) {
  PoolOnDevice& pool = task.pool;
  const std::unique_ptr<JointCandidates> rows = pool.compare(divergence);
  const auto residual = [&](std::span<const std::size_t> listed, std::span<const std::size_t> outputs) {
    const Mixture<double> fetched = pool.rows(listed, outputs);
    std::vector<double> numbers(listed.size());
    std::iota(numbers.begin(), numbers.end(), 0.0);
    std::vector<std::size_t> all(outputs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return ResidualDisagreement(given_ensemble(fetched.view()), numbers, all, task.executor);
  };
  const JointTask joint{.candidates = *rows,
                        .weights = pool.weights(),
                        .num_outputs = pool.num_outputs(),
                        .batch = task.batch,
                        .stream = task.stream,
                        .executor = task.executor,
                        .ranking = task.ranking,
                        .residual = residual};
  return JointChoice(joint).run();
}

}  // namespace dissent
