// The state of a campaign as a safetensors file. n rows chosen, R rounds, D targets:
//   chosen.row, chosen.round, chosen.labelled     I64 [n]
//   chosen.score, .epistemic, .aleatoric          F64 [n]
//   chosen.targets                                F64 [n, D], 0 where not labelled
//   rounds                                        F64 [R, 5]: labelled, rmse, rmse_paper, log_likelihood,
//                                                             chosen_epistemic
//   rounds.seconds                                F64 [R, 2]: fit, score; the only values that differ between runs
//   fitted, fitted.seconds                        F64 [1, 4] and [1], or [0, 4] and [0]
// Metadata: format, format_version, targets, data and model fingerprints, and "setting NAME" for each setting.
#include <charconv>
#include <limits>

#include "dissent/array/safetensors.hpp"
#include "dissent/base/error.hpp"
#include "dissent/loop/campaign_directory.hpp"

namespace dissent {
namespace {

constexpr const char* kFormat = "dissent.campaign";
constexpr const char* kFormatVersion = "1";
constexpr std::string_view kSettingPrefix = "setting ";
constexpr std::size_t kRoundColumns = 5;
constexpr std::size_t kFitColumns = 4;

std::uint64_t parse_metadata(const SafetensorsFile& file, const std::string& key, int base) {
  const auto found = file.metadata().find(key);
  std::uint64_t value = 0;
  const std::string text = found == file.metadata().end() ? "" : found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  check(error == std::errc() && end == text.data() + text.size(), "{}: its metadata have no usable '{}'; it is damaged",
        file.source(), key);
  return value;
}

void append_fit(std::vector<double>& values, const FitRecord& fit) {
  values.insert(values.end(), {static_cast<double>(fit.labelled), fit.rmse, fit.rmse_paper, fit.log_likelihood});
}

FitRecord fit_of(std::span<const double> values, double seconds, const std::string& source) {
  check(values[0] >= 0 && values[0] <= 0x1p53, "{}: a model of {} rows cannot be; it is damaged", source, values[0]);
  return {static_cast<std::size_t>(values[0]), values[1], values[2], values[3], seconds, 0};
}

// A column of whole numbers >= 0 that are less than `bound`.
std::vector<std::size_t> load_numbers(const SafetensorsFile& file, const std::string& name, std::size_t count,
                                      std::size_t bound) {
  const Array array =
      file.load(name, DType::kInt64, {count});  // may own the values, which a loop over a temporary loses
  std::vector<std::size_t> numbers;
  for (const std::int64_t value : array.values<std::int64_t>()) {
    check(value >= 0 && static_cast<std::size_t>(value) < bound, "{}[{}]: {} is out of range; it is damaged",
          file.source(), name, value);
    numbers.push_back(static_cast<std::size_t>(value));
  }
  return numbers;
}

std::vector<double> load_values(const SafetensorsFile& file, const std::string& name, const Shape& shape) {
  return file.load(name, DType::kFloat64, shape).to<double>();
}

}  // namespace

void save_campaign(const std::string& path, const Campaign& campaign) {
  const std::size_t n = campaign.chosen.size();
  const std::size_t R = campaign.rounds.size();
  const std::size_t D = campaign.num_targets;
  std::vector<std::int64_t> row;
  std::vector<std::int64_t> round;
  std::vector<std::int64_t> labelled;
  std::vector<double> score;
  std::vector<double> epistemic;
  std::vector<double> aleatoric;
  std::vector<double> targets;
  for (const ChosenRow& chosen : campaign.chosen) {
    row.push_back(static_cast<std::int64_t>(chosen.row));
    round.push_back(static_cast<std::int64_t>(chosen.round));
    labelled.push_back(chosen.targets.empty() ? 0 : 1);
    score.push_back(chosen.score);
    epistemic.push_back(chosen.epistemic);
    aleatoric.push_back(chosen.aleatoric);
    targets.insert(targets.end(), chosen.targets.begin(), chosen.targets.end());
    targets.resize(score.size() * D, 0);
  }
  std::vector<double> rounds;
  std::vector<double> seconds;
  for (const RoundRecord& record : campaign.rounds) {
    append_fit(rounds, record.fit);
    rounds.push_back(record.chosen_epistemic);
    seconds.insert(seconds.end(), {record.fit.seconds, record.score_seconds});
  }
  std::vector<double> fitted;
  std::vector<double> fitted_seconds;
  if (campaign.fitted) {
    append_fit(fitted, *campaign.fitted);
    fitted_seconds.push_back(campaign.fitted->seconds);
  }
  Metadata metadata{
      {"format", kFormat},
      {"format_version", kFormatVersion},
      {"targets", std::to_string(D)},
      {"data_fingerprint", fmt::format("{:016x}", campaign.data_fingerprint)},
      {"model_fingerprint", fmt::format("{:016x}", campaign.fitted ? campaign.fitted->fingerprint : 0)},
  };
  for (const auto& [name, value] : campaign.settings) {
    metadata[std::string(kSettingPrefix) + name] = value;
  }
  const auto matrix = [](const std::vector<double>& values, std::size_t num_rows, std::size_t num_columns) {
    return ArrayView(std::span<const double>(values), {num_rows, num_columns});
  };
  write_safetensors(path,
                    {{"chosen.row", ArrayView(row)},
                     {"chosen.round", ArrayView(round)},
                     {"chosen.labelled", ArrayView(labelled)},
                     {"chosen.score", ArrayView(score)},
                     {"chosen.epistemic", ArrayView(epistemic)},
                     {"chosen.aleatoric", ArrayView(aleatoric)},
                     {"chosen.targets", matrix(targets, n, D)},
                     {"rounds", matrix(rounds, R, kRoundColumns)},
                     {"rounds.seconds", matrix(seconds, R, 2)},
                     {"fitted", matrix(fitted, fitted_seconds.size(), kFitColumns)},
                     {"fitted.seconds", ArrayView(fitted_seconds)}},
                    metadata);
}

namespace {

Campaign read_campaign(const SafetensorsFile& file) {
  const std::string& path = file.source();
  const auto format = file.metadata().find("format");
  check(format != file.metadata().end() && format->second == kFormat, "{}: is not the state of a campaign", path);
  const auto version = file.metadata().find("format_version");
  check(version != file.metadata().end() && version->second == kFormatVersion,
        "{}: is of format version {}; this program reads version {}", path,
        version == file.metadata().end() ? "unknown" : version->second, kFormatVersion);

  Campaign campaign;
  campaign.data_fingerprint = parse_metadata(file, "data_fingerprint", 16);
  campaign.num_targets = parse_metadata(file, "targets", 10);
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with(kSettingPrefix)) {
      campaign.settings[key.substr(kSettingPrefix.size())] = value;
    }
  }
  const std::size_t n = file.load("chosen.row").size();
  const std::size_t D = campaign.num_targets;
  const Array round_array = file.load("rounds");
  const std::size_t R = round_array.shape().empty() ? 0 : round_array.shape().front();
  const std::vector<std::size_t> row = load_numbers(file, "chosen.row", n, std::numeric_limits<std::size_t>::max());
  const std::vector<std::size_t> round = load_numbers(file, "chosen.round", n, R + 1);
  const std::vector<std::size_t> labelled = load_numbers(file, "chosen.labelled", n, 2);
  const std::vector<double> score = load_values(file, "chosen.score", {n});
  const std::vector<double> epistemic = load_values(file, "chosen.epistemic", {n});
  const std::vector<double> aleatoric = load_values(file, "chosen.aleatoric", {n});
  const std::vector<double> targets = load_values(file, "chosen.targets", {n, D});
  for (std::size_t k = 0; k < n; ++k) {
    const auto begin = targets.begin() + static_cast<std::ptrdiff_t>(k * D);
    campaign.chosen.push_back({row[k], round[k], score[k], epistemic[k], aleatoric[k],
                               labelled[k] == 1 ? std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(D))
                                                : std::vector<double>()});
  }
  const std::vector<double> rounds = load_values(file, "rounds", {R, kRoundColumns});
  const std::vector<double> seconds = load_values(file, "rounds.seconds", {R, 2});
  for (std::size_t r = 0; r < R; ++r) {
    const std::span<const double> values = std::span(rounds).subspan(r * kRoundColumns, kRoundColumns);
    campaign.rounds.push_back({r + 1, fit_of(values, seconds[2 * r], path), values[kFitColumns], seconds[2 * r + 1]});
  }
  const std::size_t num_fits = file.load("fitted.seconds").size();
  check(num_fits <= 1, "{}: describes {} models; it is damaged", path, num_fits);
  const std::vector<double> fitted = load_values(file, "fitted", {num_fits, kFitColumns});
  if (num_fits == 1) {
    campaign.fitted = fit_of(fitted, load_values(file, "fitted.seconds", {1}).front(), path);
    campaign.fitted->fingerprint = parse_metadata(file, "model_fingerprint", 16);
  }
  return campaign;
}

}  // namespace

Campaign load_campaign(const std::string& path) { return read_campaign(SafetensorsFile(path)); }

Campaign parse_campaign(std::span<const std::byte> bytes, const std::string& source) {
  return read_campaign(SafetensorsFile(bytes, source));
}

}  // namespace dissent
