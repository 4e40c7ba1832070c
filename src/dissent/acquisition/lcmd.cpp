#include "dissent/acquisition/lcmd.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "dissent/acquisition/blocks.hpp"
#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/network/linear.hpp"

namespace dissent {
namespace {

constexpr std::size_t kCentres = 40;  // compared with a block at a time

struct Centres {
  std::size_t first = 0;        // number of the first one
  std::vector<float> features;  // [count][row length]
  std::vector<double> norms;    // squared

  std::size_t size() const { return norms.size(); }
  void add(const std::vector<float>& values) {
    features.insert(features.end(), values.begin(), values.end());
    double norm = 0;
    for (const float v : values) {
      norm += static_cast<double>(v) * static_cast<double>(v);
    }
    norms.push_back(norm);
  }
};

// Each candidate's nearest centre so far.
class Clusters {
 public:
  Clusters(const LastLayer& layers, ThreadPool* pool)
      : layers_(layers),
        pool_(pool),
        norms_(layers.num_rows),
        squared_(layers.num_rows, std::numeric_limits<double>::infinity()),
        centre_(layers.num_rows, 0) {
    for (const LastLayer::Block& block : layers.blocks) {
      const Panel<const float> hidden = block.hidden.panel();
      for (std::size_t r = 0; r < hidden.rows; ++r) {
        for (std::size_t b = 0; b < block.count; ++b) {
          norms_[block.begin + b] += static_cast<double>(hidden(r, b)) * static_cast<double>(hidden(r, b));
        }
      }
    }
  }

  std::span<const double> norms() const { return norms_; }
  double squared(std::size_t row) const { return squared_[row]; }
  std::size_t centre(std::size_t row) const { return centre_[row]; }

  void add(const Centres& centres) {
    for_blocks(pool_, layers_.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t) {
      const LastLayer::Block& block = layers_.blocks[at];
      const Panel<const float> hidden = block.hidden.panel();
      PanelBuffer<float> products(centres.size(), LastLayer::kBlock);
      affine(Affine<float>{.weight = centres.features.data(),
                           .weight_row_stride = hidden.rows,
                           .in = hidden,
                           .out = products.panel(),
                           .batch = block.count,
                           .factor = {}});
      for (std::size_t c = 0; c < centres.size(); ++c) {
        const float* row = products.panel().row(c);
        for (std::size_t b = 0; b < block.count; ++b) {
          const std::size_t n = block.begin + b;
          const double squared = std::max(0.0, norms_[n] + centres.norms[c] - 2 * static_cast<double>(row[b]));
          if (squared < squared_[n]) {
            squared_[n] = squared;
            centre_[n] = centres.first + c;
          }
        }
      }
    });
  }

  // A row that is a centre itself has no distance from it, whatever rounding says.
  void claim(std::size_t row, std::size_t centre) {
    squared_[row] = 0;
    centre_[row] = centre;
  }

  // The centre with the largest sum of squared distances; the first of equals.
  std::size_t largest(std::size_t num_centres) const {
    std::vector<double> size(num_centres);
    for (std::size_t n = 0; n < squared_.size(); ++n) {
      size[centre_[n]] += squared_[n];
    }
    return static_cast<std::size_t>(std::ranges::max_element(size) - size.begin());
  }

 private:
  const LastLayer& layers_;
  ThreadPool* pool_;
  std::vector<double> norms_;
  std::vector<double> squared_;
  std::vector<std::size_t> centre_;
};

}  // namespace

Choice lcmd(const AcquisitionTask& task, std::span<const double> candidates) {
  const LastLayer layers = last_layer(task.model, candidates, false, task.pool);
  const LastLayer training = last_layer(task.model, task.training.inputs, false, task.pool);
  Clusters clusters(layers, task.pool);
  std::size_t num_centres = 0;
  while (num_centres < training.num_rows) {
    Centres centres{.first = num_centres, .features = {}, .norms = {}};
    for (; num_centres < training.num_rows && centres.size() < kCentres; ++num_centres) {
      centres.add(training.hidden_of(num_centres));
    }
    clusters.add(centres);
  }
  Choice choice;
  GreedyPicks picks(task.stream, layers.num_rows);
  for (std::size_t pick = 0; pick < task.batch; ++pick) {
    const std::size_t largest = num_centres == 0 ? 0 : clusters.largest(num_centres);
    // Rows of the largest cluster first; others only when all its rows are taken.
    const Ranked best = picks.take_best([&](std::size_t n) {
      return num_centres == 0
                 ? Ranked{.second = clusters.norms()[n]}
                 : Ranked{.score = clusters.centre(n) == largest ? 1.0 : 0.0, .second = clusters.squared(n)};
    });
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
