// What an Ensemble is made of, whatever its kind: its columns, and the two parts that a model kind makes or loads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dissent/ensemble/trend.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

class ComponentModel;
class OutputMap;

// Names of the columns, and the statistics they are scaled with. A target that is fitted by its logarithm is scaled
// after that.
struct EnsembleColumns {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  Scaling input_scaling;
  Scaling target_scaling;                    // of what the trend leaves
  std::vector<std::uint8_t> logarithm = {};  // [D], 1 for targets fitted by their logarithms; empty: none
  Trend trend = {};                          // of targets without

  bool is_log(std::size_t target) const { return !logarithm.empty() && logarithm[target] != 0; }
  // The names of those.
  std::vector<std::string> log_targets() const;
};

// What a kind of model is made of. A copy is a model of its own.
struct ModelParts {
  ModelParts(std::unique_ptr<ComponentModel> model, OutputMap map);
  ModelParts(const ModelParts& other);
  ModelParts(ModelParts&& other) noexcept;
  ModelParts& operator=(const ModelParts& other);
  ModelParts& operator=(ModelParts&& other) noexcept;
  ~ModelParts();

  std::unique_ptr<ComponentModel> components;
  std::unique_ptr<OutputMap> output_map;
};

}  // namespace dissent
