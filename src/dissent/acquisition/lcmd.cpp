// lcmd: largest-cluster-maximum-distance (Holzmueller et al. 2023), with training rows as the first centres.
//
// Every candidate belongs to its nearest centre; a cluster's size is the sum of its rows' squared distances. The next
// pick is the row farthest from its centre in the largest cluster, and becomes a centre. Without training rows the
// first pick is the row with the longest features. Of clusters of the same size the one with the farthest row is taken,
// and of rows as far as each other the one the random stream says.
//
// Distances are those of gradient features: the gradients of the components' mean heads with respect to their last
// layers. The gradient of output d is (last hidden activations, 1) in the place of d and zero elsewhere, so the squared
// distance is D times the one of the activations, which are what is compared.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/nearest_kernel.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/matrix/linear.hpp"

namespace dissent {
namespace {

constexpr std::size_t kCentresAtATime = 40;  // compared with a block

// Centres, and each candidate's nearest of them.
class Clusters {
 public:
  Clusters(const LastLayer& layers, Executor* executor)
      : layers_(layers),
        executor_(executor),
        products_(num_threads(executor)),
        norms_(padded_batch(layers.num_rows)),
        gap_(padded_batch(layers.num_rows), std::numeric_limits<float>::infinity()),
        centre_(padded_batch(layers.num_rows), 0) {
    for_blocks(executor_, layers.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t) {
      const LastLayer::Block& block = layers_.blocks[at];
      for (std::size_t r = 0; r < block.hidden.rows; ++r) {
        for (std::size_t b = 0; b < block.count; ++b) {
          norms_[block.begin + b] += block.hidden(r, b) * block.hidden(r, b);
        }
      }
    });
  }

  std::size_t num_centres() const { return centre_norms_.size(); }
  std::size_t centre(std::size_t row) const { return static_cast<std::size_t>(centre_[row]); }
  double norm(std::size_t row) const { return static_cast<double>(norms_[row]); }
  double squared(std::size_t row) const { return std::max(0.0, norm(row) + static_cast<double>(gap_[row])); }

  void add_centre(const std::vector<float>& features) {
    centres_.insert(centres_.end(), features.begin(), features.end());
    double norm = 0;
    for (const float v : features) {
      norm += static_cast<double>(v) * static_cast<double>(v);
    }
    centre_norms_.push_back(static_cast<float>(norm));
  }

  // Compares all rows with the centres from `first` on.
  void assign(std::size_t first) {
    for_blocks(executor_, layers_.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t thread) {
      const LastLayer::Block& block = layers_.blocks[at];
      if (products_[thread].capacity() == 0) {
        products_[thread] = PanelBuffer<float>(kCentresAtATime, LastLayer::kBlock);
      }
      for (std::size_t c = first; c < num_centres(); c += kCentresAtATime) {
        const Panel<float> products = products_[thread].panel(std::min(kCentresAtATime, num_centres() - c));
        affine(Affine<float>{.weight = centres_.data() + c * block.hidden.rows,
                             .weight_row_stride = block.hidden.rows,
                             .in = block.hidden,
                             .out = products,
                             .batch = block.count,
                             .factor = {}});
        nearest_centres({.products = products,
                         .norms = centre_norms_.data() + c,
                         .first = static_cast<std::int32_t>(c),
                         .count = block.count,
                         .gap = gap_.data() + block.begin,
                         .centre = centre_.data() + block.begin});
      }
    });
  }

  // Makes the row a centre. It has no distance from itself, whatever rounding says.
  void claim(std::size_t row) {
    add_centre(layers_.hidden_of(row));
    assign(num_centres() - 1);
    gap_[row] = -norms_[row];
    centre_[row] = static_cast<std::int32_t>(num_centres() - 1);
  }

  // Sums of squared distances. Without centres one cluster holds all rows.
  std::vector<double> sizes() const {
    std::vector<double> size(std::max<std::size_t>(1, num_centres()));
    for (std::size_t n = 0; n < layers_.num_rows && num_centres() > 0; ++n) {
      size[centre(n)] += squared(n);
    }
    return size;
  }

 private:
  const LastLayer& layers_;
  Executor* executor_;
  std::vector<PanelBuffer<float>> products_;  // of each thread
  std::vector<float> centres_;                // [centres][row length]
  std::vector<float> centre_norms_;           // |centre|^2
  AlignedVector<float> norms_;                // |row|^2
  AlignedVector<float> gap_;                  // squared distance to the nearest centre, less |row|^2
  AlignedVector<std::int32_t> centre_;        // the nearest
};

}  // namespace

Choice lcmd(const AcquisitionTask& task, std::span<const double> candidates) {
  const LastLayer layers = last_layer(task.model, candidates, false, task.executor);
  const LastLayer training = last_layer(task.model, task.training.inputs, false, task.executor);
  Clusters clusters(layers, task.executor);
  // A row as far from one centre as from another belongs to the one that comes first here.
  std::vector<std::size_t> order(training.num_rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  task.stream.substream(kMethodDraw).shuffle(std::span(order));
  for (const std::size_t row : order) {
    clusters.add_centre(training.hidden_of(row));
  }
  clusters.assign(0);
  Choice choice;
  GreedyPicks picks(task.stream, layers.num_rows, task.utilities);
  for (std::size_t pick = 0; pick < task.batch; ++pick) {
    const std::vector<double> sizes = clusters.sizes();
    const bool any = clusters.num_centres() > 0;
    const auto rank = [&](std::size_t n) {
      return Ranked{.score = sizes[clusters.centre(n)], .second = any ? clusters.squared(n) : clusters.norm(n)};
    };
    const double largest = *std::ranges::max_element(sizes);
    const Ranked best = picks.take_best(rank, [&](const Ranked& row) {
      return row.score == largest ? row.second : -std::numeric_limits<double>::infinity();
    });
    choice.rows.push_back(best.row);
    choice.scores.push_back(best.second);
    clusters.claim(best.row);
  }
  return choice;
}

}  // namespace dissent
