#include "dissent/acquisition/lcmd.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "dissent/acquisition/blocks.hpp"
#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/nearest_kernel.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/network/linear.hpp"

namespace dissent {
namespace {

constexpr std::size_t kCentres = 40;  // compared with a block at a time

struct Centres {
  std::size_t first = 0;        // number of the first one
  std::vector<float> features;  // [count][row length]
  std::vector<float> norms;     // squared

  void add(const std::vector<float>& values) {
    features.insert(features.end(), values.begin(), values.end());
    double norm = 0;
    for (const float v : values) {
      norm += static_cast<double>(v) * static_cast<double>(v);
    }
    norms.push_back(static_cast<float>(norm));
  }
};

// Each candidate's nearest centre so far.
class Clusters {
 public:
  Clusters(const LastLayer& layers, ThreadPool* pool)
      : layers_(layers),
        pool_(pool),
        norms_(padded_batch(layers.num_rows)),
        gap_(padded_batch(layers.num_rows), std::numeric_limits<float>::infinity()),
        centre_(padded_batch(layers.num_rows), 0) {
    for (const LastLayer::Block& block : layers.blocks) {
      const Panel<const float> hidden = block.hidden.panel();
      for (std::size_t r = 0; r < hidden.rows; ++r) {
        for (std::size_t b = 0; b < block.count; ++b) {
          norms_[block.begin + b] += hidden(r, b) * hidden(r, b);
        }
      }
    }
  }

  double norm(std::size_t row) const { return static_cast<double>(norms_[row]); }
  double squared(std::size_t row) const { return std::max(0.0, norm(row) + static_cast<double>(gap_[row])); }
  std::size_t centre(std::size_t row) const { return static_cast<std::size_t>(centre_[row]); }

  void add(const Centres& centres) {
    for_blocks(pool_, layers_.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t) {
      const LastLayer::Block& block = layers_.blocks[at];
      const Panel<const float> hidden = block.hidden.panel();
      PanelBuffer<float> products(centres.norms.size(), LastLayer::kBlock);
      affine(Affine<float>{.weight = centres.features.data(),
                           .weight_row_stride = hidden.rows,
                           .in = hidden,
                           .out = products.panel(),
                           .batch = block.count,
                           .factor = {}});
      nearest_centres({.products = products.panel(),
                       .norms = centres.norms.data(),
                       .first = static_cast<std::int32_t>(centres.first),
                       .count = block.count,
                       .gap = gap_.data() + block.begin,
                       .centre = centre_.data() + block.begin});
    });
  }

  // A row that is a centre itself has no distance from it, whatever rounding says.
  void claim(std::size_t row, std::size_t centre) {
    gap_[row] = -norms_[row];
    centre_[row] = static_cast<std::int32_t>(centre);
  }

  // The centre with the largest sum of squared distances; the first of equals.
  std::size_t largest(std::size_t num_centres) const {
    std::vector<double> size(num_centres);
    for (std::size_t n = 0; n < layers_.num_rows; ++n) {
      size[centre(n)] += squared(n);
    }
    return static_cast<std::size_t>(std::ranges::max_element(size) - size.begin());
  }

 private:
  const LastLayer& layers_;
  ThreadPool* pool_;
  AlignedVector<float> norms_;          // |row|^2
  AlignedVector<float> gap_;            // squared distance to the nearest centre, less |row|^2
  AlignedVector<std::int32_t> centre_;  // the nearest
};

}  // namespace

Choice lcmd(const AcquisitionTask& task, std::span<const double> candidates) {
  const LastLayer layers = last_layer(task.model, candidates, false, task.pool);
  const LastLayer training = last_layer(task.model, task.training.inputs, false, task.pool);
  Clusters clusters(layers, task.pool);
  std::size_t num_centres = 0;
  while (num_centres < training.num_rows) {
    Centres centres{.first = num_centres, .features = {}, .norms = {}};
    for (; num_centres < training.num_rows && centres.norms.size() < kCentres; ++num_centres) {
      centres.add(training.hidden_of(num_centres));
    }
    clusters.add(centres);
  }
  Choice choice;
  GreedyPicks picks(task.stream, layers.num_rows, task.utilities);
  for (std::size_t pick = 0; pick < task.batch; ++pick) {
    const std::size_t largest = num_centres == 0 ? 0 : clusters.largest(num_centres);
    // Rows of the largest cluster first; others only when all its rows are taken.
    const auto rank = [&](std::size_t n) {
      return num_centres == 0
                 ? Ranked{.score = 1, .second = clusters.norm(n)}
                 : Ranked{.score = clusters.centre(n) == largest ? 1.0 : 0.0, .second = clusters.squared(n)};
    };
    const Ranked best = picks.take_best(
        rank, [](const Ranked& row) { return row.score > 0 ? row.second : -std::numeric_limits<double>::infinity(); });
    choice.rows.push_back(best.row);
    choice.scores.push_back(best.second);
    Centres centre{.first = num_centres++, .features = {}, .norms = {}};
    centre.add(layers.hidden_of(best.row));
    clusters.add(centre);
    clusters.claim(best.row, centre.first);
  }
  return choice;
}

}  // namespace dissent
