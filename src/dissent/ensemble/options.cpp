#include "dissent/ensemble/options.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMaxComponents = 10'000;
constexpr std::size_t kMaxWidth = 100'000;
constexpr std::size_t kMaxLayers = 100;

void check_widths(const std::vector<std::size_t>& widths, std::string_view name) {
  check(widths.size() <= kMaxLayers, "ensemble: {} has {} layers; at most {} are allowed", name, widths.size(),
        kMaxLayers);
  for (const std::size_t width : widths) {
    check(width >= 1 && width <= kMaxWidth, "ensemble: {} has a layer of {} units; 1 to {} are allowed", name, width,
          kMaxWidth);
  }
}

}  // namespace

std::string_view model_name(Model model) { return model == Model::kPne ? "pne" : "flow"; }

Model model_from_name(std::string_view name) {
  check(name == "pne" || name == "flow", "model: '{}' is not known; there are: flow, pne", name);
  return name == "pne" ? Model::kPne : Model::kFlow;
}

std::vector<std::size_t> EnsembleOptions::hidden_sizes() const {
  if (!hidden.empty()) {
    return hidden;
  }
  return model == Model::kPne ? std::vector<std::size_t>{50, 50, 50} : std::vector<std::size_t>{40, 40};
}

void EnsembleOptions::check_values() const {
  check(num_components >= 1 && num_components <= kMaxComponents, "ensemble: {} components; 1 to {} are allowed",
        num_components, kMaxComponents);
  check_widths(hidden, "hidden");
  check_widths(flow_hidden, "flow_hidden");
  check(keep_probability > 0 && keep_probability <= 1, "ensemble: keep_probability = {}; it must be in (0, 1]",
        keep_probability);
  check(!share_weights || keep_probability < 1 || num_components == 1,
        "ensemble: share_weights with keep_probability = 1; without masks the {} components would be the same",
        num_components);
  check(num_flow_layers >= 1 && num_flow_layers <= kMaxLayers, "ensemble: {} flow layers; 1 to {} are allowed",
        num_flow_layers, kMaxLayers);
  transform.check();
  Weights::from(weights, num_components);
}

void TrainOptions::check_values() const {
  check(learning_rate > 0 && std::isfinite(learning_rate), "fit: learning_rate = {}; it must be finite and > 0",
        learning_rate);
  for (const double decay : {weight_decay.value_or(0), flow_weight_decay.value_or(0)}) {
    check(decay >= 0 && std::isfinite(decay), "fit: weight decay = {}; it must be finite and >= 0", decay);
  }
  check(averaging >= 0 && averaging < 1, "fit: averaging = {}; it must be in [0, 1)", averaging);
  check(clip_norm >= 0 && std::isfinite(clip_norm), "fit: clip_norm = {}; it must be finite and >= 0", clip_norm);
  check(validation >= 0 && validation < 1, "fit: validation = {}; it must be in [0, 1)", validation);
  check(patience >= 0 && std::isfinite(patience), "fit: patience = {}; it must be finite and >= 0", patience);
}

TrainOptions TrainOptions::resolved(std::size_t num_inputs, std::size_t num_rows) const {
  const auto rows = static_cast<double>(num_rows);
  TrainOptions options = *this;
  options.weight_decay = weight_decay.value_or(std::min(0.3, 3 * static_cast<double>(num_inputs) / rows));
  options.flow_weight_decay = flow_weight_decay.value_or(std::min(0.5, 150 / rows));
  return options;
}

TrainOptions training_preset(std::string_view name) {
  if (name == "default") {
    return {};
  }
  check(name == "paper", "preset: '{}' is not known; there are: default, paper", name);
  return {.epochs = 6000,
          .batch_size = 256,
          .learning_rate = 5e-4,
          .cosine_decay = false,
          .weight_decay = 0,
          .flow_weight_decay = 0,
          .clip_norm = 0,
          .validation = 0.1,
          .out_of_bag = false,
          .averaging = 0,
          .patience = 0};
}

}  // namespace dissent
