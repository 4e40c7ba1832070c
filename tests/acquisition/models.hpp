// Ensembles with drawn, not trained, parameters: cheap, and their components disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent::test {

struct DrawnModel {
  Model model = Model::kPne;
  std::size_t num_inputs = 2;
  std::size_t num_outputs = 1;
  std::size_t num_components = 5;
  std::vector<double> weights = {};
  double gain = 2;  // of all parameters; larger: more disagreement
  std::uint64_t seed = 1;
};

inline Ensemble drawn_model(const DrawnModel& d) {
  const auto scaling = [](std::size_t columns, double offset, double scale) {
    return Scaling{std::vector<double>(columns, offset), std::vector<double>(columns, scale)};
  };
  EnsembleOptions options{.model = d.model, .num_components = d.num_components, .hidden = {16, 12}};
  options.weights = d.weights;
  options.seed = d.seed;
  Ensemble model(options, {numbered_names("x", d.num_inputs), numbered_names("y", d.num_outputs),
                           scaling(d.num_inputs, 0.5, 2), scaling(d.num_outputs, -1, 3)});
  for (float& parameter : model.parameters().first(model.flow_begin())) {
    parameter *= static_cast<float>(d.gain);
  }
  return model;
}

// Every method of the registry, as typed.
inline std::vector<std::string> typed_methods(bool streaming_only = false) {
  std::vector<std::string> names;
  for (const AcquisitionInfo& info : acquisitions()) {
    if (!streaming_only || info.streams()) {
      const std::string_view letter = info.parameter.letter;
      names.push_back(info.name + (letter == "K" ? ":64" : letter == "A" ? ":0.25" : ""));
    }
  }
  return names;
}

inline std::vector<double> drawn_rows(std::size_t num_rows, std::size_t num_columns, std::uint64_t seed = 7) {
  std::vector<double> values(num_rows * num_columns);
  Stream(seed, Purpose::kTest, 99).fill_normal(values);
  return values;
}

}  // namespace dissent::test
