#include "dissent/loop/learn.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/process_model.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string source_of(const ProblemRows& rows, const char* otherwise) {
  return rows.source.empty() ? otherwise : rows.source;
}

// If the kind of model is left open, it is chosen in the first round, and again each time the rows have doubled since.
Model model_to_fit(const Campaign& campaign, std::size_t num_rows) {
  const Model given = campaign.settings.fit.ensemble.model;
  if (given != Model::kAuto || !campaign.settled || num_rows >= 2 * campaign.settled->num_rows) {
    return given;
  }
  const Model settled = campaign.settled->model;
  const bool suits = model_kind(settled).has_network || (can_be_process(num_rows, campaign.num_targets) &&
                                                         !campaign.settings.acquisition.info().needs_network);
  return suits ? settled : given;
}

// What a round reports of its model; NaN without test rows.
struct RoundMetrics {
  double rmse = kNan;
  double rmse_paper = kNan;
  double log_likelihood = kNan;
  double seconds = 0;
};

// Measures only what a round reports: the other metrics of `evaluate` take longer than a fit. The test rows are those
// that fit_unmeasured() has checked.
RoundMetrics measure(const Ensemble& model, const ProblemRows& test, Executor* executor) {
  RoundMetrics metrics;
  if (test.num_rows == 0) {
    return metrics;
  }
  const Clock::time_point start = Clock::now();
  // The source is named here: beside a fit, the error passes through that, which would name its own.
  const std::vector<double> log_density = in_source(
      source_of(test, "the test rows"), [&] { return model.log_density(test.inputs, test.targets, executor); });
  metrics.log_likelihood =
      std::accumulate(log_density.begin(), log_density.end(), 0.0) / static_cast<double>(test.num_rows);
  const std::vector<double> mean = predictive_mean(model, test.inputs, executor);
  metrics.rmse = rmse(mean, test.targets);
  metrics.rmse_paper = rmse_paper(mean, test.targets, model.num_outputs());
  metrics.seconds = seconds_since(start);
  return metrics;
}

void add_metrics(RoundRecord& record, const RoundMetrics& metrics) {
  record.rmse = metrics.rmse;
  record.rmse_paper = metrics.rmse_paper;
  record.log_likelihood = metrics.log_likelihood;
  record.fit_seconds += metrics.seconds;
}

std::vector<std::size_t> pending_rows(const Campaign& campaign) {
  std::vector<std::size_t> rows;
  for (const std::size_t position : pending(campaign)) {
    rows.push_back(campaign.chosen[position].row);
  }
  return rows;
}

// Checks all rows that may be chosen, so that a bad row is reported before anybody labels others, not in the round that
// draws it.
void check_rows_of(const Problem& data, const Ensemble& model, std::vector<std::size_t> open,
                   const std::vector<std::size_t>& waiting) {
  if (data.left_out.empty()) {
    model.check_rows(data.pool.inputs, source_of(data.pool, "the pool"));
  } else {
    open.insert(open.end(), waiting.begin(), waiting.end());
    model.check_rows(pick_rows(data.pool.inputs, data.input_names.size(), open), source_of(data.pool, "the pool"),
                     [&](std::size_t k) { return open[k]; });
  }
  if (!data.aim.inputs.empty()) {
    model.check_rows(data.aim.inputs, source_of(data.aim, "the aim"));
  }
}

// NaN if the problem does not know.
double expert_share(const Problem& data, std::span<const ChosenRow> chosen) {
  if (data.from_expert.empty()) {
    return kNan;
  }
  const auto count =
      std::ranges::count_if(chosen, [&](const ChosenRow& row) { return data.from_expert[row.row] != 0; });
  return static_cast<double>(count) / static_cast<double>(chosen.size());
}

// False, with the rows still pending, when the oracle was stopped.
bool label_pending(Campaign& campaign, const Problem& data, Oracle& oracle) {
  const std::vector<std::size_t> positions = pending(campaign);
  const std::vector<std::size_t> rows = pending_rows(campaign);
  const std::optional<std::vector<double>> targets = oracle.label(data, rows);
  if (!targets) {
    return false;
  }
  check_labels(campaign, data, rows, *targets);
  const std::size_t D = campaign.num_targets;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    tell(campaign, positions[k], std::span(*targets).subspan(k * D, D));
  }
  return true;
}

}  // namespace

