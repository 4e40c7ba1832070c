// The steps of a campaign, and the loop that runs them: Algorithm 1 of the paper.
//
// Each round a model begins anew and is fitted to every labelled row, measured on the test rows, and asked which rows
// of the pool are worth a label; an oracle gives it. Candidates are drawn uniformly from the rows left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/oracle.hpp"

namespace dissent {

struct LearnOptions {
  EnsembleOptions ensemble = {};  // its seed is that of the campaign
  TrainOptions train = {};
  Acquisition acquisition = Acquisition::parse("kl");
  std::size_t batch = 10;
  std::size_t candidates = 0;  // drawn from the pool each round; 0: as many as suit the method
};

inline constexpr std::size_t kAllCandidates = std::numeric_limits<std::size_t>::max();

// "all", or a whole number >= 1; empty is 0, what suits the method.
std::size_t parse_candidates(const std::string& text);
std::string candidates_text(const std::string& text);  // the same, as settings keep it: "0100" is "100"

// InputError when there are fewer candidates than rows to choose.
void check_candidates(std::size_t candidates, std::size_t batch);

// What a campaign's settings stand for: --acquisition, --batch, --candidates and the options of FitSettings; others are
// left alone. InputError for values that cannot be.
LearnOptions learn_options(const Settings& settings);

// The InputError of a fit, with the source of its rows in place of the function's name.
[[noreturn]] void fail_fit(const std::string& source, const InputError& error);

// InputError for finite labels [n][D] of pool rows that no fit could compute with beside those there are: too far from
// them, or too large to scale. To be asked before they are taken.
void check_labels(const Campaign& campaign, const Problem& data, ScalingKind kind, std::span<const std::size_t> rows,
                  std::span<const double> targets);

// The step that fits. A round's fit draws from a seed made of (seed, round), so the models of two rounds share nothing.
// InputError, which names the data, for rows that cannot be fitted or measured on.
struct FittedRound {
  Ensemble model;
  FitRecord record;
  FitReport report;
};
FittedRound fit_round(const Campaign& campaign, const Problem& data, const LearnOptions& options,
                      const FitControl& control = {});

// The step that chooses: at most `count` rows, fewer when the pool ends; they become pending, and the round is
// recorded. `model` is the one that campaign.fitted describes. InputError when no row is left, or any of the pool has
// an input that is too far from those of the fit to compute with.
const RoundRecord& choose_rows(Campaign& campaign, const Problem& data, const LearnOptions& options,
                               const Ensemble& model, std::size_t count, Executor* executor = nullptr);

struct LearnControl {
  Executor* executor = nullptr;
  std::function<void(const FitProgress&)> fitting;   // during a fit
  std::function<void(const FitReport&)> fitted;      // after each fit
  std::function<void(const RoundRecord&)> finished;  // after each round
  std::function<bool()> stop;                        // asked between steps
};

enum class LearnEnd { kRoundsDone, kPoolEmpty, kStopped };

// Runs the campaign in `directory` up to and with round `num_rounds`, from wherever it stands, saving after each step.
// An oracle that fails ends it with its InputError; the rows it was asked for stay pending.
LearnEnd learn(CampaignDirectory& directory, Campaign& campaign, const Problem& data, const LearnOptions& options,
               Oracle& oracle, std::size_t num_rounds, const LearnControl& control = {});

}  // namespace dissent
