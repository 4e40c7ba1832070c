// lcmd and lcmd-grad: largest-cluster-maximum-distance (Holzmueller et al. 2023), with training rows as the first
// centres.
//
// Every candidate belongs to its nearest centre; a cluster's size is the sum of its rows' squared distances. The next
// pick is the row farthest from its centre in the largest cluster, and becomes a centre. Without training rows the
// first pick is the row with the longest features. If clusters have the same size, the one with the farthest row is
// taken; if rows are equally far, the random stream decides. Pending rows are centres, like picks.
//
// lcmd measures distances between gradients of the components' mean heads with respect to their last layers. The
// gradient of output d is (last hidden activations, 1) in the place of d and zero elsewhere, so the squared distance is
// D times that of the activations, and lcmd compares those. lcmd-grad takes the gradients with respect to all layers,
// by random projections (gradient_sketch.hpp).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "dissent/acquisition/gradient_sketch.hpp"
#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/nearest_kernel.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/row_features.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/matrix/linear.hpp"

namespace dissent {
namespace {

constexpr std::size_t kCentresAtATime = 40;  // compared with a block

// Centres, and each candidate's nearest one.
class Clusters {
 public:
  Clusters(const RowFeatures& rows, Executor* executor)
      : rows_(rows),
        executor_(executor),
        products_(num_threads(executor)),
        norms_(padded_batch(rows.num_rows)),
        gap_(padded_batch(rows.num_rows), std::numeric_limits<float>::infinity()),
        centre_(padded_batch(rows.num_rows), 0) {
    for_blocks(executor_, rows.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t) {
      const RowFeatures::Block& block = rows_.blocks[at];
      for (std::size_t r = 0; r < block.values.rows; ++r) {
        for (std::size_t b = 0; b < block.count; ++b) {
          norms_[block.begin + b] += block.values(r, b) * block.values(r, b);
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
    for_blocks(executor_, rows_.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t thread) {
      const RowFeatures::Block& block = rows_.blocks[at];
      if (products_[thread].capacity() == 0) {
        products_[thread] = PanelBuffer<float>(kCentresAtATime, RowFeatures::kBlock);
      }
      for (std::size_t c = first; c < num_centres(); c += kCentresAtATime) {
        const Panel<float> products = products_[thread].panel(std::min(kCentresAtATime, num_centres() - c));
        affine(Affine<float>{.weight = centres_.data() + c * block.values.rows,
                             .weight_row_stride = block.values.rows,
                             .in = block.values,
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

  // Makes the row a centre. Its distance from itself is 0, whatever rounding says.
  void claim(std::size_t row) {
    add_centre(rows_.of(row));
    assign(num_centres() - 1);
    gap_[row] = -norms_[row];
    centre_[row] = static_cast<std::int32_t>(num_centres() - 1);
  }

  // Sums of squared distances. Without centres one cluster holds all rows.
  std::vector<double> sizes() const {
    std::vector<double> size(std::max<std::size_t>(1, num_centres()));
    for (std::size_t n = 0; n < rows_.num_rows && num_centres() > 0; ++n) {
      size[centre(n)] += squared(n);
    }
    return size;
  }

 private:
  const RowFeatures& rows_;
  Executor* executor_;
  std::vector<PanelBuffer<float>> products_;  // of each thread
  std::vector<float> centres_;                // [centres][row length]
  std::vector<float> centre_norms_;           // |centre|^2
  AlignedVector<float> norms_;                // |row|^2
  AlignedVector<float> gap_;                  // squared distance to the nearest centre, less |row|^2
  AlignedVector<std::int32_t> centre_;        // the nearest
};

RowFeatures hidden_features(const LastLayer& layers) {
  RowFeatures result{.num_rows = layers.num_rows, .blocks = {}};
  for (const LastLayer::Block& block : layers.blocks) {
    result.blocks.push_back({.begin = block.begin, .count = block.count, .values = block.hidden});
  }
  return result;
}

// What the choice compares.
struct Features {
  const RowFeatures& rows;
  const RowFeatures& training;
  const RowFeatures& pending;
};

Choice choose_from_clusters(const AcquisitionTask& task, const Features& of, Stream& draw) {
  const RowFeatures& rows = of.rows;
  Clusters clusters(rows, task.executor);
  // A row as far from one centre as from another belongs to the one that comes first here.
  std::vector<std::size_t> order(of.training.num_rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  draw.shuffle(std::span(order));
  for (const std::size_t row : order) {
    clusters.add_centre(of.training.of(row));
  }
  for (std::size_t row = 0; row < of.pending.num_rows; ++row) {
    clusters.add_centre(of.pending.of(row));
  }
  clusters.assign(0);
  Choice choice;
  GreedyPicks picks(task.stream, rows.num_rows, task.utilities);
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

}  // namespace

Choice lcmd(const AcquisitionTask& task, std::span<const double> candidates) {
  const LastLayer layers = last_layer(task.model, candidates, false, task.executor);
  const LastLayer training = last_layer(task.model, task.training.inputs, false, task.executor);
  const LastLayer pending = last_layer(task.model, task.pending, false, task.executor);
  Stream draw = task.stream.substream(kMethodDraw);
  return choose_from_clusters(task, {hidden_features(layers), hidden_features(training), hidden_features(pending)},
                              draw);
}

Choice lcmd_grad(const AcquisitionTask& task, std::span<const double> candidates) {
  Stream draw = task.stream.substream(kMethodDraw);
  const GradientSketch sketch(task.model, draw);
  const GradientSketch::Features features = sketch.features(candidates, task.executor);
  const GradientSketch::Features training = sketch.features(task.training.inputs, task.executor);
  const GradientSketch::Features pending = sketch.features(task.pending, task.executor);
  return choose_from_clusters(task, {features.view(), training.view(), pending.view()}, draw);
}

}  // namespace dissent
