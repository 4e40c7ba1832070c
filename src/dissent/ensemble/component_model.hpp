// ComponentModel: the components of an ensemble, whatever they are made of. An Ensemble owns one, and the OutputMap
// that maps their base values to outputs.
//
// To add a kind of model: derive from ComponentModel, in its own file (network_model.hpp is the one to copy), and give
// the kind a value of enum Model and a row of the registry (model_kind.cpp), with the functions that make, load and
// train it. Nothing else asks for the kind. M components, D outputs; matrices are row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dissent/array/array.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/ensemble/row_blocks.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

// What one component's network computes for a block of rows, as panels with a column for each row.
struct HeadBlock {
  std::size_t begin = 0;  // the first row
  std::size_t count = 0;
  std::size_t component = 0;
  Panel<const float> hidden;  // activations of the last hidden layer
  Panel<const float> heads;   // D means and D log-stddevs in scaled units, as in predictions; no rows unless asked for
};
using VisitHeads = std::function<void(const HeadBlock& block)>;

// Arrays of a model file by name. Whole numbers are stored here; other arrays are views of the model's data.
struct NamedArrays {
  std::vector<std::pair<std::string, ArrayView>> arrays;
  std::deque<std::vector<std::int64_t>> wholes;

  void add(std::string name, ArrayView array) { arrays.emplace_back(std::move(name), array); }
  void add_wholes(std::string name, std::span<const std::uint32_t> values) {
    add(std::move(name), ArrayView(wholes.emplace_back(values.begin(), values.end())));
  }
};

class ComponentModel {
 public:
  virtual ~ComponentModel() = default;
  virtual std::unique_ptr<ComponentModel> clone() const = 0;

  virtual std::size_t num_components() const = 0;

  // All that a fit learns, including the parameters of the output map, as one block. Models fitted to the same rows are
  // the same if these bits are.
  virtual std::span<const float> parameters() const = 0;

  // What one thread needs for blocks of up to kModelBlock rows; the model must outlive it.
  struct Scratch {
    virtual ~Scratch() = default;
  };
  virtual std::unique_ptr<Scratch> make_scratch() const = 0;

  // Means and stddevs [count][M][D] of the rows, in `units` (offset + scale * the scaled value).
  virtual void predict(const RowBlock& rows, const Scaling& units, Scratch& scratch, std::span<double> mean,
                       std::span<double> stddev) const = 0;
  // The same in scaled units and single precision, for scoring.
  virtual void predict(const RowBlock& rows, Scratch& scratch, std::span<float> mean,
                       std::span<float> stddev) const = 0;

  // From now on no prediction is more certain than at the most certain of these inputs (Ensemble::limit_certainty).
  virtual void limit_certainty(const Scaling& input_scaling, std::span<const double> inputs, Executor* executor) = 0;
  // From now on every stddev of output d is factors[d] times what it was; all > 0 (Ensemble::scale_spread).
  virtual void scale_spread(std::span<const double> factors) = 0;

  // Adds what a file must hold for ModelKind::load to make the same model again.
  virtual void add_arrays(NamedArrays& to) const = 0;

 protected:
  ComponentModel() = default;
  ComponentModel(const ComponentModel&) = default;
  ComponentModel& operator=(const ComponentModel&) = default;
};

}  // namespace dissent
