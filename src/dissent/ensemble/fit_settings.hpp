// The options of a fit by the names that the command line, campaigns on disk and Python share ("--epochs"), with their
// values as text: one reader, so that the three cannot drift apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/ensemble/options.hpp"

namespace dissent {

struct FitSettings {
  std::string model = "flow";
  std::size_t components = 5;
  std::vector<double> weights = {};
  std::vector<std::size_t> hidden = {};
  std::string scaling = "minmax";
  double keep_probability = 0.5;
  bool no_masks = false;
  bool no_bootstrap = false;
  bool same_weights = false;
  bool share_weights = false;
  std::vector<std::size_t> flow_hidden = {20, 20};
  std::size_t flow_layers = 1;
  std::string preset = "default";
  std::optional<std::size_t> epochs = {};  // these four override the preset
  std::optional<std::size_t> batch_size = {};
  std::optional<double> learning_rate = {};
  std::optional<double> validation = {};
  std::uint64_t seed = 0;

  // Whether there is an option of this name.
  static bool has(std::string_view name);
  // Sets one from its text; that of a switch ("--no-masks") is empty. InputError that names option, text and rule.
  void set(std::string_view name, std::string_view text);
  bool operator==(const FitSettings&) const = default;

  // What they stand for. InputError for values out of range.
  EnsembleOptions ensemble() const;
  TrainOptions train() const;
};

}  // namespace dissent
