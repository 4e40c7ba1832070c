// badge: k-means++ on gradients of the negative log-likelihood with respect to the components' last layers (BADGE, Ash
// et al. 2020, carried over to regression).
//
// Each row gets one target, drawn from the mixture (for a flow, in base space), and every component's gradient at it;
// their concatenation is the row's embedding. So a row's embedding is long where components disagree. The first pick is
// the longest; each next one is drawn with probability proportional to the squared distance to the nearest pick.
// Pending rows count as earlier picks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/matrix/linear.hpp"
#include "dissent/network/gaussian.hpp"

namespace dissent {
namespace {

constexpr float kSteepest = 1e18F;  // of a gradient; steeper or undefined ones are set to it
constexpr double kLongest = 1e30;   // squared gradients beyond it are scaled down, to stay within the range of a float

// targets[d][b]: one draw from the mixture for each row of the block.
void draw_targets(const Ensemble& model, const Stream& stream, const LastLayer& layers, const LastLayer::Block& block,
                  Panel<float> targets) {
  const std::size_t D = model.num_outputs();
  for (std::size_t b = 0; b < block.count; ++b) {
    Stream draw = stream.substream(kTargetDraw + block.begin + b);
    double left = draw.uniform();
    std::size_t m = 0;
    while (m + 1 < model.num_components() && left >= model.weights().value[m]) {
      left -= model.weights().value[m++];
    }
    const Panel<const float> heads = layers.heads(block, m);
    for (std::size_t d = 0; d < D; ++d) {
      const double log_stddev =
          std::clamp(static_cast<double>(heads(D + d, b)), kGaussian.log_stddev_min, kGaussian.log_stddev_max);
      targets(d, b) = static_cast<float>(static_cast<double>(heads(d, b)) + std::exp(log_stddev) * draw.normal());
    }
  }
}

// Replaces heads by the gradients with respect to them, divided by kBlock D: the loss is a mean over a whole block and
// D outputs.
void take_gradients(const Ensemble& model, const Stream& stream, const LastLayer& layers,
                    const LastLayer::Block& block) {
  PanelBuffer<float> targets(model.num_outputs(), LastLayer::kBlock);
  draw_targets(model, stream, layers, block, targets.panel());
  for (std::size_t m = 0; m < model.num_components(); ++m) {
    const Panel<float> heads = block.heads.slice(m * layers.num_heads, layers.num_heads);
    gaussian_nll_gradient(kGaussian, heads, targets.panel(), LastLayer::kBlock);
    for (std::size_t r = 0; r < heads.rows; ++r) {
      std::transform(heads.row(r), heads.row(r) + block.count, heads.row(r),
                     [](float g) { return g > -kSteepest ? std::min(g, kSteepest) : -kSteepest; });
    }
  }
}

// Inner products of the gradients of all rows with a given one.
class GradientProducts {
 public:
  GradientProducts(LastLayer& layers, Executor* executor)
      : layers_(layers), executor_(executor), norms_(layers.num_rows) {
    for_blocks(executor_, layers_.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t) { add_norms(at); });
    const double longest = *std::ranges::max_element(norms_);
    if (longest > kLongest) {
      const double factor = kLongest / longest;
      const Panel<float> heads = layers.all_heads.panel();
      std::for_each_n(heads.data, heads.rows * heads.stride,
                      [&](float& g) { g = static_cast<float>(static_cast<double>(g) * std::sqrt(factor)); });
      std::ranges::for_each(norms_, [&](double& norm) { norm *= factor; });
      unit_ = 1 / factor;
    }
  }

  double unit() const { return unit_; }  // the squared length that counts as 1

  std::span<const double> norms() const { return norms_; }  // squared

  void distances(std::size_t centre, std::span<double> squared) const {
    const std::vector<float> hidden = layers_.hidden_of(centre);
    const std::vector<float> heads = layers_.heads_of(centre);
    for_blocks(executor_, layers_.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t) {
      const LastLayer::Block& block = layers_.blocks[at];
      const std::span<double> out = squared.subspan(block.begin, block.count);
      std::ranges::fill(out, 0.0);
      PanelBuffer<float> dots(2, LastLayer::kBlock);
      for (std::size_t m = 0; m < layers_.num_components(); ++m) {
        dot(layers_.heads(block, m), heads.data() + m * layers_.num_heads, block.count, dots.panel().slice(0, 1));
        dot(layers_.hidden(block, m), hidden.data() + layers_.hidden_offset[m], block.count, dots.panel().slice(1, 1));
        for (std::size_t b = 0; b < block.count; ++b) {
          out[b] += static_cast<double>(dots.panel()(0, b)) * static_cast<double>(dots.panel()(1, b));
        }
      }
      for (std::size_t b = 0; b < block.count; ++b) {
        out[b] = std::max(0.0, norms_[block.begin + b] + norms_[centre] - 2 * out[b]);
      }
    });
    squared[centre] = 0;
  }

 private:
  static void dot(Panel<const float> rows, const float* with, std::size_t count, Panel<float> out) {
    affine(Affine<float>{
        .weight = with, .weight_row_stride = rows.rows, .in = rows, .out = out, .batch = count, .factor = {}});
  }

