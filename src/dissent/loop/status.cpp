#include "dissent/loop/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

namespace dissent {
namespace {

constexpr std::size_t kLastRounds = 5;

std::optional<Pace> pace_of(const Campaign& campaign) {
  double first = std::numeric_limits<double>::infinity();
  double last = 0;
  std::size_t answers = 0;
  for (const ChosenRow& chosen : campaign.chosen) {
    if (chosen.asked > 0 && chosen.told > 0) {
      first = std::min(first, chosen.asked);
      last = std::max(last, chosen.told);
      ++answers;
    }
  }
  return answers > 0 && last > first ? std::optional(Pace{answers, last - first}) : std::nullopt;
}

std::optional<double> round_seconds(const std::vector<RoundRecord>& rounds) {
  const std::size_t count = std::min(rounds.size(), kLastRounds);
  double sum = 0;
  for (std::size_t k = rounds.size() - count; k < rounds.size(); ++k) {
    sum += rounds[k].fit_seconds + rounds[k].score_seconds;
  }
  return count > 0 && std::isfinite(sum) ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

// In a campaign of learn, the model of the first round says how many rows it began with.
std::optional<std::size_t> given_rows(const Campaign& campaign) {
  if (!campaign.rounds.empty()) {
    return campaign.rounds.front().labelled;
  }
  return campaign.fitted ? std::optional(campaign.fitted->labelled) : std::nullopt;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json time_json(double seconds) { return seconds > 0 ? Json(time_text(seconds)) : Json(); }

Json waiting_json(const ChosenRow& chosen, double now) {
  return {{"row", chosen.row},
          {"round", chosen.round},
          {"asked", time_json(chosen.asked)},
          {"waiting_seconds", chosen.asked > 0 ? Json(std::max(0.0, now - chosen.asked)) : Json()},
          {"why", chosen.why}};
}

std::string formatted(double seconds, const char* format, bool local) {
  constexpr double kMostSeconds = 253402300799;  // the year 9999
  const auto time = static_cast<std::time_t>(std::clamp(seconds, 0.0, kMostSeconds));
  std::tm parts{};
  local ? ::localtime_r(&time, &parts) : ::gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), size};
}

}  // namespace

CampaignStatus status_of(const Campaign& campaign, const Problem* data) {
  CampaignStatus status;
  status.driver = campaign.driver;
  status.acquisition = campaign.settings.acquisition.text();
  status.model = model_name(campaign.settled ? campaign.settled->model : campaign.settings.fit.ensemble.model);
  status.given = data != nullptr ? std::optional(data->train.num_rows) : given_rows(campaign);
  status.told = campaign.num_told();
  status.extra = campaign.extra.size();
  if (data != nullptr) {
    status.pool = data->pool.num_rows;
    status.left = num_left(campaign, *data);
    status.may_come = open_rows(campaign, *data).size();
  }
  for (const ChosenRow& chosen : campaign.chosen) {
    if (chosen.is_pending()) {
      status.waiting.push_back(chosen);
    } else if (chosen.dropped) {
      status.dropped.push_back(chosen);
    }
  }
  status.rounds = measured_models(campaign);
  status.fitted = campaign.fitted;
  status.pace = pace_of(campaign);
  status.seconds_per_round = round_seconds(campaign.rounds);
  return status;
}

Json to_json(const CampaignStatus& status, double now) {
  Json waiting = Json::array();
  for (const ChosenRow& chosen : status.waiting) {
    waiting.push_back(waiting_json(chosen, now));
  }
  Json dropped = Json::array();
  for (const ChosenRow& chosen : status.dropped) {
    dropped.push_back(chosen.row);
  }
  Json rounds = Json::array();
  for (const RoundRecord& record : status.rounds) {
    rounds.push_back(record_json(record));
  }
  const auto estimate = [&](std::size_t answers) {
    return status.pace ? Json(status.pace->seconds_for(answers)) : Json();
  };
  const std::size_t to_come = status.waiting.size() + status.may_come.value_or(0);
  return {{"command", driver_name(status.driver)},
          {"acquisition", status.acquisition},
          {"model", status.model},
          {"labelled", status.given ? Json(status.labelled()) : Json()},
          {"given", or_null(status.given)},
          {"told", status.told},
          {"extra", status.extra},
          {"dropped", dropped},
          {"pending", waiting},
          {"pool", or_null(status.pool)},
          {"pool_left", or_null(status.left)},
          {"pool_allowed", or_null(status.may_come)},
          {"answers_per_day", status.pace ? Json(86400 / status.pace->seconds_for(1)) : Json()},
          {"seconds_for_pending", estimate(status.waiting.size())},
          {"seconds_for_pool", status.may_come ? estimate(to_come) : Json()},
          {"seconds_per_round", or_null(status.seconds_per_round)},
          {"rounds", rounds},
          {"fitted", status.fitted ? record_json(*status.fitted) : Json()}};
}

double seconds_now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
}

std::string time_text(double seconds) {
  return seconds > 0 ? formatted(seconds, "%Y-%m-%dT%H:%M:%SZ", false) : std::string();
}

std::string local_time_text(double seconds) {
  return seconds > 0 ? formatted(seconds, "%Y-%m-%d %H:%M", true) : std::string();
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  constexpr double kDay = 86400;
  if (seconds < 2 * kMinute) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < 2 * kHour) {
    return fmt::format("{:.0f} min", seconds / kMinute);
  }
  return seconds < 2 * kDay ? fmt::format("{:.0f} h", seconds / kHour)
                            : fmt::format("{:.{}f} days", seconds / kDay, seconds < 10 * kDay ? 1 : 0);
}

}  // namespace dissent
