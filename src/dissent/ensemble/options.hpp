// What an ensemble is and how it is trained: plain values and named presets.
//
// Models (model_kind.hpp has a row for each):
//   pne   probabilistic network ensemble: each component gives a Gaussian, N(mean_j(x), diag stddev_j(x)^2).
//   flow  Nflows Base: the components' Gaussians are bases, all mapped through one shared conditional flow.
//   gp    functions drawn from the posterior of a Gaussian process per output, each with its noise (process/).
//   auto  not a kind of its own: fit() chooses the kind that best predicts rows it has not seen (choose_model.hpp).
// Presets (of training):
//   default  trains on every row to the end, about 12,000 steps of 64 rows; the learning rate falls along a cosine, and
//            weight decay depends on the number of rows. Spreads then come from rows that components have not seen.
//   paper    what the paper and its code do: Adam with learning rate 5e-4, batches of 256 (all rows in one if there is
//            one input column and one target), 6000 epochs, no row held out; one hidden layer of 20 in the flow
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/field.hpp"
#include "dissent/flow/transform_kind.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

enum class Model { kPne, kFlow, kGp, kAuto };

std::string_view model_name(Model model);
Model model_from_name(std::string_view name);  // InputError for any other name
std::vector<std::string> model_names();        // with "auto" last

// Which targets are fitted by their logarithms: those predicted better that way, none, or all.
enum class LogTargets { kAuto, kNone, kAll };

struct EnsembleOptions {
  Model model = Model::kFlow;
  std::size_t num_components = 0;        // 0: as many as there are weights, else those of the model kind
  std::vector<std::size_t> hidden = {};  // widths before masking; empty: those of the model kind
  double keep_probability = 0.5;         // of a hidden unit under a component's fixed mask; 1: no masks
  bool bootstrap = true;                 // each component trains on its own resample of the rows
  bool own_initial_weights = true;       // false: all components begin with the same (under their own masks)
  // One set of weights for all components, which then differ only by their masks. An Ensemble then sets bootstrap and
  // own_initial_weights to false.
  bool share_weights = false;
  std::vector<double> weights = {};  // of the components; empty: uniform
  ScalingKind scaling = ScalingKind::kRobust;
  LogTargets log_targets = LogTargets::kAuto;
  bool stray_rows = true;    // gp: rows that fit no smooth function get noise of their own (process/stray_rows.hpp)
  Transform transform = {};  // flow: of each coupling layer
  std::vector<std::size_t> flow_hidden = {20, 20};  // flow: of each conditioner
  std::size_t num_flow_layers = 1;                  // flow; each transforms half of several targets
  bool alternate_layers = true;                     // flow: each layer transforms what the one before kept
  std::uint64_t seed = 0;

  bool has_masks() const { return keep_probability < 1; }
  // The number that num_components stands for.
  std::size_t components() const;
  // The widths that `hidden` stands for.
  std::vector<std::size_t> hidden_sizes() const;
  // num_flow_layers of a model with a flow, else 0.
  std::size_t flow_layers() const;
  // InputError that names the option, its value and the rule.
  void check_values() const;
};

// Inputs and targets may lie this far from 0 in scaled units: sums of larger ones would overflow single precision.
inline constexpr double kFarthestInput = 1e30;

struct TrainOptions {
  std::size_t epochs = 0;  // 0: as many as make about 12,000 steps, at least 20
  // 0: all rows in one batch. Empty, as in the preset `paper`: all for one input column and one target, else 256.
  std::optional<std::size_t> batch_size = 64;
  double learning_rate = 1e-2;  // of the first step
  bool cosine_decay = true;     // falls to 1% of the first along half a cosine; false: constant
  // Decoupled weight decay of the components, and of the shared flow. Empty: 3 input columns / rows, at most 0.3, and
  // 150 / rows, at most 0.5; the more rows there are, the less a prior on weights counts. With too little decay of its
  // own, the flow explains what the components could, and leaves them nothing to disagree about.
  std::optional<double> weight_decay = {};
  std::optional<double> flow_weight_decay = {};
  double clip_norm = 5;    // of the gradient; 0: none
  double validation = 0;   // share of the rows held out
  bool out_of_bag = true;  // if none are, each component holds out the rows that its bootstrap sample leaves out
  // Keep the parameters that do best on held-out rows, instead of the last.
  bool choose_epoch = false;
  // With choose_epoch, a fit judges and keeps a running mean of the parameters. This is the weight of the mean so far
  // at each step; 0: it judges and keeps the parameters themselves.
  double averaging = 0.98;
  double patience = 0.5;                // stop then after this share of all epochs without improvement; 0: never
  bool one_component_per_step = false;  // chosen at random, instead of all
  bool trend = true;                    // if a straight line explains nearly all of a target, learn only the rest
  // Makes spreads hold for rows a component has not seen (spread.hpp), and nowhere smaller than at the training rows.
  bool limit_certainty = true;
  bool calibrate_spread = true;  // false: only the limit from training rows

  void check_values() const;
  // Fills in an empty batch size and empty weight decays.
  TrainOptions resolved(std::size_t num_input_columns, std::size_t num_targets, std::size_t num_rows) const;
};

// All options of a fit. The command line, Python, campaigns and model files use its fields. A preset is set first, so
// that any other field given overrides it.
struct FitOptions {
  std::string preset = "default";
  EnsembleOptions ensemble = {.model = Model::kAuto};
  TrainOptions train = {};

  // InputError that names the field, its value and the rule.
  void check_values() const {
    ensemble.check_values();
    train.check_values();
  }
};

// Whether models of this kind use the field: only models with a flow use the fields of the flow, and only models with
// networks those of networks and their training. Auto may become any kind.
bool has_option(Model model, std::string_view field);

// InputError that names an option in `given` that models of this kind do not use.
void check_given(Model model, const Values& given);

// The options of a preset, "default" or "paper"; InputError for any other name.
FitOptions fit_preset(std::string_view name);

template <>
std::span<const Field<EnsembleOptions>> fields();
template <>
std::span<const Field<TrainOptions>> fields();
template <>
std::span<const Field<FitOptions>> fields();

}  // namespace dissent
