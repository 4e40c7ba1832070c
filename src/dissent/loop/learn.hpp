// The steps of a campaign, and the loop that runs them: Algorithm 1 of the paper.
//
// Each round fits a fresh model to every labelled row, measures it on the test rows, and asks it which rows of the pool
// are worth a label; an oracle labels them. Candidates are drawn uniformly from the rows left. After the last round one
// more model is fitted to all labels and measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "dissent/base/executor.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/loop/campaign_store.hpp"
#include "dissent/loop/oracle.hpp"

namespace dissent {

// InputError for finite labels [n][D] of pool rows that no fit could compute with: without a logarithm, if the campaign
// takes logarithms of all; too far from the campaign's labels; or too large to scale with them. `campaign` is as it was
// before it took them.
void check_labels(const Campaign& campaign, const Problem& data, std::span<const std::size_t> rows,
                  std::span<const double> targets);
// Likewise for rows that are not in the pool, with their inputs.
void check_extra(const Campaign& campaign, const Problem& data, const ExtraRows& extra);

// The seed of a round's fit. Rounds count from 1; 0 is for a fit outside the rounds.
std::uint64_t fit_seed(std::uint64_t seed, std::size_t round);

// The stream that a round draws from when it chooses.
Stream choice_stream(std::uint64_t seed, std::size_t round);

// The step that fits. A round's fit draws from a seed made of (seed, round), so the models of two rounds share nothing.
// InputError, which names the data, for rows that cannot be fitted or measured on.
struct FittedRound {
  Ensemble model;
  RoundRecord record;  // of the round to come, which has not chosen yet
  FitReport report;
};
FittedRound fit_round(const Campaign& campaign, const Problem& data, const FitControl& control = {});

// Makes it the campaign's present model.
void take_model(Campaign& campaign, const FittedRound& fitted);

// The step that chooses: at most `count` rows, fewer if the pool ends; they become pending, and the round is recorded.
// `model` is the one that campaign.fitted describes. InputError if no row is left, or if a row of the pool that
// is not left out, or a row of the aim, has an input that is too far from those of the fit to compute with.
const RoundRecord& choose_rows(Campaign& campaign, const Problem& data, const Ensemble& model, std::size_t count,
                               Executor* executor = nullptr, ScoreDevice* device = nullptr);

struct LearnControl {
  Executor* executor = nullptr;
  FitDevice* device = nullptr;                       // that trains networks; null: this processor
  ScoreDevice* scores = nullptr;                     // that helps to choose; null: this processor
  std::function<void(const FitProgress&)> fitting;   // during a fit
  std::function<void(const FitReport&)> fitted;      // after each fit
  std::function<void(const RoundRecord&)> finished;  // after each round
  std::function<bool()> stop;                        // asked between steps
  // Measures a round's model on a thread of its own while rows are chosen and the next model is fitted: for fits on a
  // device, which leave this processor idle. Nothing is saved until the metrics are there, so only the end of a round
  // may be, and `finished` comes during the next fit: for stores that save once a round. Results are the same. If
  // measuring fails, its error ends the run, the round is not saved, and the campaign in memory is of no further use.
  bool measure_beside = false;
};

enum class LearnEnd {
  kRoundsDone,
  kPoolEmpty,    // every row was chosen
  kNoneAllowed,  // rows are left, but none that may be chosen
  kStopped
};

// Runs the campaign from where it stands through round `num_rounds`, saving after each step. It ends with a model of
// all labels, campaign.fitted; a later call for more rounds continues from it. If the oracle fails, its InputError ends
// the run; the rows it was asked for stay pending. However it ends, metrics on their way are waited for and saved.
LearnEnd learn(CampaignStore& store, Campaign& campaign, const Problem& data, Oracle& oracle, std::size_t num_rounds,
               const LearnControl& control = {});

}  // namespace dissent
