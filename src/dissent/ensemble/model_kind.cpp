#include "dissent/ensemble/model_kind.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/process_model.hpp"
#include "dissent/ensemble/train_networks.hpp"

namespace dissent {
namespace {

constexpr std::string_view kAutoName = "auto";
constexpr std::array<std::size_t, 2> kFlowHidden{40, 40};
constexpr std::array<std::size_t, 3> kPneHidden{50, 50, 50};

constexpr std::array kKinds{
    ModelKind{.model = Model::kFlow,
              .name = "flow",
              .help = "any noise",
              .components = 5,
              .hidden = kFlowHidden,
              .has_flow = true,
              .make = make_networks,
              .load = load_networks,
              .train = train_networks},
    ModelKind{.model = Model::kPne,
              .name = "pne",
              .help = "Gaussian noise",
              .components = 5,
              .hidden = kPneHidden,
              .has_flow = false,
              .make = make_networks,
              .load = load_networks,
              .train = train_networks},
    ModelKind{.model = Model::kGp,
              .name = "gp",
              .help = "up to 4,000 rows",
              .components = 16,
              .hidden = {},
              .has_flow = false,
              .has_network = false,
              .make = make_process,
              .load = load_process,
              .train = train_process},
};

}  // namespace

std::span<const ModelKind> model_kinds() { return kKinds; }

const ModelKind& model_kind(Model model) {
  const auto found = std::ranges::find(kKinds, model, &ModelKind::model);
  check_argument(found != kKinds.end(), "model", kAutoName, "it is of no kind before a fit");
  return *found;
}

std::string_view model_name(Model model) { return model == Model::kAuto ? kAutoName : model_kind(model).name; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    names.emplace_back(kind.name);
  }
  names.emplace_back(kAutoName);
  return names;
}

Model model_from_name(std::string_view name) {
  if (name == kAutoName) {
    return Model::kAuto;
  }
  const auto found = std::ranges::find(model_kinds(), name, &ModelKind::name);
  check_argument(found != model_kinds().end(), "model", name.empty() ? "''" : name, "there are: {}{}",
                 fmt::join(model_names(), ", "), did_you_mean(name, model_names()));
  return found->model;
}

std::size_t EnsembleOptions::components() const {
  if (num_components > 0 || !weights.empty()) {
    return num_components > 0 ? num_components : weights.size();
  }
  return model_kind(model == Model::kAuto ? kKinds.front().model : model).components;
}

std::vector<std::size_t> EnsembleOptions::hidden_sizes() const {
  if (model == Model::kAuto) {
    return hidden;
  }
  const std::span<const std::size_t> widths = hidden.empty() ? model_kind(model).hidden : hidden;
  return {widths.begin(), widths.end()};
}

std::size_t EnsembleOptions::flow_layers() const {
  return model != Model::kAuto && model_kind(model).has_flow ? num_flow_layers : 0;
}

}  // namespace dissent