  void add_norms(std::size_t at) {
    const LastLayer::Block& block = layers_.blocks[at];
    const auto squares = [&](Panel<const float> panel, std::span<double> sums) {
      std::ranges::fill(sums, 0.0);
      for (std::size_t r = 0; r < panel.rows; ++r) {
        for (std::size_t b = 0; b < block.count; ++b) {
          sums[b] += static_cast<double>(panel(r, b)) * static_cast<double>(panel(r, b));
        }
      }
    };
    std::vector<double> hidden(block.count);
    std::vector<double> heads(block.count);
    for (std::size_t m = 0; m < layers_.num_components(); ++m) {
      squares(layers_.hidden(block, m), hidden);
      squares(layers_.heads(block, m), heads);
      for (std::size_t b = 0; b < block.count; ++b) {
        norms_[block.begin + b] += hidden[b] * heads[b];
      }
    }
  }

  const LastLayer& layers_;
  Executor* executor_;
  std::vector<double> norms_;
  double unit_ = 1;
};

void note(std::span<const double> nearest, std::span<const char> taken, std::vector<double>& utilities) {
  for (std::size_t n = 0; n < nearest.size(); ++n) {
    utilities.push_back(taken[n] != 0 ? std::numeric_limits<double>::quiet_NaN() : nearest[n]);
  }
}

// Draws a row with probability proportional to its squared distance, again if it is taken.
std::size_t draw_row(std::span<const double> nearest, std::span<const char> taken,
                     const std::function<double()>& uniform) {
  const std::size_t num_rows = nearest.size();
  double total = 0;
  for (std::size_t n = 0; n < num_rows; ++n) {
    total += taken[n] != 0 ? 0 : nearest[n];
  }
  std::size_t row = num_rows;
  while (row == num_rows || taken[row] != 0) {
    const double u = uniform();
    if (!(total > 0)) {
      row = std::min(num_rows - 1, static_cast<std::size_t>(u * static_cast<double>(num_rows)));
      continue;
    }
    double sum = 0;
    for (row = 0; row + 1 < num_rows; ++row) {
      sum += taken[row] != 0 ? 0 : nearest[row] / total;
      if (sum >= u) {
        break;
      }
    }
  }
  return row;
}

}  // namespace

Choice k_means_plus_plus(std::size_t num_rows, const KMeansPlusPlus& task) {
  Choice choice;
  std::vector<double> nearest(num_rows, std::numeric_limits<double>::infinity());
  std::vector<double> squared(num_rows + task.num_known);
  std::vector<char> taken(num_rows, 0);
  const auto approach = [&](std::size_t centre) {
    task.distances(centre, squared);
    std::transform(nearest.begin(), nearest.end(), squared.begin(), nearest.begin(),
                   [](double a, double b) { return std::min(a, b); });
  };
  const auto take = [&](std::size_t row, double score) {
    choice.rows.push_back(row);
    choice.scores.push_back(score);
    taken[row] = 1;
  };
  for (std::size_t row = num_rows; row < squared.size(); ++row) {
    approach(row);
  }
  if (task.num_known == 0) {
    take(task.first, task.first_score);
  }
  while (choice.rows.size() < task.batch) {
    if (!choice.rows.empty()) {
      approach(choice.rows.back());
    }
    if (task.utilities != nullptr) {
      note(nearest, taken, *task.utilities);
    }
    const std::size_t row = draw_row(nearest, taken, task.uniform);
    take(row, nearest[row]);
  }
  return choice;
}

Choice badge(const AcquisitionTask& task, std::span<const double> candidates) {
  std::vector<double> rows(candidates.begin(), candidates.end());
  rows.insert(rows.end(), task.pending.begin(), task.pending.end());
  LastLayer layers = last_layer(task.model, rows, true, task.executor);
  for_blocks(task.executor, layers.blocks.size(), 1, [&](std::size_t at, std::size_t, std::size_t) {
    take_gradients(task.model, task.stream, layers, layers.blocks[at]);
  });
  const GradientProducts products(layers, task.executor);
  const std::size_t num_known = task.pending.size() / task.model.num_input_columns();
  const std::size_t num_rows = layers.num_rows - num_known;
  Ranked first;
  if (num_known == 0) {
    first = GreedyPicks(task.stream, num_rows, task.utilities).take_best([&](std::size_t n) {
      return Ranked{.score = products.norms()[n]};
    });
  }
  Stream draw = task.stream.substream(kMethodDraw);
  Choice choice = k_means_plus_plus(
      num_rows,
      {.first = first.row,
       .first_score = first.score,
       .num_known = num_known,
       .batch = task.batch,
       .distances = [&](std::size_t centre, std::span<double> squared) { products.distances(centre, squared); },
       .uniform = [&] { return draw.uniform(); },
       .utilities = task.utilities});
  const auto terms = static_cast<double>(LastLayer::kBlock * task.model.num_outputs());
  const auto scale = [&](std::vector<double>& values) {
    std::ranges::for_each(values, [&](double& value) { value *= products.unit() * terms * terms; });
  };
  scale(choice.scores);
  if (task.utilities != nullptr) {
    scale(*task.utilities);
  }
  return choice;
}

}  // namespace dissent
