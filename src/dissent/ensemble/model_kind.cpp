#include "dissent/ensemble/model_kind.hpp"

#include <algorithm>
#include <array>

#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/train_networks.hpp"

namespace dissent {
namespace {

constexpr std::array<std::size_t, 2> kFlowHidden{40, 40};
constexpr std::array<std::size_t, 3> kPneHidden{50, 50, 50};

constexpr std::array kKinds{
    ModelKind{.model = Model::kFlow,
              .name = "flow",
              .help = "any shape of noise",
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

}  // namespace dissent
