// The networks' part of a model file (model_file.cpp), M components and L flow layers:
//   <slice of the layout>      F32  parameters, by the names of the layout: "component0.hidden0.weight", ..., or with
//                                   shared weights "shared.hidden0.weight", ...
//   component<c>.mask<l>       I64  kept units of hidden layer l
//   flow.permutation<l>        I64
//   log_stddev_floor           F32  [M][D], Ensemble::limit_certainty
// Every array must be there, with the type and shape that the options imply; others are ignored.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "dissent/array/safetensors.hpp"
#include "dissent/base/error.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/output_map.hpp"

namespace dissent {
namespace {

std::string mask_name(std::size_t component, std::size_t layer) {
  return fmt::format("component{}.mask{}", component, layer);
}
std::string permutation_name(std::size_t layer) { return fmt::format("flow.permutation{}", layer); }

Shape shape_of(std::size_t rows, std::size_t cols) { return cols == 1 ? Shape{rows} : Shape{rows, cols}; }

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
  for (std::size_t layer = 0; layer < options.flow_layers(); ++layer) {
    permutations.push_back(read_indices(file, permutation_name(layer), num_outputs));
    check(permutations.back().size() == num_outputs, "{}[{}]: has {} entries; {} are required", file.source(),
          permutation_name(layer), permutations.back().size(), num_outputs);
    // Throws unless it is a permutation.
    in_source(file.source(), [&] { inverse_permutation(permutations.back()); });
  }
  return permutations;
}

// Compares layer sizes with the arrays in the file: a lying header cannot make us allocate more than a file could hold.
void check_sizes(const SafetensorsFile& file, const EnsembleOptions& options, const EnsembleColumns& columns,
                 const std::vector<Mask>& masks) {
  const auto check_layer = [&](const std::string& name, std::size_t rows, std::size_t cols) {
    file.load(name, DType::kFloat32, shape_of(rows, cols));
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
  for (std::size_t l = 0; l < options.flow_layers(); ++l) {
    std::size_t width = columns.inputs.size() + num_kept;
    for (std::size_t layer = 0; layer < options.flow_hidden.size(); ++layer) {
      check_layer(fmt::format("flow.layer{}.hidden{}.weight", l, layer), options.flow_hidden[layer], width);
      width = options.flow_hidden[layer];
    }
  }
}

// Every layer's size was found to be that of an array in the file before anything of that size was allocated.
void read_parameters(const SafetensorsFile& file, const Layout& layout, std::span<float> parameters) {
  for (const Slice& slice : layout.slices()) {
    const Array array = file.load(slice.name, DType::kFloat32, shape_of(slice.rows, slice.cols));
    const std::span<float> to = values_of(slice, parameters);
    const std::span<const float> from = array.values<float>();
    for (std::size_t k = 0; k < from.size(); ++k) {
      check(std::isfinite(from[k]), "{}: value {} is {}; parameters must be finite", array.source(), k, from[k]);
      to[k] = from[k];
    }
  }
}

void read_floor(const SafetensorsFile& file, NetworkModel& model) {
  const Array array = file.load("log_stddev_floor", DType::kFloat32, {model.num_components(), model.num_outputs()});
  const std::span<const float> floor = array.values<float>();
  for (const float value : floor) {
    check(value >= kGaussian.log_stddev_min && value <= kGaussian.log_stddev_max,
          "{}: holds {}; log-stddevs from {} to {} are required", array.source(), value, kGaussian.log_stddev_min,
          kGaussian.log_stddev_max);
  }
  std::ranges::copy(floor, model.log_stddev_floor().begin());
}

}  // namespace

ModelParts load_networks(const SafetensorsFile& file, const EnsembleOptions& options, const EnsembleColumns& columns) {
  check(!options.hidden.empty(), "{}: 'hidden' of its metadata is empty", file.source());
  std::vector<Mask> masks = read_masks(file, options);
  std::vector<Permutation> permutations = read_permutations(file, options, columns.targets.size());
  check_sizes(file, options, columns, masks);
  ModelParts parts = in_source(
      file.source(), [&] { return assemble_networks(options, columns, std::move(masks), std::move(permutations)); });
  auto& networks = static_cast<NetworkModel&>(*parts.components);
  read_parameters(file, networks.stack().layout, networks.parameters());
  read_floor(file, networks);
  return parts;
}

void NetworkModel::add_arrays(NamedArrays& to) const {
  for (const Slice& slice : stack_.layout.slices()) {
    to.add(slice.name, ArrayView(values_of(slice, parameters()), shape_of(slice.rows, slice.cols)));
  }
  to.add("log_stddev_floor", ArrayView(std::span(log_stddev_floor_), {num_components(), num_outputs()}));
  for (std::size_t c = 0; c < stack_.masks.size(); ++c) {
    for (std::size_t layer = 0; layer < stack_.masks[c].kept.size(); ++layer) {
      to.add_wholes(mask_name(c, layer), stack_.masks[c].kept[layer]);
    }
  }
}

void OutputMap::add_arrays(NamedArrays& to) const {
  for (std::size_t layer = 0; layer < layers().size(); ++layer) {
    to.add_wholes(permutation_name(layer), layers()[layer].permutation());
  }
}

}  // namespace dissent
