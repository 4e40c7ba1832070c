// bait: the batch that leaves the least Fisher information unexplained (BAIT, Ash et al. 2021; bait_select.hpp).
//
// The Fisher information of a Gaussian's last layer has a closed form, so no target is sampled: it is block diagonal
// with a block for each head, c(x) h h', where h = (last hidden activations, 1) and c is 1 / stddev^2 for a mean and 2
// for a log-stddev. Each component has its own blocks; the D blocks of a component's log-stddevs are equal.
#include <algorithm>
#include <cmath>
#include <vector>

#include "dissent/acquisition/bait_select.hpp"
#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/ensemble/network_model.hpp"

namespace dissent {
namespace {

constexpr double kLambda = 0.01;

struct BaitLayers {
  LastLayer candidates;
  LastLayer training;
  LastLayer pending;
};

// The blocks of component m: one for each mean head, and one for all log-stddevs.
BaitGroup component_group(const Ensemble& model, const BaitLayers& of, std::size_t m) {
  const std::size_t D = model.num_outputs();
  const auto fill = [&](const LastLayer& layers, PanelBuffer<double>& h, PanelBuffer<double>& scale) {
    h = PanelBuffer<double>(layers.hidden_offset[m + 1] - layers.hidden_offset[m], layers.num_rows);
    scale = PanelBuffer<double>(D + 1, layers.num_rows);
    for (const LastLayer::Block& block : layers.blocks) {
      const Panel<const float> hidden = layers.hidden(block, m);
      const Panel<const float> heads = layers.heads(block, m);
      for (std::size_t r = 0; r < hidden.rows; ++r) {
        std::copy_n(hidden.row(r), block.count, h.panel().row(r) + block.begin);
      }
      for (std::size_t d = 0; d < D; ++d) {
        for (std::size_t b = 0; b < block.count; ++b) {
          const double log_stddev =
              std::clamp(static_cast<double>(heads(D + d, b)), kGaussian.log_stddev_min, kGaussian.log_stddev_max);
          scale.panel()(d, block.begin + b) = std::exp(-2 * log_stddev);
        }
      }
      std::fill_n(scale.panel().row(D) + block.begin, block.count, 2.0);
    }
  };
  BaitGroup group;
  fill(of.candidates, group.candidates, group.candidate_scale);
  fill(of.training, group.training, group.training_scale);
  fill(of.pending, group.pending, group.pending_scale);
  group.multiplicity.assign(D + 1, 1);
  group.multiplicity[D] = static_cast<double>(D);
  return group;
}

}  // namespace

Choice bait(const AcquisitionTask& task, std::span<const double> candidates) {
  const auto layers = [&](std::span<const double> inputs) {
    return last_layer(task.model, inputs, true, task.executor);
  };
  const BaitLayers of{layers(candidates), layers(task.training.inputs), layers(task.pending)};
  const std::size_t num_rows = of.candidates.num_rows;
  std::vector<BaitGroup> groups;
  for (std::size_t m = 0; m < task.model.num_components(); ++m) {
    groups.push_back(component_group(task.model, of, m));
  }
  std::vector<double> gains;
  const BaitResult result = bait_select(groups, {.num_candidates = num_rows,
                                                 .num_training = of.training.num_rows,
                                                 .num_pending = of.pending.num_rows,
                                                 .batch = task.batch,
                                                 .lambda = kLambda,
                                                 .stream = task.stream,
                                                 .executor = task.executor,
                                                 .gains = task.utilities == nullptr ? nullptr : &gains});
  Choice choice;
  for (std::size_t k = 0; k < result.added.size(); ++k) {
    if (std::ranges::find(result.removed, result.added[k]) == result.removed.end()) {
      choice.rows.push_back(result.added[k]);
      choice.scores.push_back(result.gains[k]);
      if (task.utilities != nullptr) {
        const auto from = gains.begin() + static_cast<std::ptrdiff_t>(k * num_rows);
        task.utilities->insert(task.utilities->end(), from, from + static_cast<std::ptrdiff_t>(num_rows));
      }
    }
  }
  return choice;
}

}  // namespace dissent
