#include "dissent/ensemble/model_parts.hpp"

#include <utility>

#include "dissent/ensemble/component_model.hpp"
#include "dissent/ensemble/output_map.hpp"

namespace dissent {

std::vector<std::string> EnsembleColumns::log_targets() const {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < targets.size(); ++d) {
    if (is_log(d)) {
      names.push_back(targets[d]);
    }
  }
  return names;
}

std::vector<std::string> EnsembleColumns::source_columns() const {
  return encoding.columns.empty() ? inputs : encoding.sources();
}

ModelParts::ModelParts(std::unique_ptr<ComponentModel> model, OutputMap map)
    : components(std::move(model)), output_map(std::make_unique<OutputMap>(std::move(map))) {}

ModelParts::ModelParts(const ModelParts& other)
    : components(other.components->clone()), output_map(std::make_unique<OutputMap>(*other.output_map)) {}

ModelParts& ModelParts::operator=(const ModelParts& other) { return *this = ModelParts(other); }

ModelParts::ModelParts(ModelParts&& other) noexcept = default;
ModelParts& ModelParts::operator=(ModelParts&& other) noexcept = default;
ModelParts::~ModelParts() = default;

}  // namespace dissent
