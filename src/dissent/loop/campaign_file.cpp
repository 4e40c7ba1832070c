#include "dissent/loop/campaign_file.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"

namespace dissent {
namespace {

constexpr const char* kFormat = "dissent.campaign";
// The format versions of a state. Programs up to version 0.4 read 1 and 2, and would lose what 3 adds.
constexpr const char* kFirstFormat = "1";
constexpr const char* kPlainFormat = "2";
constexpr const char* kPeopleFormat = "3";
constexpr const char* kNewestFormat = "4";
constexpr const char* kReasons = "chosen.why";
constexpr const char* kColumns = "columns";
constexpr std::string_view kSettingPrefix = "settings.";
constexpr std::string_view kCopyPrefix = "copy.";
constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

// Arrays to write; they must stay in place until then.
struct Arrays {
  std::deque<std::vector<std::int64_t>> wholes;
  std::deque<std::vector<double>> numbers;
  std::vector<std::pair<std::string, ArrayView>> named;

  void add(const std::string& name, std::vector<std::int64_t> values) {
    named.emplace_back(name, ArrayView(wholes.emplace_back(std::move(values))));
  }
  void add(const std::string& name, std::vector<double> values, const Shape& shape) {
    named.emplace_back(name, ArrayView(std::span<const double>(numbers.emplace_back(std::move(values))), shape));
  }

