// Models on disk: a safetensors file. Metadata: "format", "format_version" and "ensemble", a JSON text with what is not
// an array (model, sizes, column names, seed, library version). Arrays, M components and L flow layers:
//   <slice of the layout>      F32  parameters, by the names of the layout: "component0.hidden0.weight", ..., or with
//                                   shared weights "shared.hidden0.weight", ...
//   component<c>.mask<l>       I64  kept units of hidden layer l
//   flow.permutation<l>        I64
//   log_stddev_floor           F32  [M][D], Ensemble::limit_certainty
//   input.offset, input.scale, target.offset, target.scale, weights   F64
// A loader believes nothing: every array must be there in the type and shape that the metadata imply; others are
// not looked at.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

#include "dissent/array/safetensors.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "dissent.ensemble";

std::string mask_name(std::size_t component, std::size_t layer) {
  return fmt::format("component{}.mask{}", component, layer);
}
std::string permutation_name(std::size_t layer) { return fmt::format("flow.permutation{}", layer); }

std::vector<std::int64_t> widened(std::span<const std::uint32_t> values) { return {values.begin(), values.end()}; }

template <class T>
T value_of(const Json& json, const char* key, const std::string& source) {
  try {
    return json.at(key).get<T>();
  } catch (const Json::exception&) {
    fail("{}: its metadata have no usable '{}'; the file is damaged", source, key);
  }
}

// Whole numbers >= 0 only: the library would wrap a negative number or cut off a fraction.
std::size_t size_of(const Json& json, const char* key, const std::string& source) {
  check(json.contains(key) && json.at(key).is_number_unsigned(), "{}: its metadata have no whole number '{}'", source,
        key);
  return json.at(key).get<std::size_t>();
}

std::vector<std::size_t> sizes_of(const Json& json, const char* key, const std::string& source) {
  check(json.contains(key) && json.at(key).is_array(), "{}: its metadata have no list '{}'", source, key);
  std::vector<std::size_t> sizes;
  for (const Json& item : json.at(key)) {
    check(item.is_number_unsigned(), "{}: '{}' of its metadata holds something that is not a whole number", source,
          key);
    sizes.push_back(item.get<std::size_t>());
  }
  return sizes;
}

Json read_metadata(const SafetensorsFile& file) {
  const Metadata& metadata = file.metadata();
  const auto format = metadata.find("format");
  check(format != metadata.end() && format->second == kFormat,
        "{}: is a safetensors file, but not a model of dissent (its metadata have no format '{}')", file.source(),
        kFormat);
  const auto version = metadata.find("format_version");
  check(version != metadata.end() && version->second == kModelFormatVersion,
        "{}: has format version '{}'; this program reads version {}", file.source(),
        version == metadata.end() ? "" : version->second.substr(0, 20), kModelFormatVersion);
  const auto text = metadata.find("ensemble");
  check(text != metadata.end(), "{}: its metadata have no 'ensemble'; the file is damaged", file.source());
  Json json = Json::parse(text->second, nullptr, false);
  check(json.is_object(), "{}: the 'ensemble' of its metadata is not a JSON object; the file is damaged",
        file.source());
  return json;
}

EnsembleOptions read_options(const Json& json, const std::string& source) {
  EnsembleOptions options;
  options.model = model_from_name(value_of<std::string>(json, "model", source));
  options.num_components = size_of(json, "components", source);
  options.hidden = sizes_of(json, "hidden", source);
  check(!options.hidden.empty(), "{}: 'hidden' of its metadata is empty", source);
  options.keep_probability = value_of<double>(json, "keep_probability", source);
  options.bootstrap = value_of<bool>(json, "bootstrap", source);
  options.own_initial_weights = value_of<bool>(json, "own_initial_weights", source);
  options.share_weights = value_of<bool>(json, "share_weights", source);
  options.scaling = scaling_from_name(value_of<std::string>(json, "scaling", source));
  options.transform.kind = transform_from_name(value_of<std::string>(json, "transform", source));
  options.transform.num_bins = static_cast<int>(std::min<std::size_t>(size_of(json, "bins", source), 1'000'000));
  options.transform.tail_bound = value_of<double>(json, "tail_bound", source);
  options.flow_hidden = sizes_of(json, "flow_hidden", source);
  options.num_flow_layers = size_of(json, "flow_layers", source);
  options.seed = size_of(json, "seed", source);
  return options;
}

std::vector<double> read_doubles(const SafetensorsFile& file, const std::string& name, std::size_t size) {
  return file.load(name, DType::kFloat64, {size}).to<double>();
}

