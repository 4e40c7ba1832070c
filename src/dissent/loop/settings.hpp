// How a campaign is run, as plain values that list their fields: what its state keeps, and what it can be resumed with.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/field.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/options.hpp"

namespace dissent {

// How many rows are drawn from the pool to choose among: as many as suit the method, as many as the paper has for it,
// all of them, or a number.
struct MethodDefault {
  bool operator==(const MethodDefault&) const = default;
};
struct PaperNumber {
  bool operator==(const PaperNumber&) const = default;
};
struct All {
  bool operator==(const All&) const = default;
};
// A number, drawn so that a smaller draw is part of a larger one (draw_nested): two methods with the same number, seed
// and round see the same rows, except for those they have chosen.
struct Nested {
  std::size_t count = 0;
  bool operator==(const Nested&) const = default;
};
using Candidates = std::variant<MethodDefault, PaperNumber, All, std::size_t, Nested>;

// "all", "paper", a whole number >= 1 or "nested:N"; empty is MethodDefault. InputError for anything else.
Candidates parse_candidates(std::string_view text);
std::string candidates_text(const Candidates& candidates);  // parse_candidates() reads it back

// InputError if there are fewer candidates than rows to choose.
void check_candidates(const Candidates& candidates, std::size_t batch);

// The number they stand for if there are `num_rows` rows; it may be larger.
std::size_t num_candidates(const Candidates& candidates, const Acquisition& acquisition, std::size_t num_outputs,
                           std::size_t num_rows);

// `count` of the rows row_of(0), row_of(1), ..., which ascend, drawn as the candidates say.
std::vector<std::size_t> draw_candidates(const Candidates& candidates, std::size_t count, std::size_t num_rows,
                                         const std::function<std::size_t(std::size_t)>& row_of, const Stream& stream);

// How rows are chosen unless someone says otherwise, in every command and in Python.
std::string_view default_acquisition();

struct CampaignSettings {
  Acquisition acquisition = Acquisition::parse(default_acquisition());
  std::size_t batch = 10;  // rows to choose at a time; if people are asked, the number of the last time
  Candidates candidates = {};
  Ranking ranking = Ranking::kDeficit;
  std::string cost = {};       // the column of the pool that says what a label costs; empty: all cost the same
  std::string require = {};    // conditions (table/row_condition.hpp) that a row must meet to be chosen
  std::string exclude = {};    // conditions, none of which it may meet
  bool skip_outliers = false;  // rows that look like errors (table/outliers.hpp) are not chosen
  FitOptions fit = {};         // its seed is that of the campaign

  // InputError for invalid values. Candidates are left to check_candidates(), because a batch may be given later.
  void check_values() const;
};

// InputError for a method that has no use for what it is given.
void check_uses(const Acquisition& acquisition, bool has_aim, bool has_cost);

// What a preset (fit_preset) stands for in a campaign: "paper" has kl, the paper's candidates and
// its ranking by value.
CampaignSettings campaign_preset(std::string_view name);

// The preset comes first: it sets the others, and values given besides override it.
template <>
std::span<const Field<CampaignSettings>> fields();

// `begun` with the given values in place of its own. A new preset leaves alone the settings in which `begun` differs
// from its own preset.
CampaignSettings changed_settings(const CampaignSettings& begun, const Values& given);

}  // namespace dissent
