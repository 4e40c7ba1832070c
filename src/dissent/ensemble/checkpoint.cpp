#include "dissent/ensemble/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "dissent/array/safetensors.hpp"
#include "dissent/base/digest.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/ensemble/component_model.hpp"

namespace dissent {
namespace {

constexpr const char* kFormat = "dissent.checkpoint";
constexpr const char* kFormatVersion = "2";
constexpr std::size_t kRecordSize = 10;

void append_record(const UnitRecord& unit, std::vector<double>& out) {
  out.insert(out.end(),
             {unit.first_loss, unit.best_loss, unit.loss, unit.validation_loss, static_cast<double>(unit.best_epoch),
              static_cast<double>(unit.epochs_run), static_cast<double>(unit.restarts), unit.done ? 1.0 : 0.0,
              unit.stopped_early ? 1.0 : 0.0, unit.diverged ? 1.0 : 0.0});
}

UnitRecord read_record(std::span<const double> values, const std::string& source) {
  for (const double value : values.subspan(4)) {
    check(value >= 0 && value <= 0x1p53 && value == std::floor(value),
          "{}: a unit's record holds {}; the checkpoint is damaged, delete it to start afresh", source, value);
  }
  return {.first_loss = values[0],
          .best_loss = values[1],
          .loss = values[2],
          .validation_loss = values[3],
          .best_epoch = static_cast<std::size_t>(values[4]),
          .epochs_run = static_cast<std::size_t>(values[5]),
          .restarts = static_cast<std::size_t>(values[6]),
          .done = values[7] != 0,
          .stopped_early = values[8] != 0,
          .diverged = values[9] != 0};
}

// InputError that names the first difference.
void check_identity(const std::string& text, const std::string& expected, const std::string& path) {
  const Json theirs = Json::parse(text, nullptr, false);
  check(theirs.is_object(), "{}: its metadata are no JSON object; the checkpoint is damaged, delete it to start afresh",
        path);
  const Json ours = Json::parse(expected);
  for (const auto& [key, value] : ours.items()) {
    const std::string other = theirs.contains(key) ? theirs.at(key).dump() : "missing";
    check(other == value.dump(),
          "{}: is the checkpoint of another fit: its '{}' is {:.60}, not {:.60}; give the same data and options, "
          "another file, or delete it",
          path, key, other, value.dump());
  }
}

void check_file(const SafetensorsFile& file, const std::string& identity, const std::string& path) {
  const auto text = [&](const char* key) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::string() : found->second;
  };
  check(text("format") == kFormat, "{}: is a safetensors file, but not a checkpoint of dissent", path);
  check(text("format_version") == kFormatVersion, "{}: has format version '{:.20}'; this program reads version {}",
        path, text("format_version"), kFormatVersion);
  check_identity(text("fit"), identity, path);
}

void read_block(const SafetensorsFile& file, const std::string& name, std::span<float> block) {
  const Array array = file.load(name, DType::kFloat32, {block.size()});  // keeps the file's bytes
  std::ranges::copy(array.values<float>(), block.begin());
}

}  // namespace

std::string fit_identity(const Ensemble& model, const TrainOptions& train, const TrainingRows& rows) {
  Json json = Json::parse(model.describe());
  json["weights"] = model.weights().value;
  for (const Field<TrainOptions>& field : fields<TrainOptions>()) {
    json[field.name] = to_json(field.get(train));
  }
  Digest digest;
  digest.add(rows.inputs);
  digest.add(rows.targets);
  if (!rows.weights.empty()) {
    digest.add(rows.weights);
  }
  json["rows"] = fmt::format("{} rows, digest {:016x}", rows.inputs.size() / rows.input_names.size(), digest.value());
  return json.dump();
}

void write_checkpoint(const std::string& path, const std::string& identity, const FitState& state) {
  std::vector<double> records;
  for (const UnitRecord& unit : state.units) {
    append_record(unit, records);
  }
  const std::vector<std::int64_t> epoch{static_cast<std::int64_t>(state.epoch)};
  const auto block = [](std::span<const float> values) { return ArrayView(values, {values.size()}); };
  write_safetensors(path,
                    {{"epoch", ArrayView(epoch)},
                     {"units", ArrayView(std::span<const double>(records), {state.units.size(), kRecordSize})},
                     {"parameters", block(state.parameters)},
                     {"average", block(state.average)},
                     {"best", block(state.best)},
                     {"first_moment", block(state.first_moment)},
                     {"second_moment", block(state.second_moment)}},
                    {{"format", kFormat}, {"format_version", kFormatVersion}, {"fit", identity}});
}

bool read_checkpoint(const std::string& path, const std::string& identity, FitState& state) {
  if (!std::filesystem::exists(path)) {
    return false;
  }
  const SafetensorsFile file(path);
  check_file(file, identity, path);
  read_block(file, "parameters", state.parameters);
  read_block(file, "average", state.average);
  read_block(file, "best", state.best);
  read_block(file, "first_moment", state.first_moment);
  read_block(file, "second_moment", state.second_moment);
  for (const std::span<const float> block : {state.parameters, state.average, state.best}) {
    check(std::ranges::all_of(block, [](float value) { return std::isfinite(value); }),
          "{}: holds parameters that are not finite; the checkpoint is damaged, delete it to start afresh", path);
  }
  const std::vector<double> records =
      file.load("units", DType::kFloat64, {state.units.size(), kRecordSize}).to<double>();
  for (std::size_t u = 0; u < state.units.size(); ++u) {
    state.units[u] = read_record(std::span(records).subspan(u * kRecordSize, kRecordSize), path);
  }
  const std::int64_t epoch = file.load("epoch", DType::kInt64, {1}).values<std::int64_t>()[0];
  check(epoch >= 0, "{}: its epoch is {}; the checkpoint is damaged, delete it to start afresh", path, epoch);
  state.epoch = static_cast<std::size_t>(epoch);
  return true;
}

void write_outputs(const std::string& path, const std::string& identity, std::size_t done, std::span<const float> found,
                   std::span<const float> extra_noise) {
  NamedArrays named;
  named.add("outputs", ArrayView(found, {done, found.size() / done}));
  if (!extra_noise.empty()) {
    named.add("extra_noise", ArrayView(extra_noise, {done, extra_noise.size() / done}));
  }
  write_safetensors(path, named.arrays, {{"format", kFormat}, {"format_version", kFormatVersion}, {"fit", identity}});
}

std::size_t read_outputs(const std::string& path, const std::string& identity, std::vector<float>& found,
                         std::vector<float>& extra_noise) {
  found.clear();
  extra_noise.clear();
  if (!std::filesystem::exists(path)) {
    return 0;
  }
  const SafetensorsFile file(path);
  check_file(file, identity, path);
  std::size_t done = 0;
  const auto read = [&](const char* name, std::vector<float>& to) {
    const Array array = file.load(name);
    check(array.dtype() == DType::kFloat32 && array.shape().size() == 2,
          "{}: its '{}' are no table of numbers; the checkpoint is damaged, delete it to start afresh", path, name);
    const std::span<const float> values = array.values<float>();
    check(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }),
          "{}: holds values that are not finite; the checkpoint is damaged, delete it to start afresh", path);
    to.assign(values.begin(), values.end());
    done = array.shape()[0];
  };
  if (file.contains("extra_noise")) {
    read("extra_noise", extra_noise);
  }
  read("outputs", found);
  return done;
}

}  // namespace dissent
