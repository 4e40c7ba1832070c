// choose() and choose_streaming(): what is asked is checked here, then the method of the registry works.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/scorers.hpp"
#include "dissent/acquisition/uncertainty.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/special.hpp"
#include "dissent/base/top_rows.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kReadRows = 8192;  // read from a source at a time

ModelTraits traits_of(const Ensemble& model) {
  const auto weighted = std::ranges::count_if(model.weights().value, [](double weight) { return weight > 0; });
  return {static_cast<std::size_t>(weighted), model.has_networks()};
}

void check_finite(const Ensemble& model, std::string_view what, std::span<const double> inputs, std::size_t first_row) {
  const std::vector<std::string>& names = model.columns().inputs;
  check(inputs.size() % names.size() == 0, "{} values of {} rows; rows of {} are required", inputs.size(), what,
        names.size());
  if (all_finite(inputs)) {
    return;
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    check(std::isfinite(inputs[k]), "{} {} column '{}' is {}; numbers must be finite", what,
          first_row + k / names.size(), names[k % names.size()], inputs[k]);
  }
}

void check_batch(std::size_t batch, std::size_t num_candidates) {
  check(batch <= num_candidates, "a batch of {} from {} candidates; there must be as many candidates as picks", batch,
        num_candidates);
}

void check_cost(const Acquisition& acquisition, std::span<const double> cost, std::size_t num_candidates) {
  check(cost.empty() || acquisition.info().uses_cost,
        "acquisition '{}' cannot weigh what a label tells against its cost; choose another", acquisition.text());
  check(cost.empty() || cost.size() == num_candidates, "{} costs of {} candidates", cost.size(), num_candidates);
  for (std::size_t n = 0; n < cost.size(); ++n) {
    check(std::isfinite(cost[n]) && cost[n] > 0, "candidate {}: its cost is {}; a cost must be finite and > 0", n,
          cost[n]);
  }
}

// Fills what `choice` does not have yet: epistemic by kl, and aleatoric where the task asks for it. `inputs`: [B][C],
// of the chosen.
void describe(const AcquisitionTask& task, std::span<const double> inputs, Choice& choice) {
  if (!choice.epistemic.empty() && !task.aleatoric) {
    return;
  }
  UncertaintyOptions options;
  options.aleatoric = task.aleatoric;
  options.estimate.executor = task.executor;
  Uncertainty found = uncertainty(task.model, inputs, options);
  if (choice.epistemic.empty()) {
    choice.epistemic = std::move(found.epistemic);
  }
  choice.aleatoric = std::move(found.aleatoric);
}

// The best B rows by a score of their own. Rows come in blocks of any size; memory holds one block and the best B.
class TopChooser {
 public:
  // Acquisition, task and the task's model must outlive the chooser.
  TopChooser(const Acquisition& acquisition, const AcquisitionTask& task)
      : info_(acquisition.info()),
        task_(task),
        scorer_(info_.scorer(acquisition, task)),
        best_(task.batch, GoesBefore{task.stream}),
        best_inputs_(task.batch * task.model.num_input_columns()) {}

  // The next rows, [n][C], finite.
  void offer(std::span<const double> inputs) {
    const std::size_t C = task_.model.num_input_columns();
    scored_.assign(inputs.size() / C, {});
    for_blocks(task_.executor, scored_.size(), scorer_->block_rows(),
               [&](std::size_t begin, std::size_t end, std::size_t thread) {
                 const std::span<Ranked> rows = std::span(scored_).subspan(begin, end - begin);
                 for (std::size_t k = 0; k < rows.size(); ++k) {
                   rows[k].row = num_rows_ + begin + k;
                 }
                 scorer_->score(inputs.subspan(begin * C, rows.size() * C), rows, thread);
               });
    for (std::size_t k = 0; k < scored_.size(); ++k) {
      const std::size_t slot = best_.offer(scored_[k]);
      if (slot != Best::kNone) {
        std::copy_n(inputs.data() + k * C, C, best_inputs_.data() + slot * C);
      }
    }
    num_rows_ += scored_.size();
  }

