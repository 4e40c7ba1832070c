#include "dissent/ensemble/options.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {
namespace {

const std::vector<std::string> kPresets{"default", "paper"};
constexpr std::size_t kMaxLayers = 100;
constexpr std::size_t kPaperBatchSize = 256;

void check_layers(std::string_view name, const std::vector<std::size_t>& widths) {
  check_argument(widths.size() <= kMaxLayers, name, fmt::format("{} layers", widths.size()), "at most {} are allowed",
                 kMaxLayers);
}

}  // namespace

void EnsembleOptions::check_values() const {
  check_fields(*this);
  check_layers("hidden", hidden);
  check_layers("flow_hidden", flow_hidden);
  check_argument(!share_weights || has_masks() || components() == 1, "share_weights", true,
                 "without masks the {} components would be the same", components());
  transform.check();
  Weights::from(weights, components());
}

void TrainOptions::check_values() const { check_fields(*this); }

TrainOptions TrainOptions::resolved(std::size_t num_input_columns, std::size_t num_targets,
                                    std::size_t num_rows) const {
  const auto rows = static_cast<double>(num_rows);
  TrainOptions options = *this;
  options.batch_size = batch_size.value_or(num_input_columns == 1 && num_targets == 1 ? 0 : kPaperBatchSize);
  options.weight_decay = weight_decay.value_or(std::min(0.3, 3 * static_cast<double>(num_input_columns) / rows));
  options.flow_weight_decay = flow_weight_decay.value_or(std::min(0.5, 150 / rows));
  return options;
}

FitOptions fit_preset(std::string_view name) {
  FitOptions options;
  options.preset = name;
  check_name("preset", name, kPresets);
  if (name == "paper") {
    options.ensemble.model = Model::kFlow;
    options.ensemble.log_targets = LogTargets::kNone;
    options.ensemble.flow_hidden = {20};
    options.train = {.epochs = 6000,
                     .batch_size = {},
                     .learning_rate = 5e-4,
                     .cosine_decay = false,
                     .weight_decay = 0,
                     .flow_weight_decay = 0,
                     .clip_norm = 0,
                     .validation = 0,
                     .out_of_bag = false,
                     .choose_epoch = false,
                     .averaging = 0,
                     .patience = 0,
                     .trend = false,
                     .limit_certainty = false,
                     .calibrate_spread = false};
    options.ensemble.scaling = ScalingKind::kMinMax;
  }
  return options;
}

}  // namespace dissent
