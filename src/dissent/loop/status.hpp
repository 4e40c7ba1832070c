// Where a campaign stands, for people who come back to it: what is labelled, what waits and since when, how its models
// have fared, and how long the rest may take.
//
// The pace counts the answers whose times are known: their number over the time from the first question to the last
// answer. It says when the rest will be answered if people go on as before.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dissent/base/value_json.hpp"
#include "dissent/loop/campaign.hpp"

namespace dissent {

struct Pace {
  std::size_t num_answers = 0;
  double seconds = 0;  // from the first question to the last answer

  double seconds_for(std::size_t answers) const {
    return seconds * static_cast<double>(answers) / static_cast<double>(num_answers);
  }
};

struct CampaignStatus {
  Driver driver = Driver::kAsk;
  std::string acquisition;
  std::string model;
  std::optional<std::size_t> given;  // rows labelled at the beginning; unknown for learn before its first model
  std::size_t told = 0;              // rows of the pool, and extra ones
  std::size_t extra = 0;
  std::optional<std::size_t> pool;      // rows; unknown for campaigns of learn, which keep no copy of it
  std::optional<std::size_t> left;      // rows of the pool that were never chosen
  std::optional<std::size_t> may_come;  // those of them that the conditions allow
  std::vector<ChosenRow> waiting;
  std::vector<ChosenRow> dropped;
  std::vector<RoundRecord> rounds;    // as in rounds.csv
  std::optional<RoundRecord> fitted;  // the present model
  std::optional<Pace> pace;
  std::optional<double> seconds_per_round;  // of fit and choice, on average over the last rounds

  std::size_t labelled() const { return given.value_or(0) + told; }
};

// `data` may be null: then what they say is unknown.
CampaignStatus status_of(const Campaign& campaign, const Problem* data);

// `now` and the times of a campaign are seconds since 1970.
Json to_json(const CampaignStatus& status, double now);
double seconds_now();                         // whole seconds
std::string time_text(double seconds);        // "2026-11-16T09:20:00Z"; "" for 0, which is unknown
std::string local_time_text(double seconds);  // "2026-11-16 10:20" in local time
std::string duration_text(double seconds);    // "40 s", "12 min", "5 h", "3.2 days"

// All fields of a record, in their order.
template <class S>
Json record_json(const S& record) {
  Json object = Json::object();
  for (const Field<S>& field : fields<S>()) {
    object[std::string(field.name)] = to_json(field.get(record));
  }
  return object;
}

}  // namespace dissent
