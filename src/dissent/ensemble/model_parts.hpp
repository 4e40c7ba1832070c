// What an Ensemble is made of and fitted to, whatever its kind: rows, columns, the two parts that a model kind makes or
// loads, the trend and the wide component. C input columns, D targets; matrices are row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dissent/table/encoding.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

class ComponentModel;
class OutputMap;

// Row-major matrices [num_rows][names.size()] of finite numbers.
struct TrainingRows {
  std::vector<std::string> input_names;
  std::vector<std::string> target_names;
  std::span<const double> inputs;
  std::span<const double> targets;
  std::string source = {};                    // the file or table they come from, for messages
  TableEncoding encoding = {};                // how the inputs were made from its columns; empty: they are columns
  std::vector<std::size_t> row_numbers = {};  // in the source, if some of its rows are left out; empty: all are here
  std::span<const double> weights = {};       // [num_rows], how much each counts (row_weights.hpp); empty: all alike

  std::size_t row_number(std::size_t row) const { return row_numbers.empty() ? row : row_numbers[row]; }
};

// A straight line under targets that a line nearly explains (trend.hpp).
struct Trend {
  std::vector<double> centre;  // [C]
  std::vector<double> low;     // [C], inputs beyond are clamped to these: a line cannot be trusted everywhere
  std::vector<double> high;    // [C]
  std::vector<double> slope;   // [D][C], all zero for targets without a trend

  bool empty() const { return slope.empty(); }
  // Adds factor times the trend at each input to its values: [N][P][D], the same to all P of an input.
  void add(std::span<const double> inputs, std::size_t points_per_input, double factor, std::span<double> values) const;
  // InputError unless it is empty, or of these sizes, finite, and low <= high.
  void check_values(std::size_t num_input_columns, std::size_t num_outputs) const;
};

// What a log density falls back on (wide_component.hpp).
struct WideComponent {
  double weight = 0;  // in [0, 1); 0: there is none
  std::vector<double> centre;
  std::vector<double> scale;  // > 0

  bool empty() const { return weight == 0; }
  // ln p of a row of targets, given that of the ensemble.
  double mixed(double log_density, std::span<const double> targets) const;
  // InputError unless it is empty, or of this size, finite and positive where it must be.
  void check_values(std::size_t num_outputs) const;
};

// Names of the columns, and the statistics they are scaled with. A target fitted by its logarithm is scaled after the
// logarithm is taken.
struct EnsembleColumns {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  Scaling input_scaling;
  Scaling target_scaling;                    // of what the trend leaves
  std::vector<std::uint8_t> logarithm = {};  // [D], 1 for targets fitted by their logarithms; empty: none
  Trend trend = {};                          // never together with logarithms
  TableEncoding encoding = {};               // from a table's columns to the inputs; empty: they are its columns

  bool is_log(std::size_t target) const { return !logarithm.empty() && logarithm[target] != 0; }
  // The names of the targets fitted by their logarithms.
  std::vector<std::string> log_targets() const;
  // The columns of a table that the inputs come from.
  std::vector<std::string> source_columns() const;
};

// The parts of a model. A copy is an independent model.
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
