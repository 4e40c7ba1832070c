// Campaign: where an active learning campaign stands, as a plain value.
//
// A campaign begins with labelled rows and a pool, both in a Problem that it does not own (pool.targets is empty if
// labels come from elsewhere). It proceeds in steps:
//
//   fit     a fresh model on every labelled row, measured on the test rows       -> fitted
//   choose  rows of the pool worth a label, by that model; they are pending then -> chosen, rounds
//   label   pending rows receive their targets, in any order, not all at once    -> chosen[k].targets
//
// The value alone determines the next step, and (seed, round) everything random in it: a campaign that is saved after
// each step, lost at any moment and read again ends with the same bits as one that was never disturbed.
// Rows count from 0, rounds from 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/field.hpp"
#include "dissent/loop/settings.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct ChosenRow {
  std::size_t row = 0;    // of the pool
  std::size_t round = 0;  // that chose it; 0 if nobody asked for it but its targets or its failure were told
  double score = 0;
  double epistemic = 0;
  double aleatoric = 0;
  std::vector<double> targets = {};  // empty: pending, or dropped
  std::string why = {};              // in words, if people are asked (acquisition/reasons.hpp)
  bool dropped = false;              // its experiment failed: it has no targets and is never chosen again
  double asked = 0;                  // when, in seconds since 1970; 0: unknown, as with an oracle
  double told = 0;                   // likewise; the time of the last correction

  bool is_pending() const { return targets.empty() && !dropped; }
};

// Rows not in the pool that people brought, with their targets.
struct ExtraRows {
  std::vector<double> inputs = {};      // [n][C]
  std::vector<double> targets = {};     // [n][D]
  std::vector<double> told = {};        // [n], as in a ChosenRow
  std::vector<std::string> cells = {};  // [n][columns] what the inputs are made from, if they are not columns

  std::size_t size() const { return told.size(); }
};

// A round: how its model fares, and what it chose. Metrics are NaN without test rows.
struct RoundRecord {
  std::size_t round = 0;
  std::size_t labelled = 0;  // rows its model was fitted on
  double rmse = 0;
  double rmse_paper = 0;
  double log_likelihood = 0;
  double chosen_epistemic = 0;  // mean over the rows chosen; 0 before
  double fit_seconds = 0;       // fit and evaluation
  double score_seconds = 0;     // the whole choice
  // Unknown in the states of programs before version 0.5, and before a choice.
  double scoring_seconds = std::numeric_limits<double>::quiet_NaN();  // only the scoring (Choice::seconds)
  double expert_share = std::numeric_limits<double>::quiet_NaN();     // of the rows chosen, if the problem knows whose
};

// The one place that lists them; for a ChosenRow all but targets, whose number depends on the data, and why, dropped,
// asked and told.
template <>
std::span<const Field<ChosenRow>> fields();
template <>
std::span<const Field<RoundRecord>> fields();

// Where labels come from: an oracle that answers at once, or people, who are asked and tell.
enum class Driver { kLearn, kAsk };
std::string_view driver_name(Driver driver);  // "learn", "ask"

struct Campaign {
  Driver driver = Driver::kLearn;
  CampaignSettings settings;
  std::uint64_t data_fingerprint = 0;
  std::size_t num_targets = 0;
  TableEncoding encoding = {};  // of the data, if inputs are made from a table's columns
  // If the settings leave the kind of model to the fit: the kind it chose, and with how many rows.
  struct Settled {
    Model model = Model::kGp;
    std::size_t num_rows = 0;
  };
  std::optional<Settled> settled = {};
  std::vector<ChosenRow> chosen;        // in the order of choice
  ExtraRows extra = {};                 // in the order of telling
  std::vector<RoundRecord> rounds;      // one per choice made
  std::optional<RoundRecord> fitted;    // of the present model; none before the first fit and after new labels
  std::uint64_t model_fingerprint = 0;  // of its parameters: tells whether a saved model is this one

  std::size_t next_round() const { return rounds.size() + 1; }
  std::size_t num_pending() const;
  std::size_t num_dropped() const;
  std::size_t num_told() const;  // rows of the pool with their targets, and extra ones
};

// A new campaign, before the first fit.
Campaign begin_campaign(const Problem& data, CampaignSettings settings, Driver driver = Driver::kLearn);

// InputError if the campaign was begun with other settings (it names the first that differs) or other data, or has
// chosen rows that the data lack. `where` names the campaign.
void check_same(const Campaign& campaign, const CampaignSettings& settings, const std::string& where);
void check_same(const Campaign& campaign, const Problem& data, const std::string& where);

// Positions in campaign.chosen of the rows that wait for their targets.
std::vector<std::size_t> pending(const Campaign& campaign);

// Rows of the pool that may be chosen and never were, ascending.
std::vector<std::size_t> open_rows(const Campaign& campaign, const Problem& data);

// How many rows of the pool were never chosen, whether they may be or not.
std::size_t num_left(const Campaign& campaign, const Problem& data);

// What rounds.csv lists: the rounds and, if an oracle answers, the model after the last round. That model has not
// chosen yet, so what describes its choice is NaN. (People learn how their answers changed the model when they tell
// them.)
std::vector<RoundRecord> measured_models(const Campaign& campaign);

// What the next fit trains on: the first labelled rows; the chosen ones that have their targets, in the order of
// choice, so that the order of answers does not matter; the extra ones.
ProblemRows labelled_rows(const Campaign& campaign, const Problem& data);

// Whether earlier answers may be replaced.
enum class Retell { kRefused, kAllowed };

// Sets the targets of chosen[position]. InputError if it already has them or was dropped, or if their number is wrong
// or one is not finite.
void tell(Campaign& campaign, std::size_t position, std::span<const double> targets, Retell retell = Retell::kRefused);

// Records that the experiment of chosen[position] failed. InputError if it has its targets, or was dropped already.
void drop(Campaign& campaign, std::size_t position, Retell retell = Retell::kRefused);

// The position of a pool row in campaign.chosen. If it is not there, it is added as one that nobody asked for.
std::size_t place_of(Campaign& campaign, std::size_t row);

// A number that tells data apart: names and all values count.
std::uint64_t fingerprint(const Problem& data);
std::uint64_t fingerprint(std::span<const float> values);

}  // namespace dissent