// Numbers below `bound`.
std::vector<std::uint32_t> read_indices(const SafetensorsFile& file, const std::string& name, std::size_t bound) {
  const Array array = file.load(name);
  check(array.dtype() == DType::kInt64 && array.shape().size() == 1 && array.size() <= bound,
        "{}: is {} {}; at most {} of int64 are required", array.source(), dtype_name(array.dtype()),
        shape_text(array.shape()), bound);
  std::vector<std::uint32_t> indices;
  for (const std::int64_t value : array.values<std::int64_t>()) {
    check(value >= 0 && static_cast<std::uint64_t>(value) < bound, "{}: holds {}; numbers from 0 to {} are required",
          array.source(), value, bound - 1);
    indices.push_back(static_cast<std::uint32_t>(value));
  }
  return indices;
}

std::vector<Mask> read_masks(const SafetensorsFile& file, const EnsembleOptions& options) {
  std::vector<Mask> masks;
  for (std::size_t c = 0; c < options.num_components; ++c) {
    Mask mask;
    for (std::size_t layer = 0; layer < options.hidden.size(); ++layer) {
      mask.kept.push_back(read_indices(file, mask_name(c, layer), options.hidden[layer]));
      const std::vector<std::uint32_t>& kept = mask.kept.back();
      check(!kept.empty() && std::ranges::adjacent_find(kept, std::greater_equal<>()) == kept.end(),
            "{}[{}]: its units are not ascending, or there are none", file.source(), mask_name(c, layer));
    }
    masks.push_back(std::move(mask));
  }
  return masks;
}

std::vector<Permutation> read_permutations(const SafetensorsFile& file, const EnsembleOptions& options,
                                           std::size_t num_outputs) {
  std::vector<Permutation> permutations;
  for (std::size_t layer = 0; options.model == Model::kFlow && layer < options.num_flow_layers; ++layer) {
    permutations.push_back(read_indices(file, permutation_name(layer), num_outputs));
    check(permutations.back().size() == num_outputs, "{}[{}]: has {} entries; {} are required", file.source(),
          permutation_name(layer), permutations.back().size(), num_outputs);
    inverse_permutation(permutations.back());  // throws unless it is one
  }
  return permutations;
}

// Every layer's size is that of an array in the file before anything of that size is allocated.
void read_parameters(const SafetensorsFile& file, Ensemble& model) {
  for (const Slice& slice : model.stack().layout.slices()) {
    const Shape shape = slice.cols == 1 ? Shape{slice.rows} : Shape{slice.rows, slice.cols};
    const Array array = file.load(slice.name, DType::kFloat32, shape);
    const std::span<float> to = values_of(slice, model.parameters());
    const std::span<const float> from = array.values<float>();
    for (std::size_t k = 0; k < from.size(); ++k) {
      check(std::isfinite(from[k]), "{}: value {} is {}; parameters must be finite", array.source(), k, from[k]);
      to[k] = from[k];
    }
  }
}

std::vector<float> read_floor(const SafetensorsFile& file, const Ensemble& model) {
  const Array array = file.load("log_stddev_floor", DType::kFloat32, {model.num_components(), model.num_outputs()});
  std::vector<float> floor = array.to<float>();
  for (const float value : floor) {
    check(value >= kGaussian.log_stddev_min && value <= kGaussian.log_stddev_max,
          "{}: holds {}; log-stddevs from {} to {} are required", array.source(), value, kGaussian.log_stddev_min,
          kGaussian.log_stddev_max);
  }
  return floor;
}

// Only recalibrated models have them.
std::vector<double> read_spread_factors(const Json& json, std::size_t num_outputs, const std::string& source) {
  if (!json.contains("spread_factors")) {
    return {};
  }
  std::vector<double> factors = value_of<std::vector<double>>(json, "spread_factors", source);
  check(factors.size() == num_outputs, "{}: its metadata have {} spread factors for {} targets; the file is damaged",
        source, factors.size(), num_outputs);
  for (const double factor : factors) {
    check(std::isfinite(factor) && factor > 0, "{}: a spread factor of {} cannot be; the file is damaged", source,
          factor);
  }
  return factors;
}

