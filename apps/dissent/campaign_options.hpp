// What the active-learning commands share: options of the tables and of the choice, and texts.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/loop/learn.hpp"
#include "dissent/loop/tables.hpp"
#include "fit_options.hpp"

namespace dissent::cli {

struct ChoiceOptions {
  std::string acquisition = {};  // empty: the campaign's, or the default
  std::size_t batch = 10;
  std::string candidates = {};  // empty: the campaign's, or as many as suit the method
  std::string ranking = {};     // empty: the campaign's, or deficit
  // No value: the campaign keeps its own, if any. Empty or off: lifts it.
  std::optional<std::string> cost = {};
  std::vector<std::string> require = {};
  std::vector<std::string> exclude = {};
  std::optional<bool> skip_outliers = {};
};

// The settings of the fit and of the choice that were typed, without the batch.
Values given_settings(const ChoiceOptions& choice, const Values& given_fit);

void add_table_options(Command& command, TablePaths& tables);
void add_aim_option(Command& command, std::string& path);
void add_choice_options(Command& command, ChoiceOptions& options);

// The kind of its models: the one given, or the one that "auto" chose.
std::string_view model_name_of(const Campaign& campaign);

// "no further row of the 12 left meets the conditions"
std::string none_allowed_text(std::size_t num_left);

}  // namespace dissent::cli