std::uint64_t fit_seed(std::uint64_t seed, std::size_t round) { return Stream(seed, Purpose::kRound, round).bits(); }

Stream choice_stream(std::uint64_t seed, std::size_t round) { return {seed, Purpose::kAcquire, round}; }

namespace {

// Checks labels [n][D] of rows; `name` names a row.
template <class Name>
void check_named_labels(const Campaign& campaign, const Problem& data, std::span<const double> targets,
                        const Name& name) {
  const ScalingKind kind = target_scaling_kind(campaign.settings.fit.ensemble.scaling);
  const std::size_t D = data.target_names.size();
  std::vector<double> all = labelled_rows(campaign, data).targets;
  const Scaling scaling = fit_scaling(kind, all, D);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    check(campaign.settings.fit.ensemble.log_targets != LogTargets::kAll || targets[k] > 0,
          "{}: its label '{}' is {}; it has no logarithm, and the campaign was begun with logarithms of all",
          name(k / D), data.target_names[k % D], targets[k]);
    check(std::abs(scaling.scaled(k % D, targets[k])) <= kFarthestInput,
          "{}: its label '{}' is {}; it is too far from the labels there are to compute with", name(k / D),
          data.target_names[k % D], targets[k]);
  }
  all.insert(all.end(), targets.begin(), targets.end());
  try {
    fit_scaling(kind, all, D);
  } catch (const InputError&) {
    fail("the labels of {} are too large to scale beside those there are", counted(targets.size() / D, "row"));
  }
}

}  // namespace

void check_labels(const Campaign& campaign, const Problem& data, std::span<const std::size_t> rows,
                  std::span<const double> targets) {
  check_named_labels(campaign, data, targets, [&](std::size_t k) {
    return fmt::format("row {} of {}", rows[k], source_of(data.pool, "the pool"));
  });
}

void check_extra(const Campaign& campaign, const Problem& data, const ExtraRows& extra) {
  check_named_labels(campaign, data, extra.targets,
                     [](std::size_t k) { return fmt::format("row {} of those that are not of the pool", k + 1); });
  const std::size_t C = data.input_names.size();
  const Scaling scaling = fit_scaling(campaign.settings.fit.ensemble.scaling, labelled_rows(campaign, data).inputs, C);
  for (std::size_t k = 0; k < extra.inputs.size(); ++k) {
    check(std::abs((extra.inputs[k] - scaling.offset[k % C]) / scaling.scale[k % C]) <= kFarthestInput,
          "row {} of those that are not of the pool: '{}' is {}; it is too far from the labelled rows to compute with",
          k / C + 1, data.input_names[k % C], extra.inputs[k]);
  }
}

namespace {

// Everything of fit_round() but the metrics, which are NaN. The test rows are checked already.
FittedRound fit_unmeasured(const Campaign& campaign, const Problem& data, const FitControl& control) {
  const Clock::time_point start = Clock::now();
  const ProblemRows rows = labelled_rows(campaign, data);
  const FitOptions& options = campaign.settings.fit;
  EnsembleOptions ensemble = options.ensemble;
  // A lost model is fitted again for the round that first fitted it, although rows may have been chosen since.
  const std::size_t round = campaign.fitted ? campaign.fitted->round : campaign.next_round();
  ensemble.seed = fit_seed(options.ensemble.seed, round);
  ensemble.model = model_to_fit(campaign, rows.num_rows);
  FitControl own = control;
  own.networks_only = campaign.settings.acquisition.info().needs_network;
  own.warn = control.warn && rows.num_rows == data.train.num_rows;  // once, with the row numbers of the user's table
  FitResult fitted = in_source(data.name, [&] {
    return fit(ensemble, options.train,
               {.input_names = data.input_names,
                .target_names = data.target_names,
                .inputs = rows.inputs,
                .targets = rows.targets,
                .encoding = data.encoding},
               own);
  });
  FittedRound result{std::move(fitted.model), {}, std::move(fitted.report)};
  RoundRecord& record = result.record;
  record.round = round;
  record.labelled = rows.num_rows;
  add_metrics(record, {});
  if (data.test.num_rows > 0) {
    result.model.check_rows(data.test.inputs, source_of(data.test, "the test rows"));
  }
  record.fit_seconds = seconds_since(start);
  return result;
}

}  // namespace

FittedRound fit_round(const Campaign& campaign, const Problem& data, const FitControl& control) {
  FittedRound result = fit_unmeasured(campaign, data, control);
  add_metrics(result.record, measure(result.model, data.test, control.executor));
  return result;
}