// The parameters of the largest network that the file could hold bound what a lying header can make us allocate.
void check_sizes(const SafetensorsFile& file, const EnsembleOptions& options, const EnsembleColumns& columns,
                 const std::vector<Mask>& masks) {
  const auto check_layer = [&](const std::string& name, std::size_t rows, std::size_t cols) {
    const Shape shape = cols == 1 ? Shape{rows} : Shape{rows, cols};
    file.load(name, DType::kFloat32, shape);
  };
  const std::size_t num_networks = options.share_weights ? 1 : masks.size();
  for (std::size_t c = 0; c < num_networks; ++c) {
    const std::string prefix = options.share_weights ? "shared" : fmt::format("component{}", c);
    std::size_t width = columns.inputs.size();
    for (std::size_t layer = 0; layer < options.hidden.size(); ++layer) {
      const std::size_t units = options.share_weights ? options.hidden[layer] : masks[c].kept[layer].size();
      check_layer(fmt::format("{}.hidden{}.weight", prefix, layer), units, width);
      width = units;
    }
  }
  const std::size_t num_kept = columns.targets.size() / 2;
  for (std::size_t l = 0; options.model == Model::kFlow && l < options.num_flow_layers; ++l) {
    std::size_t width = columns.inputs.size() + num_kept;
    for (std::size_t layer = 0; layer < options.flow_hidden.size(); ++layer) {
      check_layer(fmt::format("flow.layer{}.hidden{}.weight", l, layer), options.flow_hidden[layer], width);
      width = options.flow_hidden[layer];
    }
  }
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
  columns.target_scaling = {read_doubles(file, "target.offset", columns.targets.size()),
                            read_doubles(file, "target.scale", columns.targets.size())};
  options.weights = read_doubles(file, "weights", options.num_components);
  options.check_values();
  std::vector<Mask> masks = read_masks(file, options);
  std::vector<Permutation> permutations = read_permutations(file, options, columns.targets.size());
  check_sizes(file, options, columns, masks);
  Ensemble model(std::move(options), std::move(columns), std::move(masks), std::move(permutations));
  read_parameters(file, model);
  model.log_stddev_floor_ = read_floor(file, model);
  model.spread_factors_ = read_spread_factors(json, model.num_outputs(), source);
  model.written_by_ = value_of<std::string>(json, "library_version", source);
  return model;
}

std::string Ensemble::describe() const {
  Json json{{"library_version", kVersion},
            {"model", model_name(options_.model)},
            {"inputs", columns_.inputs},
            {"targets", columns_.targets},
            {"components", options_.num_components},
            {"hidden", options_.hidden_sizes()},
            {"keep_probability", options_.keep_probability},
            {"bootstrap", options_.bootstrap},
            {"own_initial_weights", options_.own_initial_weights},
            {"share_weights", options_.share_weights},
            {"scaling", scaling_name(options_.scaling)},
            {"transform", transform_name(options_.transform.kind)},
            {"bins", options_.transform.num_bins},
            {"tail_bound", options_.transform.tail_bound},
            {"flow_hidden", options_.flow_hidden},
            {"flow_layers", options_.num_flow_layers},
            {"seed", options_.seed}};
  if (!spread_factors_.empty()) {
    json["spread_factors"] = spread_factors_;
  }
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    fail("the name of a column is not UTF-8 text, and model files hold no other; save the table as UTF-8");
  }
}

void Ensemble::save(const std::string& path) const {
  std::vector<std::pair<std::string, ArrayView>> arrays;
  for (const Slice& slice : stack_.layout.slices()) {
    const Shape shape = slice.cols == 1 ? Shape{slice.rows} : Shape{slice.rows, slice.cols};
    arrays.emplace_back(slice.name, ArrayView(values_of(slice, parameters()), shape));
  }
  arrays.emplace_back("input.offset", ArrayView(columns_.input_scaling.offset));
  arrays.emplace_back("input.scale", ArrayView(columns_.input_scaling.scale));
  arrays.emplace_back("target.offset", ArrayView(columns_.target_scaling.offset));
  arrays.emplace_back("target.scale", ArrayView(columns_.target_scaling.scale));
  arrays.emplace_back("weights", ArrayView(weights_.value));
  arrays.emplace_back("log_stddev_floor", ArrayView(std::span(log_stddev_floor_), {num_components(), num_outputs()}));
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> indices;
  for (std::size_t c = 0; c < stack_.masks.size(); ++c) {
    for (std::size_t layer = 0; layer < stack_.masks[c].kept.size(); ++layer) {
      indices.emplace_back(mask_name(c, layer), widened(stack_.masks[c].kept[layer]));
    }
  }
  for (std::size_t layer = 0; flow_ && layer < flow_->layers().size(); ++layer) {
    indices.emplace_back(permutation_name(layer), widened(flow_->layers()[layer].permutation()));
  }
  for (const auto& [name, values] : indices) {
    arrays.emplace_back(name, ArrayView(values));
  }
  // Arrays of eight-byte items first, so that all are aligned in the mapped file.
  std::stable_partition(arrays.begin(), arrays.end(),
                        [](const auto& entry) { return item_size(entry.second.dtype()) == 8; });
  write_safetensors(
      path, arrays,
      {{"format", kFormat}, {"format_version", std::string(kModelFormatVersion)}, {"ensemble", describe()}});
}

// What the rules of a part say does not name the file.
Ensemble Ensemble::load(const std::string& path) {
  const SafetensorsFile file(path);
  try {
    return read(file);
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    fail("{}{}", message.starts_with(path) ? "" : path + ": ", message);
  }
}

Ensemble Ensemble::parse(std::span<const std::byte> bytes, const std::string& source) {
  return read(SafetensorsFile(bytes, source));
}

}  // namespace dissent
