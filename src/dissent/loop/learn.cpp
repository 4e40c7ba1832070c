#include "dissent/loop/learn.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::uint64_t fit_seed(std::uint64_t seed, std::size_t round) { return Stream(seed, Purpose::kRound, round).bits(); }

std::string source_of(const ProblemRows& rows, const char* otherwise) {
  return rows.source.empty() ? otherwise : rows.source;
}

// What a round reports, and no more: the other metrics of `evaluate` take longer than a fit.
void measure(const Ensemble& model, const ProblemRows& test, Executor* executor, FitRecord& record) {
  if (test.num_rows == 0) {
    record.rmse = record.rmse_paper = record.log_likelihood = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  model.check_rows(test.inputs, source_of(test, "the test rows"));
  const std::vector<double> log_density = model.log_density(test.inputs, test.targets, executor);
  record.log_likelihood =
      std::accumulate(log_density.begin(), log_density.end(), 0.0) / static_cast<double>(test.num_rows);
  const std::vector<double> mean = predictive_mean(model, test.inputs, executor);
  record.rmse = rmse(mean, test.targets);
  record.rmse_paper = rmse_paper(mean, test.targets, model.num_outputs());
}

// False, with the rows still pending, when the oracle was stopped.
bool label_pending(Campaign& campaign, const Problem& data, const LearnOptions& options, Oracle& oracle) {
  const std::vector<std::size_t> positions = pending(campaign);
  std::vector<std::size_t> rows;
  for (const std::size_t position : positions) {
    rows.push_back(campaign.chosen[position].row);
  }
  const std::optional<std::vector<double>> targets = oracle.label(data, rows);
  if (!targets) {
    return false;
  }
  check_labels(campaign, data, options.ensemble.scaling, rows, *targets);
  const std::size_t D = campaign.num_targets;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    tell(campaign, positions[k], std::span(*targets).subspan(k * D, D));
  }
  return true;
}

std::size_t parse_count(const std::string& name, const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size() && value >= 1, "{}: '{}' is not a whole number >= 1",
        name, text);
  return value;
}

}  // namespace

std::size_t parse_candidates(const std::string& text) {
  return text.empty() ? 0 : text == "all" ? kAllCandidates : parse_count("--candidates", text);
}

std::string candidates_text(const std::string& text) {
  const std::size_t candidates = parse_candidates(text);
  return candidates == kAllCandidates ? "all" : std::to_string(candidates);
}

void check_candidates(std::size_t candidates, std::size_t batch) {
  check(candidates == 0 || candidates >= batch,
        "--candidates: {} to choose among {} fewer than the batch of {}; give at least as many, or 'all'",
        counted(candidates, "row"), candidates == 1 ? "is" : "are", batch);
}

LearnOptions learn_options(const Settings& settings) {
  const FitSettings fit = fit_settings(settings);
  LearnOptions options;
  for (const auto& [name, value] : settings) {
    if (name == "--acquisition") {
      options.acquisition = Acquisition::parse(value);
    } else if (name == "--batch") {
      options.batch = parse_count(name, value);
    } else if (name == "--candidates") {
      options.candidates = parse_candidates(value);
    }
  }
  options.ensemble = fit.ensemble();
  options.acquisition.check_components(options.ensemble.num_components);
  options.train = fit.train();
  return options;
}

void fail_fit(const std::string& source, const InputError& error) {
  const std::string_view message = error.what();
  fail("{}: {}", source, message.starts_with("fit: ") ? message.substr(5) : message);
}

void check_labels(const Campaign& campaign, const Problem& data, ScalingKind kind, std::span<const std::size_t> rows,
                  std::span<const double> targets) {
  const std::size_t D = data.target_names.size();
  std::vector<double> all = labelled_rows(campaign, data).targets;
  const Scaling scaling = fit_scaling(kind, all, D);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    check(std::abs(scaling.scaled(k % D, targets[k])) <= kFarthestInput,
          "row {} of {}: its label '{}' is {}; it is too far from the labels there are to compute with", rows[k / D],
          source_of(data.pool, "the pool"), data.target_names[k % D], targets[k]);
  }
  all.insert(all.end(), targets.begin(), targets.end());
  try {
    fit_scaling(kind, all, D);
  } catch (const InputError&) {
    fail("the labels of {} are too large to scale beside those there are", counted(rows.size(), "row"));
  }
}

