// What the commands of active learning share: options of the tables and of choosing, and rows as CSV.
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
  std::string acquisition = {};  // empty: the default, or that of the campaign
  std::size_t batch = 10;
  std::string candidates = {};  // empty: as many as suit the method, or that of the campaign
  std::string ranking = {};     // empty: deficit, or that of the campaign
  // None: what the campaign has, if anything. Empty or off: lifts it.
  std::optional<std::string> cost = {};
  std::vector<std::string> require = {};
  std::vector<std::string> exclude = {};
  std::optional<bool> skip_outliers = {};
};

// Settings that were typed, of the fit and of choosing; without the batch.
Values given_settings(const ChoiceOptions& choice, const Values& given_fit);

void add_table_options(Command& command, TablePaths& tables);
void add_aim_option(Command& command, std::string& path);
void add_choice_options(Command& command, ChoiceOptions& options);

// The kind of its models: that given, or what "auto" has come to.
std::string_view model_name_of(const Campaign& campaign);

// "no further row of the 12 left meets the conditions"
std::string none_allowed_text(std::size_t num_left);

}  // namespace dissent::cli