void take_model(Campaign& campaign, const FittedRound& fitted) {
  campaign.fitted = fitted.record;
  campaign.model_fingerprint = fingerprint(std::as_const(fitted.model).parameters());
  if (!fitted.report.choice.empty()) {
    campaign.settled = {fitted.model.options().model, fitted.record.labelled};
  }
}

const RoundRecord& choose_rows(Campaign& campaign, const Problem& data, const Ensemble& model, std::size_t count,
                               Executor* executor, ScoreDevice* device) {
  check(campaign.fitted.has_value(), "choose_rows: the campaign has no fitted model");
  const Clock::time_point start = Clock::now();
  const std::size_t round = campaign.next_round();
  const std::vector<std::size_t> open = open_rows(campaign, data);
  check(!open.empty(), "no row of the pool is left");
  const std::size_t batch = std::min(count, open.size());
  const CampaignSettings& settings = campaign.settings;
  const std::size_t wanted =
      num_candidates(settings.candidates, settings.acquisition, data.target_names.size(), open.size());
  const Stream stream = choice_stream(settings.fit.ensemble.seed, round);
  const std::vector<std::size_t> candidates = draw_candidates(
      settings.candidates, std::max(wanted, batch), open.size(), [&](std::size_t k) { return open[k]; }, stream);
  const std::vector<std::size_t> waiting = pending_rows(campaign);
  check_rows_of(data, model, open, waiting);
  const std::vector<double> inputs = pick_rows(data.pool.inputs, data.input_names.size(), candidates);
  const std::vector<double> on_their_way = pick_rows(data.pool.inputs, data.input_names.size(), waiting);
  const std::vector<double> cost = data.cost.empty() ? data.cost : pick_rows(data.cost, 1, candidates);
  const ProblemRows training = labelled_rows(campaign, data);
  const Choice choice = choose(settings.acquisition,
                               {.model = model,
                                .training = {training.inputs, training.targets},
                                .batch = batch,
                                .stream = stream,
                                .executor = executor,
                                .ranking = settings.ranking,
                                .aim = data.aim.inputs,
                                .pending = on_their_way,
                                .cost = cost,
                                .device = device},
                               inputs);
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    campaign.chosen.push_back(
        {candidates[choice.rows[k]], round, choice.scores[k], choice.epistemic[k], choice.aleatoric[k], {}});
  }
  const double mean = std::accumulate(choice.epistemic.begin(), choice.epistemic.end(), 0.0) /
                      static_cast<double>(choice.epistemic.size());
  RoundRecord& record = campaign.rounds.emplace_back(*campaign.fitted);
  record.round = round;
  record.chosen_epistemic = mean;
  record.score_seconds = seconds_since(start);
  record.scoring_seconds = choice.seconds;
  record.expert_share = expert_share(data, std::span(campaign.chosen).last(choice.rows.size()));
  return record;
}

namespace {

class Learning {
 public:
  Learning(CampaignStore& store, Campaign& campaign, const Problem& data, Oracle& oracle, const LearnControl& control)
      : store_(store), campaign_(campaign), data_(data), oracle_(oracle), control_(control) {}

  // Runs steps until there is none, and returns why.
  LearnEnd run(std::size_t num_rounds) {
    try {
      std::optional<LearnEnd> end;
      while (!end) {
        if (is_measured()) {
          finish_measuring();
        }
        end = step(num_rounds);
      }
      finish_measuring();
      return *end;
    } catch (...) {
      keep_steps_done();
      throw;
    }
  }

 private:
  // Runs the next step, or returns why there is none.
  std::optional<LearnEnd> step(std::size_t num_rounds) {
    if (control_.stop && control_.stop()) {
      return LearnEnd::kStopped;
    }
    if (campaign_.num_pending() > 0) {
      return label() ? std::nullopt : std::optional(LearnEnd::kStopped);
    }
    if (!has_model()) {
      fit();
      return std::nullopt;
    }
    if (campaign_.rounds.size() >= num_rounds) {
      return LearnEnd::kRoundsDone;
    }
    if (open_rows(campaign_, data_).empty()) {
      return num_left(campaign_, data_) == 0 ? LearnEnd::kPoolEmpty : LearnEnd::kNoneAllowed;
    }
    choose();
    return std::nullopt;
  }