  // InputError when fewer rows than the batch were offered.
  Choice finish() const {
    check_batch(task_.batch, num_rows_);
    Choice choice;
    std::vector<std::size_t> slots;
    for (const Best::Entry& entry : best_.sorted()) {
      choice.rows.push_back(entry.row.row);
      choice.scores.push_back(entry.row.score);
      if (info_.estimates) {
        choice.epistemic.push_back(entry.row.second);
      }
      slots.push_back(entry.slot);
    }
    describe(task_, pick_rows(best_inputs_, task_.model.num_input_columns(), slots), choice);
    return choice;
  }

  // The rows offered last, scored, in their order.
  std::span<const Ranked> scored() const { return scored_; }

 private:
  using Best = TopRows<Ranked, GoesBefore>;

  const AcquisitionInfo& info_;
  const AcquisitionTask& task_;
  std::unique_ptr<RowScorer> scorer_;
  Best best_;
  std::size_t num_rows_ = 0;
  std::vector<Ranked> scored_;       // of the rows offered last
  std::vector<double> best_inputs_;  // [batch][C], by slot
};

// Rows that are scored by themselves are worth the same at each pick.
void repeat_scores(std::span<const Ranked> rows, const Choice& choice, std::vector<double>& utilities) {
  const std::size_t num_rows = rows.size();
  utilities.resize(choice.rows.size() * num_rows);
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    const auto at = utilities.begin() + static_cast<std::ptrdiff_t>(k * num_rows);
    std::ranges::transform(rows, at, &Ranked::score);
    for (std::size_t before = 0; before < k; ++before) {
      at[static_cast<std::ptrdiff_t>(choice.rows[before])] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace

Choice choose(const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates) {
  const std::size_t C = task.model.num_input_columns();
  acquisition.check_model(traits_of(task.model));
  check_finite(task.model, "candidate", candidates, 0);
  check_finite(task.model, "training", task.training.inputs, 0);
  check_finite(task.model, "aim", task.aim, 0);
  check_cost(acquisition, task.cost, candidates.size() / C);
  check(task.batch > 0, "a batch of 0; at least one row must be chosen");
  check_batch(task.batch, candidates.size() / C);
  if (task.utilities != nullptr) {
    task.utilities->clear();
  }
  if (acquisition.streams()) {
    TopChooser chooser(acquisition, task);
    chooser.offer(candidates);
    Choice choice = chooser.finish();
    if (task.utilities != nullptr) {
      repeat_scores(chooser.scored(), choice, *task.utilities);
    }
    return choice;
  }
  Choice choice = acquisition.info().choose(acquisition, task, candidates);
  if (task.utilities != nullptr) {
    const std::size_t num_rows = candidates.size() / C;
    for (std::size_t k = 0; k < choice.rows.size(); ++k) {  // methods compare in less precision than they report
      (*task.utilities)[k * num_rows + choice.rows[k]] = choice.scores[k];
    }
  }
  describe(task, pick_rows(candidates, C, choice.rows), choice);
  return choice;
}

Choice choose_streaming(const Acquisition& acquisition, const AcquisitionTask& task, const RowSource& source) {
  check(acquisition.streams(), "acquisition '{}' needs all candidates at once; it cannot stream", acquisition.text());
  acquisition.check_model(traits_of(task.model));
  check(task.batch > 0, "a batch of 0; at least one row must be chosen");
  const std::size_t C = task.model.num_input_columns();
  TopChooser chooser(acquisition, task);
  std::vector<double> block(kReadRows * C);
  std::size_t first_row = 0;
  while (const std::size_t count = source(block)) {
    const std::span<const double> rows = std::span(block).first(count * C);
    check_finite(task.model, "candidate", rows, first_row);
    chooser.offer(rows);
    first_row += count;
  }
  return chooser.finish();
}

std::vector<std::size_t> draw_candidates(std::size_t pool_size, std::size_t count, const Stream& stream) {
  std::vector<std::size_t> rows;
  if (count == 0 || count >= pool_size) {
    rows.resize(pool_size);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
  }
  // Floyd's sampling: each new number is uniform below k, and k itself where that is taken already.
  Stream draw = stream.substream(kCandidateDraw);
  std::unordered_set<std::size_t> taken;
  for (std::size_t k = pool_size - count; k < pool_size; ++k) {
    const std::size_t row = draw.below(k + 1);
    taken.insert(taken.contains(row) ? k : row);
  }
  rows.assign(taken.begin(), taken.end());
  std::ranges::sort(rows);
  return rows;
}

}  // namespace dissent
