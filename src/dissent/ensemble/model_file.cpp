// Models on disk: a safetensors file. Metadata: "format", "format_version" and "ensemble", a JSON text with what is not
// an array (the fields of EnsembleOptions, column names, library version). Arrays, beside those of the model kind:
//   input.offset, input.scale, target.offset, target.scale, weights   F64
//   trend.centre, trend.low, trend.high, trend.slope                   F64, if the metadata's "trend" is true
//   wide.centre, wide.scale                                            F64, if the metadata have a "wide_weight"
// The metadata have an "input_knee" if the scaling of the inputs has one, and "columns" if inputs are made from a
// table's columns (table/encoding.hpp).
// A loader trusts nothing: every array must be there, with the type and shape that the metadata imply; others are
// ignored.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "dissent/array/safetensors.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file_kind.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/component_model.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/process_model.hpp"

namespace dissent {
namespace {

constexpr const char* kFormat = "dissent.ensemble";

template <class T>
T value_of(const Json& json, const char* key, const std::string& source) {
  try {
    return json.at(key).get<T>();
  } catch (const Json::exception&) {
    fail("{}: its metadata have no usable '{}'; the file is damaged", source, key);
  }
}

// For values that files of earlier versions do not have.
template <class T>
T value_or(const Json& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  try {
    return found == json.end() ? otherwise : found->template get<T>();
  } catch (const Json::exception&) {
    fail("its metadata have no usable '{}'; the file is damaged", key);
  }
}

Json read_metadata(const SafetensorsFile& file) {
  const Metadata& metadata = file.metadata();
  const auto format = metadata.find("format");
  check(format != metadata.end() && format->second == kFormat,
        "{}: is a safetensors file, but not a model of dissent (its metadata have no format '{}')", file.source(),
        kFormat);
  const auto version = metadata.find("format_version");
  check(version != metadata.end() && (version->second == "1" || version->second == "2" || version->second == "3"),
        "{}: has format version '{}'; this program reads versions 1, 2 and 3", file.source(),
        version == metadata.end() ? "" : version->second.substr(0, 20));
  const auto text = metadata.find("ensemble");
  check(text != metadata.end(), "{}: its metadata have no 'ensemble'; the file is damaged", file.source());
  Json json = Json::parse(text->second, nullptr, false);
  check(json.is_object(), "{}: the 'ensemble' of its metadata is not a JSON object; the file is damaged",
        file.source());
  return json;
}

// Weights are an array, and masks follow from the probability to keep a unit.
bool in_metadata(const FieldInfo& field) { return field.name != "weights" && field.name != "masks"; }

bool in_every_version(const FieldInfo& field) {
  return field.name == "model" || field.name == "components" || field.name == "hidden" || field.name == "seed";
}

EnsembleOptions read_options(const Json& json, const std::string& source) {
  EnsembleOptions options;
  options.alternate_layers = false;         // as before the option existed
  options.log_targets = LogTargets::kNone;  // likewise
  options.stray_rows = false;               // likewise
  options.scaling = ScalingKind::kMinMax;   // the default when files did not name it
  for (const Field<EnsembleOptions>& field : fields<EnsembleOptions>()) {
    if (in_metadata(field)) {
      const auto found = json.find(field.name);
      if (found == json.end() && !in_every_version(field)) {
        continue;  // written before this option existed: its value then is the default, or set above
      }
      const std::optional<Value> value = found == json.end() ? std::nullopt : from_json(field, *found);
      check(value.has_value(), "{}: its metadata have no usable '{}'; the file is damaged", source, field.name);
      in_source(source, [&] { field.set(options, *value); });
    }
  }
  return options;
}

std::vector<double> read_doubles(const SafetensorsFile& file, const std::string& name, std::size_t size) {
  return file.load(name, DType::kFloat64, {size}).to<double>();
}

// The names of targets that were fitted by their logarithms; models before version 0.3 have none.
std::vector<std::uint8_t> read_logarithms(const Json& json, const std::vector<std::string>& targets,
                                          const std::string& source) {
  if (!json.contains("logarithms")) {
    return {};
  }
  std::vector<std::uint8_t> logarithm(targets.size(), 0);
  for (const std::string& name : value_of<std::vector<std::string>>(json, "logarithms", source)) {
    const auto found = std::ranges::find(targets, name);
    check(found != targets.end(),
          "{}: its metadata have the logarithm of '{}', which is no target; the file is damaged", source, name);
    logarithm[static_cast<std::size_t>(found - targets.begin())] = 1;
  }
  return logarithm;
}

// Only recalibrated models have them. In the file they are in the order of base values.
std::vector<double> read_spread_factors(const Json& json, const OutputMap& map, const std::string& source) {
  if (!json.contains("spread_factors")) {
    return {};
  }
  const auto of_base = value_of<std::vector<double>>(json, "spread_factors", source);
  const std::vector<std::size_t> target = map.targets_of_base();
  check(of_base.size() == target.size(), "{}: its metadata have {} spread factors for {} targets; the file is damaged",
        source, of_base.size(), target.size());
  std::vector<double> factors(of_base.size());
  for (std::size_t k = 0; k < of_base.size(); ++k) {
    check(std::isfinite(of_base[k]) && of_base[k] > 0, "{}: a spread factor of {} cannot be; the file is damaged",
          source, of_base[k]);
    factors[target[k]] = of_base[k];
  }
  return factors;
}

}  // namespace

Ensemble Ensemble::read(const SafetensorsFile& file) {
  const Json json = read_metadata(file);
  const std::string& source = file.source();
  EnsembleOptions options = read_options(json, source);
  EnsembleColumns columns;
  columns.inputs = value_of<std::vector<std::string>>(json, "inputs", source);
  columns.targets = value_of<std::vector<std::string>>(json, "targets", source);
  columns.input_scaling = {read_doubles(file, "input.offset", columns.inputs.size()),
                           read_doubles(file, "input.scale", columns.inputs.size())};
  columns.input_scaling.knee = value_or(json, "input_knee", columns.input_scaling.knee);
  if (value_or(json, "trend", false)) {
    const std::size_t C = columns.inputs.size();
    columns.trend = {read_doubles(file, "trend.centre", C), read_doubles(file, "trend.low", C),
                     read_doubles(file, "trend.high", C),
                     file.load("trend.slope", DType::kFloat64, {columns.targets.size(), C}).to<double>()};
  }
  columns.target_scaling = {read_doubles(file, "target.offset", columns.targets.size()),
                            read_doubles(file, "target.scale", columns.targets.size())};
  columns.logarithm = read_logarithms(json, columns.targets, source);
  if (const auto found = json.find("columns"); found != json.end()) {
    columns.encoding = in_source(source, [&] { return parse_encoding(found->dump()); });
  }
  options.weights = read_doubles(file, "weights", options.num_components);
  options = in_source(source, [&] { return checked(options, columns); });
  ModelParts parts = model_kind(options.model).load(file, options, columns);
  Ensemble model(std::move(options), std::move(columns), std::move(parts));
  model.spread_factors_ = read_spread_factors(json, model.output_map(), source);
  if (const double weight = value_or(json, "wide_weight", 0.0); weight != 0) {
    in_source(source, [&] {
      model.set_wide_component({weight, read_doubles(file, "wide.centre", model.num_outputs()),
                                read_doubles(file, "wide.scale", model.num_outputs())});
    });
  }
  model.written_by_ = value_of<std::string>(json, "library_version", source);
  return model;
}

std::string Ensemble::describe() const {
  Json json{{"library_version", kVersion},
            {"model", nullptr},  // set below, with the other fields
            {"inputs", columns_.inputs},
            {"targets", columns_.targets}};
  for (const Field<EnsembleOptions>& field : fields<EnsembleOptions>()) {
    if (in_metadata(field)) {
      json[field.name] = to_json(field.get(options_));
    }
  }
  json["hidden"] = options_.hidden_sizes();
  json["logarithms"] = columns_.log_targets();
  if (std::isfinite(columns_.input_scaling.knee)) {
    json["input_knee"] = columns_.input_scaling.knee;
  }
  if (!columns_.encoding.empty()) {
    json["columns"] = Json::parse(format_encoding(columns_.encoding));
  }
  if (!columns_.trend.empty()) {
    json["trend"] = true;
  }
  if (!wide_.empty()) {
    json["wide_weight"] = wide_.weight;
  }
  if (!spread_factors_.empty()) {
    Json of_base = Json::array();
    for (const std::size_t target : output_map().targets_of_base()) {
      of_base.push_back(spread_factors_[target]);
    }
    json["spread_factors"] = of_base;
  }
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    fail("the name of a column is not UTF-8 text, and model files hold no other; save the table as UTF-8");
  }
}

