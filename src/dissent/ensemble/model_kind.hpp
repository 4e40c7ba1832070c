// The registry of model kinds: one row each, with its name, its properties, and the functions that make, load and train
// it. How to add one: component_model.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dissent/ensemble/options.hpp"

namespace dissent {

class Ensemble;
class SafetensorsFile;
struct EnsembleColumns;
struct FitControl;
struct FitReport;
struct ModelParts;
struct TrainingSet;

struct ModelKind {
  Model model;
  std::string_view name;
  std::string_view help;                // what it can learn
  std::size_t components;               // by default
  std::span<const std::size_t> hidden;  // default widths
  bool has_flow = false;                // behind its components
  bool has_network = true;              // its components are networks, with a last layer to look at

  // Options and columns have been checked and agree.
  ModelParts (*make)(const EnsembleOptions& options, const EnsembleColumns& columns);
  ModelParts (*load)(const SafetensorsFile& file, const EnsembleOptions& options, const EnsembleColumns& columns);
  // Trains what make() made.
  FitReport (*train)(Ensemble& model, TrainingSet data, const FitControl& control);
};

// In the order in which lists show them.
std::span<const ModelKind> model_kinds();
const ModelKind& model_kind(Model model);

}  // namespace dissent