  bool label() {
    if (!label_pending(campaign_, data_, oracle_)) {
      return false;
    }
    model_.reset();
    if (!measuring_.valid()) {
      end_round();
    }
    return true;
  }

  // The round has its labels and its metrics.
  void end_round() {
    store_.save(campaign_);
    store_.write_tables(campaign_, data_);
    if (control_.finished) {
      control_.finished(campaign_.rounds.back());
    }
  }

  // From the step before or, if that was in another process, from the store.
  bool has_model() {
    if (campaign_.fitted && !model_) {
      if (std::optional<Ensemble> model = store_.load_model(campaign_.model_fingerprint)) {
        model_ = std::make_shared<const Ensemble>(std::move(*model));
      }
    }
    return model_ != nullptr;
  }

  void fit() {
    const auto fitting = [&](const FitProgress& progress) {
      if (is_measured()) {  // saved at once, so that a kill during a long fit does not lose the round before
        finish_measuring();
      }
      if (control_.fitting) {
        control_.fitting(progress);
      }
      return true;
    };
    FittedRound fitted = fit_unmeasured(
        campaign_, data_, {.executor = control_.executor, .progress = fitting, .device = control_.device});
    finish_measuring();
    if (!control_.measure_beside) {
      add_metrics(fitted.record, measure(fitted.model, data_.test, control_.executor));
    }
    take_model(campaign_, fitted);
    model_ = std::make_shared<const Ensemble>(std::move(fitted.model));
    if (control_.measure_beside) {
      begin_measuring();
    }
    if (control_.fitted) {
      control_.fitted(fitted.report);
    }
    store_.save_model(*model_);
    save();
  }

  void choose() {
    choose_rows(campaign_, data_, *model_, campaign_.settings.batch, control_.executor, control_.scores);
    if (measuring_.valid()) {
      unmeasured_round_ = campaign_.rounds.size() - 1;
    }
    save();
  }

  // A campaign that lacks metrics is saved when they are there.
  void save() {
    if (!measuring_.valid()) {
      store_.save(campaign_);
    }
  }

  // Measures the present model on a thread of its own, which shares the model with the choice and keeps it until it is
  // done. It has no executor: that runs one loop at a time, and the next steps use it. They come first: the device
  // waits for them, while nobody waits for metrics.
  void begin_measuring() {
    unmeasured_round_.reset();
    try {
      measuring_ = std::async(std::launch::async, [model = model_, &test = data_.test] {
#ifdef __linux__
        constexpr int kNicer = 5;
        [[maybe_unused]] const int niceness = nice(kNicer);  // of this thread alone; elsewhere it is of the process
#endif
        return measure(*model, test, nullptr);
      });
    } catch (const std::system_error&) {  // no thread to be had
      add_metrics(*campaign_.fitted, measure(*model_, data_.test, control_.executor));
    }
  }

  bool is_measured() const {
    return measuring_.valid() && measuring_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  // Waits for the metrics, if any are on their way, and does what was put off until they are there.
  void finish_measuring() {
    if (!measuring_.valid()) {
      return;
    }
    const RoundMetrics metrics = measuring_.get();
    if (campaign_.fitted) {
      add_metrics(*campaign_.fitted, metrics);
    }
    if (unmeasured_round_) {
      add_metrics(campaign_.rounds[*unmeasured_round_], metrics);
    }
    if (campaign_.fitted || campaign_.num_pending() > 0) {
      store_.save(campaign_);
    } else {
      end_round();
    }
  }

  // After an error: nothing done before it is lost.
  void keep_steps_done() noexcept {
    try {
      finish_measuring();
    } catch (...) {  // the first error says more
    }
  }

  CampaignStore& store_;
  Campaign& campaign_;
  const Problem& data_;
  Oracle& oracle_;
  const LearnControl& control_;
  std::shared_ptr<const Ensemble> model_;
  std::future<RoundMetrics> measuring_;          // of the model; its destructor waits for the thread
  std::optional<std::size_t> unmeasured_round_;  // of campaign_.rounds, if that model has chosen
};

}  // namespace

LearnEnd learn(CampaignStore& store, Campaign& campaign, const Problem& data, Oracle& oracle, std::size_t num_rounds,
               const LearnControl& control) {
  const LearnEnd end = Learning(store, campaign, data, oracle, control).run(num_rounds);
  store.write_tables(campaign, data);  // a kill may have come between the state and them
  return end;
}

}  // namespace dissent
