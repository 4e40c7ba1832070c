// aim, kl-aim, ...: greedily picks the batch whose labels tell most about predictions at the aim (aim_information.hpp).
//
// If the user gives no aim, a sample of the candidates stands for it. If there are many outputs, a sample of them is
// used. After the first pick, only the candidates that are best by themselves are considered: a label seldom tells more
// beside others than alone.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "dissent/acquisition/aim_information.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kLeastAimRows = 100;
constexpr std::size_t kMostAimRows = 1000;
constexpr std::size_t kMostCells = 8'000'000;  // aim rows x candidates x outputs: the work grows with it
constexpr std::size_t kDrawnPairwise = 100;    // aim rows for pairwise estimates, from the candidates

// As many as time allows: a choice that leaves less to the draw is more stable.
std::size_t most_aim_rows(std::size_t num_candidates, std::size_t num_outputs) {
  return std::clamp(kMostCells / (num_candidates * num_outputs), kLeastAimRows, kMostAimRows);
}

// Greedy picks of one task.
class AimChoice {
 public:
  // `share`: the share of all outputs that `information` looks at.
  AimChoice(const AcquisitionTask& task, std::span<const double> candidates, AimInformation& information, double share)
      : task_(task),
        information_(information),
        share_(share),
        worth_(candidates.size() / num_columns()),
        taken_(worth_.size(), 0),
        listed_(worth_.size()) {
    std::iota(listed_.begin(), listed_.end(), std::size_t{0});
    if (worth_.size() > short_list_length(task.batch)) {
      std::vector<double> gain(worth_.size());
      information_.alone(candidates, gain);
      set_worth(gain);
      listed_ = short_list(task.stream, task.batch, std::move(listed_), [&](std::size_t n) { return worth_[n]; });
    }
    std::vector<double> rows = pick_rows(candidates, num_columns(), listed_);
    rows.insert(rows.end(), task.pending.begin(), task.pending.end());
    information_.begin(rows);
    for (std::size_t n = listed_.size(); n < rows.size() / num_columns(); ++n) {
      information_.take(n);
    }
    gain_.resize(rows.size() / num_columns());
  }

  Choice run() {
    Choice choice;
    while (choice.rows.size() < task_.batch) {
      information_.gains(gain_);
      set_worth(gain_);
      const auto best =
          std::ranges::min_element(listed_, [&](std::size_t a, std::size_t b) { return is_better(a, b); });
      choice.rows.push_back(*best);
      choice.scores.push_back(worth_[*best]);
      note();
      taken_[*best] = 1;
      information_.take(static_cast<std::size_t>(best - listed_.begin()));
    }
    return choice;
  }

 private:
  std::size_t num_columns() const { return task_.model.num_input_columns(); }

  // Sets the worth of listed_ from their gains.
  void set_worth(std::span<const double> gain) {
    for (std::size_t k = 0; k < listed_.size(); ++k) {
      const std::size_t n = listed_[k];
      worth_[n] = gain[k] / (share_ * (task_.cost.empty() ? 1 : task_.cost[n]));
    }
  }

  // Rows that are not taken come first.
  bool is_better(std::size_t a, std::size_t b) const {
    return taken_[a] != taken_[b]
               ? taken_[a] < taken_[b]
               : goes_before(task_.stream, {.score = worth_[a], .row = a}, {.score = worth_[b], .row = b});
  }

  void note() const {
    for (std::size_t n = 0; n < worth_.size() && task_.utilities != nullptr; ++n) {
      task_.utilities->push_back(taken_[n] != 0 ? std::numeric_limits<double>::quiet_NaN() : worth_[n]);
    }
  }

  const AcquisitionTask& task_;
  AimInformation& information_;
  double share_;
  std::vector<double> worth_;        // of each candidate, as last computed, over its cost
  std::vector<char> taken_;          // of each
  std::vector<std::size_t> listed_;  // candidates considered, ascending
  std::vector<double> gain_;         // of those, then of pending rows
};

}  // namespace

Choice choose_aim(const Divergence& divergence, bool exact, const AcquisitionTask& task,
                  std::span<const double> candidates) {
  const std::size_t C = task.model.num_input_columns();
  const std::size_t D = task.model.num_outputs();
  Stream draw = task.stream.substream(kMethodDraw);
  const std::vector<std::size_t> outputs = draw_numbers(D, kMostOutputs, draw);
  const std::span<const double> from = task.aim.empty() ? candidates : task.aim;
  const bool few = !exact && task.aim.empty();
  const std::size_t most = few ? kDrawnPairwise : most_aim_rows(candidates.size() / C, outputs.size());
  const std::vector<double> aim = pick_rows(from, C, draw_numbers(from.size() / C, most, draw));
  const AimTask of{.model = task.model, .aim = aim, .outputs = outputs, .executor = task.executor};
  const std::unique_ptr<AimInformation> information =
      exact ? exact_information(of) : pairwise_information(divergence, of);
  const double share = static_cast<double>(outputs.size()) / static_cast<double>(D);
  return AimChoice(task, candidates, *information, share).run();
}

}  // namespace dissent
