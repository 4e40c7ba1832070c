// dissent status: where a campaign stands. It changes nothing and need not wait for a running process.
#include "dissent/loop/status.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "chart.hpp"
#include "command.hpp"
#include "console.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kHeight = 8;

struct StatusArguments {
  std::string directory;
  std::string metric;  // empty: what there is
  bool json = false;
};

CampaignStatus read_status(const std::string& path) {
  const CampaignDirectory directory(path);
  check_in(path, directory.begun(), "no campaign was begun here");
  const Campaign campaign = directory.load();
  if (campaign.driver == Driver::kLearn) {
    return status_of(campaign, nullptr);
  }
  const KeptCampaign kept = read_kept(directory);
  return status_of(kept.campaign, &kept.data);
}

void print_counts(const std::string& directory, const CampaignStatus& status) {
  std::string labelled = fmt::format("{} labelled", counted(status.labelled(), "row"));
  if (status.given) {
    labelled += fmt::format(" ({} given, {} told{})", *status.given, status.told,
                            status.extra > 0 ? fmt::format(", {} of them not of the pool", status.extra) : "");
  }
  print_line("{}: {}, {} wait{}, {} dropped", directory, labelled, status.waiting.size(),
             status.waiting.size() == 1 ? "s" : "", status.dropped.size());
  if (status.pool) {
    const bool narrowed = *status.may_come != *status.left;
    print_line("pool: {} of {} left{}", *status.left, counted(*status.pool, "row"),
               narrowed ? fmt::format(", {} of them may be chosen", *status.may_come) : "");
  }
  print_line("chosen by {}, model {}", status.acquisition, status.model);
}

void print_waiting(const CampaignStatus& status, double now) {
  constexpr std::size_t kMostNamed = 20;
  for (std::size_t k = 0; k < std::min(status.waiting.size(), kMostNamed); ++k) {
    const ChosenRow& chosen = status.waiting[k];
    const std::string since = chosen.asked > 0 ? fmt::format(" since {} ({})", local_time_text(chosen.asked),
                                                             duration_text(std::max(0.0, now - chosen.asked)))
                                               : "";
    print_line("  row {} of round {} waits{}{}{}", chosen.row, chosen.round, since, chosen.why.empty() ? "" : ": ",
               chosen.why);
  }
  if (status.waiting.size() > kMostNamed) {
    print_line("  ... and {} more", status.waiting.size() - kMostNamed);
  }
  for (const ChosenRow& chosen : status.dropped) {
    print_line("  row {} was dropped{}", chosen.row,
               chosen.told > 0 ? fmt::format(" on {}", local_time_text(chosen.told)) : "");
  }
}

Curve curve_of(const std::string& directory, const CampaignStatus& status, const std::string& metric) {
  const Field<RoundRecord>& field = *find_field<RoundRecord>(metric);
  Curve curve{directory, {}, {}};
  std::vector<RoundRecord> models = status.rounds;
  if (status.fitted) {
    models.push_back(*status.fitted);
    models.back().chosen_epistemic =
        std::numeric_limits<double>::quiet_NaN();  // it has not chosen yet, or is there already
  }
  for (const RoundRecord& record : models) {
    const double value = as_number(field.get(record));
    if (!std::isfinite(value)) {
      continue;
    }
    while (!curve.labelled.empty() && curve.labelled.back() >= static_cast<double>(record.labelled)) {
      curve.labelled.pop_back();  // an answer was taken back or corrected
      curve.value.pop_back();
    }
    curve.labelled.push_back(static_cast<double>(record.labelled));
    curve.value.push_back(value);
  }
  return curve;
}

void print_curve(const StatusArguments& arguments, const CampaignStatus& status) {
  std::string metric = arguments.metric.empty() ? "log_likelihood" : arguments.metric;
  Curve curve = curve_of(arguments.directory, status, metric);
  if (curve.value.empty() && arguments.metric.empty()) {
    metric = "chosen_epistemic";  // there are no test rows
    curve = curve_of(arguments.directory, status, metric);
  }
  if (curve.value.size() == 1) {
    print_line("{} {:.4g} at {} labelled", metric, curve.value.front(),
               counted(static_cast<std::size_t>(curve.labelled.front()), "row"));
  } else if (!curve.value.empty()) {
    print_chart({curve}, metric, kHeight);
  }
}

void print_time(const CampaignStatus& status) {
  if (status.pace && status.may_come) {
    const std::size_t waiting = status.waiting.size();
    print_line("pace: {} in {}; as fast, {} wait{} for {} more, and the pool lasts {}",
               counted(status.pace->num_answers, "answer"), duration_text(status.pace->seconds), waiting,
               waiting == 1 ? "s" : "", duration_text(status.pace->seconds_for(waiting)),
               duration_text(status.pace->seconds_for(waiting + *status.may_come)));
  }
  if (status.seconds_per_round) {
    print_line("{}; one takes {:.3g} s to fit and choose", counted(status.rounds.size(), "round"),
               *status.seconds_per_round);
  }
}

void run_status(const StatusArguments& arguments) {
  const CampaignStatus status = read_status(arguments.directory);
  const double now = seconds_now();
  if (arguments.json) {
    nlohmann::ordered_json report{{"version", kVersion}, {"directory", arguments.directory}};
    report.update(to_json(status, now));
    print_json(report);
    return;
  }
  print_counts(arguments.directory, status);
  print_waiting(status, now);
  print_curve(arguments, status);
  print_time(status);
}

}  // namespace

void add_status(Command& app) {
  Command& command = app.add("status", "Where a campaign stands: what waits and since when, its curve, the time left",
                             "  dissent status DIR\n"
                             "  dissent status DIR --metric rmse\n"
                             "It changes nothing, and may run while another process works on the campaign.");
  const auto arguments = std::make_shared<StatusArguments>();
  command.argument("DIR", arguments->directory, "The directory of a campaign of ask or learn");
  command.option("--metric", arguments->metric,
                 {.help = "What is drawn; log_likelihood, or without test rows chosen_epistemic",
                  .shown = "NAME",
                  .names = round_metrics});
  add_json(command, arguments->json);
  command.run([arguments] { run_status(*arguments); });
}

}  // namespace dissent::cli
