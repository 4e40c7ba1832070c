// The fields of a fit's options, listed only here.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/model_kind.hpp"
#include "dissent/ensemble/options.hpp"

namespace dissent {
namespace {

constexpr double kMostComponents = 10'000;
constexpr double kMostUnits = 100'000;
constexpr double kMostLayers = 100;

using Names = std::vector<std::string>;

// "flow: any noise. pne: Gaussian noise. gp: up to 4,000 rows. auto: what predicts best"
const std::string& model_help() {
  static const std::string text = [] {
    Names parts;
    for (const ModelKind& kind : model_kinds()) {
      parts.push_back(fmt::format("{}: {}", kind.name, kind.help));
    }
    parts.emplace_back("auto: what predicts best");
    return fmt::format("{}", fmt::join(parts, ". "));
  }();
  return text;
}

// "Components of the ensemble; 5 for flow, 5 for pne, 16 for gp"
const std::string& components_help() {
  static const std::string text = [] {
    Names parts;
    for (const ModelKind& kind : model_kinds()) {
      parts.push_back(fmt::format("{} for {}", kind.components, kind.name));
    }
    return fmt::format("Components of the ensemble; {}", fmt::join(parts, ", "));
  }();
  return text;
}

// "Hidden units per layer; none: 40,40 for flow and 50,50,50 for pne"
const std::string& hidden_help() {
  static const std::string text = [] {
    Names parts;
    for (const ModelKind& kind : model_kinds()) {
      if (!kind.hidden.empty()) {
        parts.push_back(fmt::format("{} for {}", fmt::join(kind.hidden, ","), kind.name));
      }
    }
    return fmt::format("Hidden units per layer; none: {}", fmt::join(parts, " and "));
  }();
  return text;
}

// The fields of EnsembleOptions for the flow's transform.
Field<EnsembleOptions> transform_field() {
  return field<EnsembleOptions>(
      {"transform",
       FieldType::kText,
       false,
       {.help = "The flow's transform: cubic, quadratic, rational_quadratic or affine",
        .shown = "NAME",
        .names = transform_names}},
      [](const EnsembleOptions& from) { return Value(std::string(transform_name(from.transform.kind))); },
      [](EnsembleOptions& to, const Value& value) {
        to.transform.kind = transform_from_name(std::get<std::string>(value));
      });
}

Field<EnsembleOptions> bins_field() {
  return field<EnsembleOptions>(
      {"bins",
       FieldType::kWhole,
       false,
       {.help = "Bins of the flow's splines", .shown = "K", .least = Transform::kMinBins, .most = Transform::kMaxBins}},
      [](const EnsembleOptions& from) { return Value(static_cast<std::uint64_t>(from.transform.num_bins)); },
      [](EnsembleOptions& to, const Value& value) {
        to.transform.num_bins = static_cast<int>(std::get<std::uint64_t>(value));
      });
}

Field<EnsembleOptions> tail_bound_field() {
  return field<EnsembleOptions>(
      {"tail_bound",
       FieldType::kNumber,
       false,
       {.help = "Scaled values beyond which the flow's splines change nothing",
        .shown = "B",
        .least = Transform::kMinTailBound,
        .most = Transform::kMaxTailBound}},
      [](const EnsembleOptions& from) { return Value(from.transform.tail_bound); },
      [](EnsembleOptions& to, const Value& value) { to.transform.tail_bound = std::get<double>(value); });
}

// 0 means a number that suits the rows; the edges show an empty value for it.
Field<TrainOptions> epochs_field() {
  return field<TrainOptions>(
      {"epochs",
       FieldType::kWhole,
       true,
       {.help = "Passes over the rows; by default about 12,000 steps", .shown = "E", .least = 1}},
      [](const TrainOptions& from) { return from.epochs == 0 ? Value() : Value(std::uint64_t{from.epochs}); },
      [](TrainOptions& to, const Value& value) {
        to.epochs = std::holds_alternative<std::monostate>(value) ? 0 : std::get<std::uint64_t>(value);
      });
}

// Without masks every unit is kept. To put them back, set keep_probability.
Field<EnsembleOptions> masks_field() {
  return field<EnsembleOptions>(
      {"masks", FieldType::kSwitch, false, {.help = "Without each component's fixed dropout mask", .flag = "no-masks"}},
      [](const EnsembleOptions& from) { return Value(from.keep_probability < 1); },
      [](EnsembleOptions& to, const Value& value) {
        to.keep_probability = std::get<bool>(value) ? to.keep_probability : 1;
      });
}

Field<EnsembleOptions> components_field() {
  return field<EnsembleOptions>(
      {"components",
       FieldType::kWhole,
       true,
       {.help = components_help(),
        .shown = "M",
        .short_name = "c",
        .count = true,
        .least = 1,
        .most = kMostComponents}},
      [](const EnsembleOptions& from) {
        return from.num_components == 0 ? Value() : Value(std::uint64_t{from.num_components});
      },
      [](EnsembleOptions& to, const Value& value) {
        to.num_components = std::holds_alternative<std::monostate>(value) ? 0 : std::get<std::uint64_t>(value);
      });
}

std::string log_targets_name(const LogTargets& which) {
  return which == LogTargets::kAuto ? "auto" : which == LogTargets::kNone ? "none" : "all";
}

LogTargets log_targets_from_name(const std::string& name) {
  return name == "auto" ? LogTargets::kAuto : name == "none" ? LogTargets::kNone : LogTargets::kAll;
}

constexpr std::array<std::string_view, 7> kNetworkFields{
    "preset", "hidden", "keep_probability", "masks", "bootstrap", "own_initial_weights", "share_weights"};
constexpr std::array<std::string_view, 7> kFlowFields{
    "transform", "bins", "tail_bound", "flow_hidden", "flow_layers", "alternate_layers", "flow_weight_decay"};

}  // namespace

bool has_option(Model model, std::string_view field) {
  if (model == Model::kAuto) {
    return true;
  }
  const bool of_flow = std::ranges::find(kFlowFields, field) != kFlowFields.end();
  const bool of_network = std::ranges::find(kNetworkFields, field) != kNetworkFields.end() ||
                          (find_field<TrainOptions>(field) != nullptr && field != "validation");
  return (model_kind(model).has_flow || !of_flow) && (model_kind(model).has_network || !of_network);
}

void check_given(Model model, const Values& given) {
  for (const auto& [name, value] : given) {
    if (!has_option(model, name)) {
      throw InputError(
          Fault{.argument = name,
                .value = to_text(value),
                .rule = fmt::format("`model` {} has no {}, so this would do nothing; leave it "
                                    "out, or choose another",
                                    model_name(model), model_kind(model).has_network ? "flow" : "networks")});
    }
  }
}

template <>
std::span<const Field<EnsembleOptions>> fields() {
  using O = EnsembleOptions;
  static const std::vector<Field<O>> list{
      named_field<O, Model>(
          "model", &O::model, [](const Model& model) { return std::string(model_name(model)); },
          [](const std::string& name) { return model_from_name(name); },
          {.help = model_help(), .shown = "NAME", .short_name = "m", .names = model_names}),
      components_field(),
      field("weights", &O::weights, {.help = "Weights of the components; uniform by default", .shown = "W1,W2"}),
      field("hidden", &O::hidden, {.help = hidden_help(), .shown = "H1,H2", .least = 1, .most = kMostUnits}),
      field("keep_probability", &O::keep_probability,
            {.help = "Chance that a component's fixed mask keeps a hidden unit", .shown = "P", .most = 1, .above = 0}),
      masks_field(),
      field("bootstrap", &O::bootstrap, {.help = "Train every component on the same rows", .flag = "no-bootstrap"}),
      field("own_initial_weights", &O::own_initial_weights,
            {.help = "Begin all components with the same weights", .flag = "same-weights"}),
      field("share_weights", &O::share_weights,
            {.help = "One set of weights for all components, which then differ only by their masks"}),
      named_field<O, ScalingKind>(
          "scaling", &O::scaling, [](const ScalingKind& kind) { return std::string(scaling_name(kind)); },
          [](const std::string& name) { return scaling_from_name(name); },
          {.help = "How to scale input columns: robust, minmax, standard or none",
           .shown = "NAME",
           .names = scaling_names}),
      named_field<O, LogTargets>("log_targets", &O::log_targets, log_targets_name, log_targets_from_name,
                                 {.help = "Fit logarithms of targets: where they predict better (auto), none or all",
                                  .shown = "WHICH",
                                  .names =
                                      [] {
                                        return Names{"auto", "none", "all"};
                                      }}),
      field("stray_rows", &O::stray_rows,
            {.help = "gp: treat rows that fit no smooth function like all others", .flag = "no-stray-rows"}),
      transform_field(),
      bins_field(),
      tail_bound_field(),
      field("flow_hidden", &O::flow_hidden,
            {.help = "Hidden units per layer of the flow's network", .shown = "H1,H2", .least = 1, .most = kMostUnits}),
      field("flow_layers", &O::num_flow_layers,
            {.help = "Coupling layers of the flow; one bends half of several targets, two all of them",
             .shown = "L",
             .count = true,
             .least = 1,
             .most = kMostLayers}),
      field("alternate_layers", &O::alternate_layers,
            {.help = "Choose at random which targets later coupling layers transform", .flag = "no-alternate-layers"}),
      field("seed", &O::seed,
            {.help = "Seed of everything random; the same seed gives the same results", .shown = "S"}),
  };
  return list;
}

template <>
std::span<const Field<TrainOptions>> fields() {
  using O = TrainOptions;
  static const std::vector<Field<O>> list{
      epochs_field(),
      field("batch_size", &O::batch_size, {.help = "Rows per step; 0: all", .shown = "B"}),
      field("learning_rate", &O::learning_rate, {.help = "Of the first step", .shown = "R", .above = 0}),
      field("cosine_decay", &O::cosine_decay,
            {.help = "Keep the learning rate of the first step to the end", .flag = "constant-rate"}),
      field("weight_decay", &O::weight_decay,
            {.help = "For the components' weights; by default, the more rows the less", .shown = "W", .least = 0}),
      field("flow_weight_decay", &O::flow_weight_decay,
            {.help = "For the flow's weights, likewise", .shown = "W", .least = 0}),
      field("clip_norm", &O::clip_norm, {.help = "Longest gradient of a step; 0: no limit", .shown = "G", .least = 0}),
      field("validation", &O::validation,
            {.help = "Share of the rows held out; 0 trains on every row", .shown = "SHARE", .least = 0, .below = 1}),
      field("out_of_bag", &O::out_of_bag,
            {.help = "With no rows held out, do not judge by those that bootstrap samples leave out",
             .flag = "no-out-of-bag"}),
      field("choose_epoch", &O::choose_epoch, {.help = "Keep the epoch that does best on held-out rows, not the last"}),
      field("averaging", &O::averaging,
            {.help = "Weight of the past in the running mean of parameters that is judged",
             .shown = "A",
             .least = 0,
             .below = 1}),
      field(
          "patience", &O::patience,
          {.help = "Stop after this share of the epochs without improvement; 0: never", .shown = "SHARE", .least = 0}),
      field("one_component_per_step", &O::one_component_per_step,
            {.help = "Train one component a step, chosen at random, not all"}),
      field("trend", &O::trend,
            {.help = "Fit no straight line first, even if one nearly explains the targets", .flag = "no-trend"}),
      field("limit_certainty", &O::limit_certainty,
            {.help = "Do not limit how certain networks may be", .flag = "no-limit-certainty"}),
      field("calibrate_spread", &O::calibrate_spread,
            {.help = "Limit certainty by training rows only, not by rows that components have not seen",
             .flag = "no-calibrate-spread"}),
  };
  return list;
}

template <>
std::span<const Field<FitOptions>> fields() {
  using O = FitOptions;
  static const std::vector<Field<O>> list = [] {
    std::vector<Field<O>> all;
    all.push_back(field<O>(
        {"preset",
         FieldType::kText,
         false,
         {.help = "default, or paper: all of the paper's settings",
          .shown = "NAME",
          .names =
              [] {
                return Names{"default", "paper"};
              }}},
        [](const O& from) { return Value(from.preset); },
        [](O& to, const Value& value) { to = fit_preset(std::get<std::string>(value)); }));
    add_fields(all, &O::ensemble);
    add_fields(all, &O::train);
    return all;
  }();
  return list;
}

}  // namespace dissent