std::string_view Ensemble::format_version() const {
  const bool new_parts = !columns_.log_targets().empty() || !columns_.trend.empty() || !wide_.empty() ||
                         std::isfinite(columns_.input_scaling.knee) || !model_kind(options_.model).has_network;
  const bool newest_parts = !columns_.encoding.columns.empty() || (has_posterior() && process().has_stray_rows());
  return newest_parts ? "3" : new_parts ? "2" : "1";
}

void Ensemble::save(const std::string& path) const {
  NamedArrays named;
  named.add("input.offset", ArrayView(columns_.input_scaling.offset));
  named.add("input.scale", ArrayView(columns_.input_scaling.scale));
  named.add("target.offset", ArrayView(columns_.target_scaling.offset));
  named.add("target.scale", ArrayView(columns_.target_scaling.scale));
  named.add("weights", ArrayView(weights_.value));
  if (!columns_.trend.empty()) {
    named.add("trend.centre", ArrayView(columns_.trend.centre));
    named.add("trend.low", ArrayView(columns_.trend.low));
    named.add("trend.high", ArrayView(columns_.trend.high));
    named.add("trend.slope",
              ArrayView(std::span<const double>(columns_.trend.slope), {num_outputs(), num_input_columns()}));
  }
  if (!wide_.empty()) {
    named.add("wide.centre", ArrayView(wide_.centre));
    named.add("wide.scale", ArrayView(wide_.scale));
  }
  parts_.components->add_arrays(named);
  parts_.output_map->add_arrays(named);
  // Arrays of eight-byte items first, so that all are aligned in the mapped file.
  std::stable_partition(named.arrays.begin(), named.arrays.end(),
                        [](const auto& entry) { return item_size(entry.second.dtype()) == 8; });
  write_safetensors(path, named.arrays,
                    {{"format", kFormat}, {"format_version", std::string(format_version())}, {"ensemble", describe()}});
}

Ensemble Ensemble::load(const std::string& path) {
  const FileLook look = look_at_file(path);
  check(!is_other_than_safetensors(look), "{}: it looks like {}; give a model, such as 'dissent fit' writes", path,
        look.name);
  return read(SafetensorsFile(path));
}

Ensemble Ensemble::parse(std::span<const std::byte> bytes, const std::string& source) {
  return read(SafetensorsFile(bytes, source));
}

}  // namespace dissent