  // One for each field.
  template <class S>
  void add_records(const std::string& name, std::span<const S> records) {
    for (const Field<S>& field : fields<S>()) {
      std::vector<std::int64_t> whole;
      std::vector<double> number;
      for (const S& record : records) {
        const Value value = field.get(record);
        field.type == FieldType::kWhole ? whole.push_back(static_cast<std::int64_t>(std::get<std::uint64_t>(value)))
                                        : number.push_back(as_number(value));
      }
      const std::string full = fmt::format("{}.{}", name, field.name);
      field.type == FieldType::kWhole ? add(full, std::move(whole)) : add(full, std::move(number), {records.size()});
    }
  }
};

enum class Targets { kKept, kLeftOut };

void add_targets(Arrays& arrays, const Campaign& campaign, Targets kept) {
  const std::size_t D = campaign.num_targets;
  std::vector<std::int64_t> labelled;
  std::vector<double> targets;
  for (const ChosenRow& chosen : campaign.chosen) {
    labelled.push_back(chosen.dropped ? 2 : chosen.targets.empty() || kept == Targets::kLeftOut ? 0 : 1);
    targets.insert(targets.end(), chosen.targets.begin(), chosen.targets.end());
    targets.resize(labelled.size() * D, 0);
  }
  arrays.add("chosen.labelled", std::move(labelled));
  if (kept == Targets::kKept) {
    arrays.add("chosen.targets", std::move(targets), {campaign.chosen.size(), D});
  }
}

// What states also have if people are asked.
void add_people(Arrays& arrays, const Campaign& campaign) {
  std::vector<double> asked;
  std::vector<double> told;
  for (const ChosenRow& chosen : campaign.chosen) {
    asked.push_back(chosen.asked);
    told.push_back(chosen.told);
  }
  arrays.add("chosen.asked", std::move(asked), {campaign.chosen.size()});
  arrays.add("chosen.told", std::move(told), {campaign.chosen.size()});
  if (const ExtraRows& extra = campaign.extra; extra.size() > 0) {
    const std::size_t n = extra.size();
    arrays.add("extra.inputs", extra.inputs, {n, extra.inputs.size() / n});
    arrays.add("extra.targets", extra.targets, {n, campaign.num_targets});
    arrays.add("extra.told", extra.told, {n});
  }
}

const char* format_of(const Campaign& campaign, Targets kept) {
  if (kept == Targets::kLeftOut) {
    return kNewestFormat;
  }
  const bool people = campaign.extra.size() > 0 || !campaign.encoding.columns.empty() || campaign.num_dropped() > 0;
  return people ? kPeopleFormat : kPlainFormat;
}

Metadata metadata_of(const Campaign& campaign, Targets kept) {
  Metadata metadata{
      {"format", kFormat},
      {"format_version", format_of(campaign, kept)},
      {"command", std::string(driver_name(campaign.driver))},
      {"targets", std::to_string(campaign.num_targets)},
      {"data_fingerprint", fmt::format("{:016x}", campaign.data_fingerprint)},
      {"model_fingerprint", fmt::format("{:016x}", campaign.model_fingerprint)},
  };
  if (campaign.settled) {
    metadata["settled_model"] = model_name(campaign.settled->model);
    metadata["settled_rows"] = std::to_string(campaign.settled->num_rows);
  }
  if (!campaign.encoding.empty()) {
    metadata[kColumns] = format_encoding(campaign.encoding);
  }
  if (std::ranges::any_of(campaign.chosen, [](const ChosenRow& chosen) { return !chosen.why.empty(); })) {
    nlohmann::json reasons = nlohmann::json::array();
    for (const ChosenRow& chosen : campaign.chosen) {
      reasons.push_back(chosen.why);
    }
    metadata[kReasons] = reasons.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  if (!campaign.extra.cells.empty()) {
    metadata[campaign_file::kExtraCells] =
        nlohmann::json(campaign.extra.cells).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  for (const auto& [name, value] : get_fields(campaign.settings)) {
    metadata[std::string(kSettingPrefix) + name] = to_text(value);
  }
  return metadata;
}

// Fields of rounds that states of programs before version 0.5 lack.
bool is_new(std::string_view field) { return field == "scoring_seconds" || field == "expert_share"; }

template <class S>
std::vector<S> load_records(const SafetensorsFile& file, const std::string& name) {
  const std::size_t count = file.load(fmt::format("{}.{}", name, fields<S>().front().name)).size();
  std::vector<S> records(count);
  for (const Field<S>& field : fields<S>()) {
    const std::string full = fmt::format("{}.{}", name, field.name);
    if (is_new(field.name) && !file.contains(full)) {
      continue;
    }
    if (field.type == FieldType::kWhole) {
      const std::vector<std::size_t> values = campaign_file::load_wholes(file, full, count, kAnyNumber);
      for (std::size_t k = 0; k < count; ++k) {
        field.set(records[k], std::uint64_t{values[k]});
      }
    } else {
      const std::vector<double> values = campaign_file::load_numbers(file, full, {count});
      for (std::size_t k = 0; k < count; ++k) {
        field.set(records[k], values[k]);
      }
    }
  }
  return records;
}

CampaignSettings load_settings(const SafetensorsFile& file) {
  Values given;
  for (const auto& [key, text] : file.metadata()) {
    if (!key.starts_with(kSettingPrefix)) {
      continue;
    }
    const std::string name = key.substr(kSettingPrefix.size());
    const Field<CampaignSettings>* field = find_field<CampaignSettings>(name);
    check(field != nullptr, "has a setting '{}' that this version does not know", name);
    given[name] = parse_value(*field, text);
  }
  CampaignSettings settings = campaign_file::settings_of_0_2();  // for what later versions have added
  // The settings that it stands for are given themselves.
  if (const auto preset = given.extract("preset")) {
    settings.fit.preset = std::get<std::string>(preset.mapped());
  }
  set_fields(settings, given);
  return settings;
}

// States of version 0.3 have none.
void load_reasons(const SafetensorsFile& file, std::vector<ChosenRow>& chosen) {
  const auto found = file.metadata().find(kReasons);
  if (found == file.metadata().end()) {
    return;
  }
  const nlohmann::json reasons = nlohmann::json::parse(found->second, nullptr, false);
  const bool texts =
      reasons.is_array() && std::ranges::all_of(reasons, [](const auto& reason) { return reason.is_string(); });
  check(texts && reasons.size() == chosen.size(), "its metadata have no usable '{}'; it is damaged", kReasons);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    chosen[k].why = reasons[k].get<std::string>();
  }
}

Campaign read_version_2(const SafetensorsFile& file) {
  Campaign campaign;
  const auto command = file.metadata().find("command");
  const std::string driver = command == file.metadata().end() ? "" : command->second;
  check(driver == "learn" || driver == "ask", "its metadata have no usable 'command'; it is damaged");
  campaign.driver = driver == "ask" ? Driver::kAsk : Driver::kLearn;
  campaign.settings = load_settings(file);
  if (const auto settled = file.metadata().find("settled_model"); settled != file.metadata().end()) {
    campaign.settled = {model_from_name(settled->second), campaign_file::read_number(file, "settled_rows", 10)};
  }
  if (const auto columns = file.metadata().find(kColumns); columns != file.metadata().end()) {
    campaign.encoding = parse_encoding(columns->second);
  }
  campaign.chosen = load_records<ChosenRow>(file, "chosen");
  load_reasons(file, campaign.chosen);
  campaign.rounds = load_records<RoundRecord>(file, "rounds");
  const std::vector<RoundRecord> fitted = load_records<RoundRecord>(file, "fitted");
  check(fitted.size() <= 1, "describes {} models; it is damaged", fitted.size());
  if (!fitted.empty()) {
    campaign.fitted = fitted.front();
  }
  return campaign;
}

// What every version promises.
void check_whole(const Campaign& campaign) {
  for (std::size_t r = 0; r < campaign.rounds.size(); ++r) {
    check(campaign.rounds[r].round == r + 1, "round {} stands at place {}; it is damaged", campaign.rounds[r].round,
          r + 1);
  }
  for (const ChosenRow& chosen : campaign.chosen) {
    check(chosen.round <= campaign.rounds.size(), "row {} was chosen in round {} of {}; it is damaged", chosen.row,
          chosen.round, campaign.rounds.size());
  }
}

Campaign read_campaign(const SafetensorsFile& file) {
  return in_source(file.source(), [&] {
    const auto text = [&](const char* key) {
      const auto found = file.metadata().find(key);
      return found == file.metadata().end() ? std::string("unknown") : found->second;
    };
    check(text("format") == kFormat, "is not the state of a campaign");
    const std::string version = text("format_version");
    check(version == kFirstFormat || version == kPlainFormat || version == kPeopleFormat || version == kNewestFormat,
          "is of format version {}; this program reads versions {} to {}", version, kFirstFormat, kNewestFormat);
    Campaign campaign = version == kFirstFormat ? campaign_file::read_version_1(file) : read_version_2(file);
    campaign.data_fingerprint = campaign_file::read_number(file, "data_fingerprint", 16);
    campaign.model_fingerprint = campaign_file::read_number(file, "model_fingerprint", 16);
    campaign.num_targets = campaign_file::read_number(file, "targets", 10);
    campaign_file::load_targets(file, campaign);
    campaign_file::load_people(file, campaign);
    check_whole(campaign);
    return campaign;
  });
}

}  // namespace

namespace campaign_file {

CampaignSettings settings_of_0_2(std::string_view preset) {
  CampaignSettings settings;
  settings.acquisition = Acquisition::parse("kl");
  settings.fit = fit_preset(preset);
  EnsembleOptions& ensemble = settings.fit.ensemble;
  ensemble.model = Model::kFlow;
  ensemble.num_components = 5;
  ensemble.scaling = ScalingKind::kMinMax;
  ensemble.log_targets = LogTargets::kNone;
  ensemble.stray_rows = false;
  ensemble.flow_hidden = {20, 20};
  ensemble.alternate_layers = false;  // chance decided it
  TrainOptions& train = settings.fit.train;
  train.validation = 0.1;
  train.choose_epoch = true;
  train.one_component_per_step = false;
  train.trend = false;
  train.limit_certainty = true;
  train.calibrate_spread = false;
  if (preset == "paper") {
    train.batch_size = 256;
  }
  return settings;
}

std::uint64_t read_number(const SafetensorsFile& file, const std::string& key, int base) {
  const auto found = file.metadata().find(key);
  const std::optional<std::uint64_t> value =
      found == file.metadata().end() ? std::nullopt : parse_whole(found->second, base);
  check(value.has_value(), "its metadata have no usable '{}'; it is damaged", key);
  return *value;
}

std::vector<std::size_t> load_wholes(const SafetensorsFile& file, const std::string& name, std::size_t count,
                                     std::size_t bound) {
  const Array array =
      file.load(name, DType::kInt64, {count});  // may own the values, which a loop over a temporary loses
  std::vector<std::size_t> numbers;
  for (const std::int64_t value : array.values<std::int64_t>()) {
    check(value >= 0 && static_cast<std::size_t>(value) < bound, "{}: {} is out of range; it is damaged", name, value);
    numbers.push_back(static_cast<std::size_t>(value));
  }
  return numbers;
}

std::vector<double> load_numbers(const SafetensorsFile& file, const std::string& name, const Shape& shape) {
  return file.load(name, DType::kFloat64, shape).to<double>();
}

void load_targets(const SafetensorsFile& file, Campaign& campaign) {
  const std::size_t n = campaign.chosen.size();
  const std::size_t D = campaign.num_targets;
  const std::vector<std::size_t> labelled = load_wholes(file, "chosen.labelled", n, 3);
  const bool any = std::ranges::find(labelled, 1U) != labelled.end();
  std::vector<double> targets;
  if (any) {
    targets = load_numbers(file, "chosen.targets", {n, D});
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (labelled[k] == 1) {
      const std::span<const double> own = std::span(targets).subspan(k * D, D);
      campaign.chosen[k].targets.assign(own.begin(), own.end());
    }
    campaign.chosen[k].dropped = labelled[k] == 2;
  }
}

}  // namespace campaign_file

namespace {

Arrays arrays_of(const Campaign& campaign, Targets kept) {
  Arrays arrays;
  arrays.add_records<ChosenRow>("chosen", campaign.chosen);
  add_targets(arrays, campaign, kept);
  if (campaign.driver == Driver::kAsk) {
    add_people(arrays, campaign);
  }
  arrays.add_records<RoundRecord>("rounds", campaign.rounds);
  std::vector<RoundRecord> fitted;
  if (campaign.fitted) {
    fitted.push_back(*campaign.fitted);
  }
  arrays.add_records<RoundRecord>("fitted", fitted);
  return arrays;
}

}  // namespace

void save_campaign(const std::string& path, const Campaign& campaign, const CopyDigests& copies) {
  Metadata metadata = metadata_of(campaign, Targets::kKept);
  for (const auto& [file, digest] : copies) {
    metadata[std::string(kCopyPrefix) + file] = digest;
  }
  write_safetensors(path, arrays_of(campaign, Targets::kKept).named, metadata);
}

std::vector<std::byte> bytes_without_targets(const Campaign& campaign) {
  return format_safetensors(arrays_of(campaign, Targets::kLeftOut).named, metadata_of(campaign, Targets::kLeftOut));
}

Campaign load_campaign(const std::string& path) { return read_campaign(SafetensorsFile(path)); }

CopyDigests load_copy_digests(const std::string& path) {
  CopyDigests copies;
  const SafetensorsFile file(path);
  for (const auto& [key, text] : file.metadata()) {
    if (key.starts_with(kCopyPrefix)) {
      copies[key.substr(kCopyPrefix.size())] = text;
    }
  }
  return copies;
}

Campaign parse_campaign(std::span<const std::byte> bytes, const std::string& source) {
  return read_campaign(SafetensorsFile(bytes, source));
}

}  // namespace dissent
