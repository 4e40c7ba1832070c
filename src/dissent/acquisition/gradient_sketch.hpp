// Random projections of the gradients of all components' means with respect to the parameters of all their layers.
//
// Layer l maps h_l to W_l h_l + b_l. The gradient of a direction s in the space of outputs (<s, means>) with respect to
// (W_l, b_l) is the outer product of delta_l(s), which comes back from s through the layers above, and (h_l, 1). So
//   <gradient, gradient'> = sum over layers of <delta_l, delta'_l> (<h_l, h'_l> + 1).
// Feature k projects each factor onto a vector of standard normal values and multiplies (Holzmueller et al. 2023):
//   f_k = 1/sqrt(K) sum_m sqrt(M w_m) sum_l <u_kml, delta_ml(s_k)> <v_kml, (h_ml, 1)>.
// Averaged over draws, <f, f'> is the inner product of the gradients of all means, summed over outputs and components;
// no outer product is ever formed. Features share directions s in groups, to save backward passes: up to
// kMostDirections outputs have a group each, with s = sqrt(D) times their unit vector; with more outputs, s holds
// random signs. At the heads delta is s itself, and sqrt(D) stands for <u, s>, whose mean square is D.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/acquisition/row_features.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

class GradientSketch {
 public:
  static constexpr std::size_t kFeatures = 512;  // K, as its authors recommend
  static constexpr std::size_t kMostDirections = 16;

  // Projections of one layer of one component. Those of the inputs include the factor sqrt(M w_m / K), at the heads
  // also sqrt(D).
  struct Layer {
    std::vector<float> delta;  // u: [K][outputs of the layer]; none at the heads
    std::vector<float> input;  // v: [K][inputs of the layer] ...
    std::vector<float> bias;   // ... and [K] for the 1
  };

  // The model must have networks and outlive the sketch.
  GradientSketch(const Ensemble& model, Stream& draw);

  // A panel for each block of rows; not copyable, since views point to it.
  struct Features {
    Features() = default;
    Features(Features&&) = default;
    PanelBuffer<float> values;  // the blocks' panels of K rows, one below the other
    std::size_t num_rows = 0;
    RowFeatures view() const;
  };

  // `inputs`: [N][C], finite, in the user's units.
  Features features(std::span<const double> inputs, Executor* executor) const;

  const Layer& layer(std::size_t component, std::size_t l) const { return layers_[component][l]; }
  std::size_t num_directions() const { return directions_.size() / num_outputs_; }
  std::span<const float> direction(std::size_t g) const {
    return std::span(directions_).subspan(g * num_outputs_, num_outputs_);
  }
  // Features [first_feature(g), first_feature(g + 1)) have direction g.
  std::size_t first_feature(std::size_t g) const { return g * kFeatures / num_directions(); }

 private:
  struct Scratch;
  void forward(std::size_t component, const RowBlock& rows, Scratch& scratch) const;
  void backward(std::size_t component, std::size_t g, std::size_t count, Scratch& scratch) const;
  void add_products(std::size_t component, std::size_t g, std::size_t count, Scratch& scratch,
                    Panel<float> features) const;

  const Ensemble& model_;
  std::size_t num_outputs_;
  std::vector<float> directions_;           // [G][D]
  std::vector<std::vector<Layer>> layers_;  // of each component
};

}  // namespace dissent
