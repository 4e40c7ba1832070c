// Campaign: where an active learning campaign stands, as a plain value.
//
// A campaign begins with labelled rows and a pool, both in a Problem that it does not own (pool.targets is empty where
// labels come from elsewhere). It goes on in steps:
//
//   fit     a fresh model on every labelled row, measured on the test rows       -> fitted
//   choose  rows of the pool worth a label, by that model; they are pending then -> chosen, rounds
//   label   pending rows receive their targets, in any order, not all at once    -> chosen[k].targets
//
// Which step comes next follows from the value alone, and everything random in a step from (seed, round): a campaign
// that is saved after each step, lost at any moment and read again ends with the same bits as one never disturbed.
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
  std::size_t round = 0;  // that chose it; 0 where nobody asked for it and its targets or its loss were told
  double score = 0;
  double epistemic = 0;
  double aleatoric = 0;
  std::vector<double> targets = {};  // empty: pending, or dropped
  std::string why = {};              // in words, where people are asked (acquisition/reasons.hpp)
  bool dropped = false;              // its experiment failed: it has no targets and never comes again
  double asked = 0;                  // when, in seconds since 1970; 0: unknown, as where an oracle answers
  double told = 0;                   // likewise; of the last correction

  bool is_pending() const { return targets.empty() && !dropped; }
};

// Rows that are not of the pool, with their targets, as people brought them.
struct ExtraRows {
  std::vector<double> inputs = {};      // [n][C]
  std::vector<double> targets = {};     // [n][D]
  std::vector<double> told = {};        // [n], as in a ChosenRow
  std::vector<std::string> cells = {};  // [n][columns] what they are made of, where the inputs are no columns

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
  double scoring_seconds = std::numeric_limits<double>::quiet_NaN();  // scoring alone (Choice::seconds)
  double expert_share = std::numeric_limits<double>::quiet_NaN();  // of the rows chosen, where the problem knows whose
};

// The one place where they are listed; of a ChosenRow all but its targets, which are as many as the data has, and its
// words.
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
  TableEncoding encoding = {};  // of the data, where inputs are made of a table's columns
  // Where the settings leave the kind of model to the fit: what it came to, with that many rows.
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

// The beginning, before the first fit.
Campaign begin_campaign(const Problem& data, CampaignSettings settings, Driver driver = Driver::kLearn);

// InputError when the campaign was begun with other settings (the first that differs is named) or other data, or has
// chosen rows that the data do not have. `where` names the campaign.
void check_same(const Campaign& campaign, const CampaignSettings& settings, const std::string& where);
void check_same(const Campaign& campaign, const Problem& data, const std::string& where);

// Positions in campaign.chosen of the rows that wait for their targets.
std::vector<std::size_t> pending(const Campaign& campaign);

// Rows of the pool that may be chosen and never were, ascending.
std::vector<std::size_t> open_rows(const Campaign& campaign, const Problem& data);

// How many rows of the pool were never chosen, whether they may be or not.
std::size_t num_left(const Campaign& campaign, const Problem& data);

// What rounds.csv lists: the rounds, and where an oracle answers the model after the last of them, which has not chosen
// yet. What it does not know, of its choice, is NaN. (People are told how their answers changed the model when they
// tell them.)
std::vector<RoundRecord> measured_models(const Campaign& campaign);

// What the next fit trains on: the first labelled rows, then the chosen ones that have their targets, in the order of
// choice, so that the order of answers does not matter, then the extra ones.
ProblemRows labelled_rows(const Campaign& campaign, const Problem& data);

// Whether what was told before may be replaced.
enum class Retell { kRefused, kAllowed };

// The targets of chosen[position]. InputError when it has them already or was dropped, the number is wrong or one is
// not finite.
void tell(Campaign& campaign, std::size_t position, std::span<const double> targets, Retell retell = Retell::kRefused);

// The experiment of chosen[position] failed. InputError when it has its targets, or was dropped already.
void drop(Campaign& campaign, std::size_t position, Retell retell = Retell::kRefused);

// The position of a row of the pool in campaign.chosen, where it is put, as one that nobody asked for, if need be.
std::size_t place_of(Campaign& campaign, std::size_t row);

// A number for telling data from other data: names and all values count.
std::uint64_t fingerprint(const Problem& data);
std::uint64_t fingerprint(std::span<const float> values);

}  // namespace dissent
