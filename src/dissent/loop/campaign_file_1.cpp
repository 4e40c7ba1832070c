// States of format version 1, as the first release wrote them. n rows chosen, R rounds:
//   chosen.row, .round, .score, .epistemic, .aleatoric   [n]
//   rounds          [R, 5]: labelled, rmse, rmse_paper, log_likelihood, chosen_epistemic
//   rounds.seconds  [R, 2]: fit, score
//   fitted          [F, 4]: labelled, rmse, rmse_paper, log_likelihood; fitted.seconds [F]
// Settings are those that were typed, keyed by flag: "setting " and two dashes before "epochs" or "no-masks". The value
// is the text that followed, empty for a switch. "setting command" is learn or ask, and may be absent.
#include <algorithm>
#include <limits>
#include <string_view>

#include "dissent/base/error.hpp"
#include "dissent/loop/campaign_file.hpp"

namespace dissent::campaign_file {
namespace {

constexpr std::string_view kSettingPrefix = "setting ";
constexpr std::size_t kRoundColumns = 5;
constexpr std::size_t kFitColumns = 4;

RoundRecord record_of(std::size_t round, std::span<const double> values, double fit_seconds) {
  check(values[0] >= 0 && values[0] <= 0x1p53, "a model of {} rows cannot be; it is damaged", values[0]);
  return {.round = round,
          .labelled = static_cast<std::size_t>(values[0]),
          .rmse = values[1],
          .rmse_paper = values[2],
          .log_likelihood = values[3],
          .fit_seconds = fit_seconds};
}

void load_chosen(const SafetensorsFile& file, Campaign& campaign) {
  const std::size_t n = file.load("chosen.row").size();
  const std::vector<std::size_t> row = load_wholes(file, "chosen.row", n, std::numeric_limits<std::size_t>::max());
  const std::vector<std::size_t> round = load_wholes(file, "chosen.round", n, std::numeric_limits<std::size_t>::max());
  const std::vector<double> score = load_numbers(file, "chosen.score", {n});
  const std::vector<double> epistemic = load_numbers(file, "chosen.epistemic", {n});
  const std::vector<double> aleatoric = load_numbers(file, "chosen.aleatoric", {n});
  for (std::size_t k = 0; k < n; ++k) {
    campaign.chosen.push_back({row[k], round[k], score[k], epistemic[k], aleatoric[k], {}});
  }
}

void load_rounds(const SafetensorsFile& file, Campaign& campaign) {
  const Array array = file.load("rounds");
  const std::size_t R = array.shape().empty() ? 0 : array.shape().front();
  const std::vector<double> rounds = load_numbers(file, "rounds", {R, kRoundColumns});
  const std::vector<double> seconds = load_numbers(file, "rounds.seconds", {R, 2});
  for (std::size_t r = 0; r < R; ++r) {
    const std::span<const double> values = std::span(rounds).subspan(r * kRoundColumns, kRoundColumns);
    RoundRecord& record = campaign.rounds.emplace_back(record_of(r + 1, values, seconds[2 * r]));
    record.chosen_epistemic = values[kFitColumns];
    record.score_seconds = seconds[2 * r + 1];
  }
  const std::size_t num_fits = file.load("fitted.seconds").size();
  check(num_fits <= 1, "describes {} models; it is damaged", num_fits);
  const std::vector<double> fitted = load_numbers(file, "fitted", {num_fits, kFitColumns});
  if (num_fits == 1) {
    campaign.fitted = record_of(R + 1, fitted, load_numbers(file, "fitted.seconds", {1}).front());
  }
}

// After its dashes, no-masks is the flag of `masks`, and batch-size that of `batch_size`.
const Field<CampaignSettings>* find_flag(std::string_view flag) {
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  std::string name(flag);
  std::ranges::replace(name, '-', '_');
  for (const Field<CampaignSettings>& field : fields<CampaignSettings>()) {
    if (field.traits.flag.empty() ? field.name == name : field.traits.flag == flag) {
      return &field;
    }
  }
  return nullptr;
}

// A setting that is absent had its default of that time.
void load_settings(const SafetensorsFile& file, Campaign& campaign) {
  const CampaignSettings usual = settings_of_0_2();
  Values given;
  for (const auto& [key, text] : file.metadata()) {
    if (!key.starts_with(kSettingPrefix)) {
      continue;
    }
    const std::string flag = key.substr(kSettingPrefix.size());
    if (flag == "command") {
      campaign.driver = text == "ask" ? Driver::kAsk : Driver::kLearn;
      continue;
    }
    const Field<CampaignSettings>* field = find_flag(flag);
    check(field != nullptr, "has a setting '{}' that no version knows", flag);
    given[std::string(field->name)] =
        field->type == FieldType::kSwitch ? Value(!std::get<bool>(field->get(usual))) : parse_value(*field, text);
  }
  campaign.settings = usual;
  if (const auto preset = given.extract("preset")) {
    campaign.settings = settings_of_0_2(std::get<std::string>(preset.mapped()));
  }
  set_fields(campaign.settings, given);
}

}  // namespace

Campaign read_version_1(const SafetensorsFile& file) {
  Campaign campaign;
  load_settings(file, campaign);
  load_chosen(file, campaign);
  load_rounds(file, campaign);
  return campaign;
}

}  // namespace dissent::campaign_file
