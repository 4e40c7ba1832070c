// choose(), choose_there() and choose_streaming(): they check the request, then run the method from the registry.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/distinct_rows.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/top_chooser.hpp"
#include "dissent/acquisition/uncertainty.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/special.hpp"
#include "dissent/estimator/score_device.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

constexpr std::size_t kReadRows = 8192;  // read from a source at a time

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

ModelTraits traits_of(const Weights& weights, bool has_network) {
  const auto weighted = std::ranges::count_if(weights.value, [](double weight) { return weight > 0; });
  return {static_cast<std::size_t>(weighted), has_network};
}
ModelTraits traits_of(const Ensemble& model) { return traits_of(model.weights(), model.has_networks()); }

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

void check_picks(std::size_t batch) { check(batch > 0, "a batch of 0; at least one row must be chosen"); }

void check_batch(std::size_t batch, std::size_t num_candidates) {
  check_picks(batch);
  check(batch <= num_candidates, "a batch of {} from {} candidates; there must be as many candidates as picks", batch,
        num_candidates);
}

void check_cost(const Acquisition& acquisition, std::span<const double> cost, std::size_t num_candidates) {
  check(cost.empty() || acquisition.info().uses_cost,
        "acquisition '{}' cannot weigh what a label tells against its cost; choose another", acquisition.text());
  check(cost.empty() || cost.size() == num_candidates, "{} costs of {} candidates; each needs one", cost.size(),
        num_candidates);
  for (std::size_t n = 0; n < cost.size(); ++n) {
    check(std::isfinite(cost[n]) && cost[n] > 0, "candidate {}: its cost is {}; a cost must be finite and > 0", n,
          cost[n]);
  }
}

void check_there(const Acquisition& acquisition) {
  if (acquisition.info().choose_there != nullptr) {
    return;
  }
  std::vector<std::string> able;
  for (const AcquisitionInfo& info : acquisitions()) {
    if (info.choose_there != nullptr) {
      able.push_back(info.typed_name());
    }
  }
  fail("acquisition '{}' cannot choose rows on a card; name one that can ({}), or bring the arrays to the host",
       acquisition.text(), fmt::join(able, ", "));
}

// Fills what `choice` still lacks: epistemic by kl, and aleatoric if the task asks for it. `inputs`: [B][C], of the
// chosen rows.
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

// Spreads utilities [B][kinds] over all N rows: each row gets that of its kind, NaN once that is taken.
void spread_utilities(const DistinctRows& distinct, std::vector<double>& utilities) {
  const std::size_t kinds = distinct.rows.size();
  const std::size_t num_rows = distinct.position.size();
  std::vector<double> spread;
  for (std::size_t begin = 0; begin < utilities.size(); begin += kinds) {
    for (std::size_t n = 0; n < num_rows; ++n) {
      spread.push_back(utilities[begin + distinct.position[n]]);
    }
  }
  utilities = std::move(spread);
}

// Chooses among distinct rows, with a method that weighs rows against each other; at most as many as are distinct.
Choice choose_together(const Acquisition& acquisition, AcquisitionTask task, std::span<const double> candidates) {
  const std::size_t C = task.model.num_input_columns();
  const DistinctRows distinct = distinct_rows(candidates, C, task.cost, task.stream);
  if (distinct.rows.size() == candidates.size() / C) {
    return acquisition.info().choose(acquisition, task, candidates);
  }
  task.batch = std::min(task.batch, distinct.rows.size());
  const std::vector<double> cost = task.cost.empty() ? std::vector<double>() : pick_rows(task.cost, 1, distinct.rows);
  task.cost = cost;
  Choice choice = acquisition.info().choose(acquisition, task, pick_rows(candidates, C, distinct.rows));
  for (std::size_t& row : choice.rows) {
    row = distinct.rows[row];
  }
  if (task.utilities != nullptr) {
    spread_utilities(distinct, *task.utilities);
  }
  return choice;
}

Choice choose_alone(const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates) {
  TopChooser chooser(acquisition, task);
  chooser.offer(candidates);
  Choice choice = chooser.finish();
  if (task.utilities != nullptr) {
    repeat_scores(chooser.scored(), choice, *task.utilities);
  }
  return choice;
}

// Adds the picks of a choice among the rows `left`, and what each row was worth then.
void append(const Choice& more, std::span<const std::size_t> left, std::span<const double> of_left,
            std::size_t num_rows, std::vector<double>* utilities, Choice& choice) {
  for (const std::size_t row : more.rows) {
    choice.rows.push_back(left[row]);
  }
  choice.scores.insert(choice.scores.end(), more.scores.begin(), more.scores.end());
  choice.epistemic.insert(choice.epistemic.end(), more.epistemic.begin(), more.epistemic.end());
  for (std::size_t begin = 0; begin < of_left.size(); begin += left.size()) {
    const std::size_t at = utilities->size();
    utilities->resize(at + num_rows, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t k = 0; k < left.size(); ++k) {
      (*utilities)[at + left[k]] = of_left[begin + k];
    }
  }
}

