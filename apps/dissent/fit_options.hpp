// The options of fitting, the same in every command that fits: fit, suggest, learn, ask and tell.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/options.hpp"
#include "dissent/table/table.hpp"

namespace dissent::cli {

struct FitOptions {
  std::string model = "flow";
  std::size_t components = 5;
  std::vector<std::size_t> hidden;
  std::vector<double> weights;
  std::string scaling = "minmax";
  bool no_masks = false;
  bool no_bootstrap = false;
  bool same_weights = false;
  bool share_weights = false;
  std::string preset = "default";
  std::optional<std::size_t> epochs;
  std::optional<std::size_t> batch_size;
  std::optional<double> learning_rate;
  std::optional<double> validation;
  std::uint64_t seed = 0;

  // InputError for values out of range.
  EnsembleOptions ensemble() const;
  TrainOptions train() const;
};

// Which columns of a table are predicted, and from which.
struct ColumnOptions {
  std::vector<std::string> targets;
  std::vector<std::string> inputs;  // empty: every column that is not a target

  // InputError for a name given twice or as both; the inputs found in `table`.
  std::vector<std::string> input_names(const Table& table) const;
};

// The help lists them under a heading of their own.
inline constexpr const char* kFitGroup = "Fit options";
void add_fit_options(CLI::App& command, FitOptions& options);
void add_column_options(CLI::App& command, ColumnOptions& options, bool required);

// "epoch 40/200, loss 1.310, validation 1.402"
std::string loss_text(const FitProgress& progress);

}  // namespace dissent::cli
