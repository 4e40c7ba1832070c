#include "dissent/ensemble/model_kind.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/train_networks.hpp"

namespace dissent {
namespace {

constexpr std::array<std::size_t, 2> kFlowHidden{40, 40};
constexpr std::array<std::size_t, 3> kPneHidden{50, 50, 50};

constexpr std::array kKinds{
    ModelKind{.model = Model::kFlow,
              .name = "flow",
              .help = "any shape of noise (of every target with two flow layers)",
              .hidden = kFlowHidden,
              .has_flow = true,
              .make = make_networks,
              .load = load_networks,
              .train = train_networks},
    ModelKind{.model = Model::kPne,
              .name = "pne",
              .help = "Gaussian noise",
              .hidden = kPneHidden,
              .has_flow = false,
              .make = make_networks,
              .load = load_networks,
              .train = train_networks},
};

}  // namespace

std::span<const ModelKind> model_kinds() { return kKinds; }

const ModelKind& model_kind(Model model) { return *std::ranges::find(kKinds, model, &ModelKind::model); }

std::string_view model_name(Model model) { return model_kind(model).name; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    names.emplace_back(kind.name);
  }
  return names;
}

Model model_from_name(std::string_view name) {
  const auto found = std::ranges::find(model_kinds(), name, &ModelKind::name);
  check_argument(found != model_kinds().end(), "model", name.empty() ? "''" : name, "there are: {}{}",
                 fmt::join(model_names(), ", "), did_you_mean(name, model_names()));
  return found->model;
}

std::vector<std::size_t> EnsembleOptions::hidden_sizes() const {
  const std::span<const std::size_t> widths = hidden.empty() ? model_kind(model).hidden : hidden;
  return {widths.begin(), widths.end()};
}

std::size_t EnsembleOptions::flow_layers() const { return model_kind(model).has_flow ? num_flow_layers : 0; }

}  // namespace dissent