// Chooses the batch with a method that weighs rows against each other. No two of its rows are equal unless too few
// differ. Then it chooses from the rows left in the same way, with the earlier picks as pending rows.
Choice choose_batch(const Acquisition& acquisition, AcquisitionTask task, std::span<const double> candidates) {
  const std::size_t C = task.model.num_input_columns();
  const std::size_t num_rows = candidates.size() / C;
  std::vector<double>* const utilities = task.utilities;
  const std::span<const double> cost = task.cost;
  const std::span<const double> pending = task.pending;
  const std::size_t batch = task.batch;
  Choice choice = choose_together(acquisition, task, candidates);
  std::vector<char> taken(num_rows, 0);
  while (choice.rows.size() < batch) {
    for (const std::size_t row : choice.rows) {
      taken[row] = 1;
    }
    std::vector<std::size_t> left;
    for (std::size_t n = 0; n < num_rows; ++n) {
      if (taken[n] == 0) {
        left.push_back(n);
      }
    }
    task.batch = batch - choice.rows.size();
    std::vector<double> known = pick_rows(candidates, C, choice.rows);
    known.insert(known.end(), pending.begin(), pending.end());
    task.pending = known;
    const std::vector<double> cost_left = cost.empty() ? std::vector<double>() : pick_rows(cost, 1, left);
    task.cost = cost_left;
    std::vector<double> of_left;
    task.utilities = utilities == nullptr ? nullptr : &of_left;
    append(choose_together(acquisition, task, pick_rows(candidates, C, left)), left, of_left, num_rows, utilities,
           choice);
  }
  return choice;
}

}  // namespace

Choice choose(const Acquisition& acquisition, const AcquisitionTask& task, std::span<const double> candidates) {
  const std::size_t C = task.model.num_input_columns();
  acquisition.check_model(traits_of(task.model));
  check_finite(task.model, "candidate", candidates, 0);
  check_finite(task.model, "training", task.training.inputs, 0);
  check_finite(task.model, "aim", task.aim, 0);
  check_finite(task.model, "pending", task.pending, 0);
  check(task.aim.empty() || acquisition.info().uses_aim, "acquisition '{}' does not look at an aim; choose another",
        acquisition.text());
  check_cost(acquisition, task.cost, candidates.size() / C);
  check_batch(task.batch, candidates.size() / C);
  if (task.utilities != nullptr) {
    task.utilities->clear();
  }
  const Clock::time_point start = Clock::now();
  Choice choice =
      acquisition.streams() ? choose_alone(acquisition, task, candidates) : choose_batch(acquisition, task, candidates);
  choice.seconds = seconds_since(start);
  if (task.utilities != nullptr) {
    const std::size_t num_rows = candidates.size() / C;
    for (std::size_t k = 0; k < choice.rows.size(); ++k) {  // methods compare in lower precision than they report
      (*task.utilities)[k * num_rows + choice.rows[k]] = choice.scores[k];
    }
  }
  describe(task, pick_rows(candidates, C, choice.rows), choice);
  return choice;
}

Choice choose_there(const Acquisition& acquisition, const PoolTask& task) {
  check_there(acquisition);
  acquisition.check_model(traits_of(task.pool.weights(), false));
  check_batch(task.batch, task.pool.num_rows());
  const Clock::time_point start = Clock::now();
  Choice choice = acquisition.info().choose_there(acquisition, task);
  choice.seconds = seconds_since(start);
  return choice;
}

Choice choose_streaming(const Acquisition& acquisition, const AcquisitionTask& task, const RowSource& source) {
  check(acquisition.streams(), "acquisition '{}' needs all candidates at once; it cannot stream", acquisition.text());
  check(task.cost.empty(), "costs are those of candidates that are there at once; rows that stream have none");
  acquisition.check_model(traits_of(task.model));
  check_picks(task.batch);
  const std::size_t C = task.model.num_input_columns();
  TopChooser chooser(acquisition, task);
  std::vector<double> block(kReadRows * C);
  double seconds = 0;
  while (const std::size_t count = source(block)) {
    const std::span<const double> rows = std::span(block).first(count * C);
    check_finite(task.model, "candidate", rows, chooser.num_rows());
    const Clock::time_point start = Clock::now();
    chooser.offer(rows);
    seconds += seconds_since(start);
  }
  check_batch(task.batch, chooser.num_rows());
  Choice choice = chooser.finish();
  choice.seconds = seconds;
  describe(task, chooser.inputs(), choice);
  return choice;
}

std::vector<std::size_t> draw_candidates(std::size_t pool_size, std::size_t count, const Stream& stream) {
  std::vector<std::size_t> rows;
  if (count == 0 || count >= pool_size) {
    rows.resize(pool_size);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
  }
  // Floyd's sampling: each new number is uniform in [0, k], or k itself if that one is taken already.
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

std::vector<std::size_t> draw_nested(std::span<const std::size_t> rows, std::size_t count, const Stream& stream) {
  if (count >= rows.size()) {
    return {rows.begin(), rows.end()};
  }
  const Stream draws(stream.substream(kCandidateDraw).bits(), Purpose::kAcquire);
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  drawn.reserve(rows.size());
  for (const std::size_t row : rows) {
    drawn.emplace_back(draws.substream(row).bits(), row);
  }
  std::ranges::nth_element(drawn, drawn.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::size_t> first;
  for (const auto& [draw, row] : std::span(drawn).first(count)) {
    first.push_back(row);
  }
  std::ranges::sort(first);
  return first;
}

}  // namespace dissent