FittedRound fit_round(const Campaign& campaign, const Problem& data, const LearnOptions& options,
                      const FitControl& control) {
  const Clock::time_point start = Clock::now();
  const ProblemRows rows = labelled_rows(campaign, data);
  EnsembleOptions ensemble = options.ensemble;
  ensemble.seed = fit_seed(options.ensemble.seed, campaign.next_round());
  FittedRound result = [&]() -> FittedRound {
    try {
      FitResult fitted =
          fit(ensemble, options.train, {data.input_names, data.target_names, rows.inputs, rows.targets}, control);
      return {std::move(fitted.model), {}, std::move(fitted.report)};
    } catch (const InputError& error) {
      fail_fit(data.name, error);
    }
  }();
  FitRecord& record = result.record;
  record.labelled = rows.num_rows;
  measure(result.model, data.test, control.executor, record);
  record.fingerprint = fingerprint(std::as_const(result.model).parameters());
  record.seconds = seconds_since(start);
  return result;
}

const RoundRecord& choose_rows(Campaign& campaign, const Problem& data, const LearnOptions& options,
                               const Ensemble& model, std::size_t count, Executor* executor) {
  check(campaign.fitted.has_value(), "choose_rows: the campaign has no fitted model");
  const Clock::time_point start = Clock::now();
  const std::size_t round = campaign.next_round();
  const std::vector<std::size_t> open = open_rows(campaign, data);
  check(!open.empty(), "no row of the pool is left");
  const std::size_t batch = std::min(count, open.size());
  const std::size_t wanted =
      options.candidates > 0 ? options.candidates : options.acquisition.default_candidates(data.target_names.size());
  const Stream stream(options.ensemble.seed, Purpose::kAcquire, round);
  std::vector<std::size_t> candidates = draw_candidates(open.size(), wanted == 0 ? 0 : std::max(wanted, batch), stream);
  for (std::size_t& candidate : candidates) {
    candidate = open[candidate];
  }
  // All of it, so that a bad row is told before anybody labels others, not in the round that draws it.
  model.check_rows(data.pool.inputs, source_of(data.pool, "the pool"));
  const std::vector<double> inputs = pick_rows(data.pool.inputs, data.input_names.size(), candidates);
  const ProblemRows training = labelled_rows(campaign, data);
  const Choice choice = choose(options.acquisition,
                               {.model = model,
                                .training = {training.inputs, training.targets},
                                .batch = batch,
                                .stream = stream,
                                .executor = executor},
                               inputs);
  for (std::size_t k = 0; k < choice.rows.size(); ++k) {
    campaign.chosen.push_back(
        {candidates[choice.rows[k]], round, choice.scores[k], choice.epistemic[k], choice.aleatoric[k], {}});
  }
  const double mean = std::accumulate(choice.epistemic.begin(), choice.epistemic.end(), 0.0) /
                      static_cast<double>(choice.epistemic.size());
  campaign.rounds.push_back({round, *campaign.fitted, mean, seconds_since(start)});
  return campaign.rounds.back();
}

LearnEnd learn(CampaignDirectory& directory, Campaign& campaign, const Problem& data, const LearnOptions& options,
               Oracle& oracle, std::size_t num_rounds, const LearnControl& control) {
  std::optional<Ensemble> model;
  // From the step before, or, where that was in another process, from the directory.
  const auto has_model = [&] {
    if (campaign.fitted && !model) {
      model = directory.load_model(*campaign.fitted);
    }
    return model.has_value();
  };
  while (true) {
    if (control.stop && control.stop()) {
      return LearnEnd::kStopped;
    }
    if (campaign.num_pending() > 0) {
      if (!label_pending(campaign, data, options, oracle)) {
        return LearnEnd::kStopped;
      }
      directory.save(campaign);
      directory.write_tables(campaign, data);
      model.reset();
      if (control.finished) {
        control.finished(campaign.rounds.back());
      }
    } else if (campaign.rounds.size() >= num_rounds) {
      return LearnEnd::kRoundsDone;
    } else if (campaign.chosen.size() == data.pool.num_rows) {
      return LearnEnd::kPoolEmpty;
    } else if (!has_model()) {
      const auto fitting = [&](const FitProgress& progress) {
        if (control.fitting) {
          control.fitting(progress);
        }
        return true;
      };
      FittedRound fitted = fit_round(campaign, data, options, {control.executor, fitting});
      model = std::move(fitted.model);
      campaign.fitted = fitted.record;
      if (control.fitted) {
        control.fitted(fitted.report);
      }
      directory.save_model(*model);
      directory.save(campaign);
    } else {
      choose_rows(campaign, data, options, *model, options.batch, control.executor);
      directory.save(campaign);
    }
  }
}

}  // namespace dissent
