#include "dissent/acquisition/bait.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "dissent/acquisition/bait_kernel.hpp"
#include "dissent/acquisition/blocks.hpp"
#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/network/linear.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kColumns = 256;  // rows of the table worked on at a time
constexpr double kLambda = 0.01;

Panel<const double> columns(Panel<const double> panel, std::size_t begin) {
  return {panel.data + begin, panel.rows, panel.stride};
}

Panel<double> columns(Panel<double> panel, std::size_t begin) { return {panel.data + begin, panel.rows, panel.stride}; }

// products[k][n] = h_i(n) h_j(n) for j <= i, row by row of the triangle.
void fill_products(Panel<const double> h, std::size_t count, Panel<double> products) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < h.rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++k) {
      std::transform(h.row(i), h.row(i) + padded_batch(count), h.row(j), products.row(k), std::multiplies<>());
    }
  }
}

std::size_t triangle(std::size_t size) { return size * (size + 1) / 2; }

// sum_n scale[b][n] h h' for every block b.
std::vector<MatrixXd> information(Panel<const double> h, Panel<const double> scale, std::size_t count) {
  std::vector<double> sums(scale.rows * triangle(h.rows));
  PanelBuffer<double> products(triangle(h.rows), kColumns);
  for (std::size_t begin = 0; begin < count; begin += kColumns) {
    const std::size_t batch = std::min(kColumns, count - begin);
    fill_products(columns(h, begin), batch, products.panel());
    weight_gradient(WeightGradient<double>{
        .left = columns(scale, begin), .right = products.panel(), .batch = batch, .gradient = sums.data()});
  }
  std::vector<MatrixXd> result;
  for (std::size_t b = 0; b < scale.rows; ++b) {
    const double* at = sums.data() + b * triangle(h.rows);
    MatrixXd& matrix = result.emplace_back(static_cast<Index>(h.rows), static_cast<Index>(h.rows));
    for (Index i = 0; i < matrix.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        matrix(i, j) = matrix(j, i) = *at++;
      }
    }
  }
  return result;
}

// Of lambda I + a positive semidefinite matrix, which may be so large that lambda is lost in its rounding.
MatrixXd inverse(const MatrixXd& matrix, double lambda) {
  const MatrixXd identity = MatrixXd::Identity(matrix.rows(), matrix.cols());
  const Eigen::LLT<MatrixXd> factor(matrix + lambda * identity);
  if (factor.info() == Eigen::Success) {
    return factor.solve(identity);
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(matrix);
  const VectorXd values = eigen.eigenvalues().cwiseMax(0).array() + lambda;
  return eigen.eigenvectors() * values.cwiseInverse().asDiagonal() * eigen.eigenvectors().transpose();
}

// Rows of a table under consideration, with what is kept of them for each block.
struct Columns {
  Panel<const double> h;
  Panel<const double> scale;  // as a pick counts
  PanelBuffer<double> own;    // v'Av
  PanelBuffer<double> cross;  // v'AFAv
};

// One group: its blocks' matrices, and the candidates.
class Blocks {
 public:
  Blocks(const BaitGroup& group, const BaitTask& task)
      : group_(group), scale_(group.candidate_scale), num_rows_(task.num_candidates) {
    const double total = static_cast<double>(task.num_training + task.batch);
    fisher_ = information(group.candidates.panel(), group.candidate_scale.panel(), num_rows_);
    const std::vector<MatrixXd> known =
        information(group.training.panel(), group.training_scale.panel(), task.num_training);
    for (std::size_t b = 0; b < num_blocks(); ++b) {
      fisher_[b] /= static_cast<double>(num_rows_);
      inverse_.push_back(inverse(known[b] / total, task.lambda));
      fold(inverse_[b], folded_inverse_);
      fold(inverse_[b] * fisher_[b] * inverse_[b], folded_cross_);
    }
    const double share = static_cast<double>(task.batch) / total;
    std::for_each_n(scale_.panel().data, scale_.panel().rows * scale_.panel().stride, [&](double& c) { c *= share; });
    all_ = {group.candidates.panel(), std::as_const(scale_).panel(), PanelBuffer<double>(num_blocks(), num_rows_),
            PanelBuffer<double>(num_blocks(), num_rows_)};
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  std::size_t num_blocks() const { return group_.multiplicity.size(); }
  std::size_t length() const { return all_.h.rows; }

  // Sets own and cross of the candidates [begin, begin + count) and adds to their gain.
  void start(std::size_t begin, std::size_t count, double* gain) {
    PanelBuffer<double> products(triangle(length()), kColumns);
    fill_products(columns(all_.h, begin), count, products.panel());
    multiply(folded_inverse_, products.panel(), count, columns(all_.own.panel(), begin));
    multiply(folded_cross_, products.panel(), count, columns(all_.cross.panel(), begin));
    for (std::size_t b = 0; b < num_blocks(); ++b) {
      const double* scale = all_.scale.row(b) + begin;
      for (std::size_t k = 0; k < padded_batch(count); ++k) {
        all_.own.panel()(b, begin + k) *= scale[k];
        all_.cross.panel()(b, begin + k) *= scale[k];
        gain[begin + k] +=
            group_.multiplicity[b] * all_.cross.panel()(b, begin + k) / (1 + all_.own.panel()(b, begin + k));
      }
    }
  }

  // What changes when row `row` of `rows` is added (sign 1) or removed (sign -1): to be applied to columns, while the
  // matrices change at once.
  struct Change {
    std::vector<double> weight;  // [2 blocks][length]: u, then AFu
    std::vector<double> shrink;
    std::vector<double> norm;
  };
  Change change(const Columns& rows, std::size_t row, double sign) {
    const auto size = static_cast<Index>(length());
    Change result{std::vector<double>(2 * num_blocks() * length()), {}, {}};
    VectorXd h(size);
    for (Index k = 0; k < size; ++k) {
      h(k) = rows.h(static_cast<std::size_t>(k), row);
    }
    for (std::size_t b = 0; b < num_blocks(); ++b) {
      Eigen::Map<VectorXd> u(result.weight.data() + b * length(), size);
      Eigen::Map<VectorXd> beyond(result.weight.data() + (num_blocks() + b) * length(), size);
      u = std::sqrt(rows.scale(b, row)) * (inverse_[b] * h);
      const VectorXd passed = fisher_[b] * u;
      beyond = inverse_[b] * passed;
      result.norm.push_back(u.dot(passed));
      const double left = 1 + sign * std::as_const(rows.own).panel()(b, row);
      result.shrink.push_back(sign / std::max(left, kLeastLeft));
      inverse_[b] -= result.shrink.back() * u * u.transpose();
    }
    return result;
  }

  void apply(const Change& change, Columns& to, std::size_t begin, std::size_t count, double* gain) const {
    PanelBuffer<double> products(2 * num_blocks(), kColumns);
    multiply(change.weight, columns(to.h, begin), count, products.panel());
    for (std::size_t b = 0; b < num_blocks(); ++b) {
      bait_step({.scale = to.scale.row(b) + begin,
                 .along = products.panel().row(b),
                 .beyond = products.panel().row(num_blocks() + b),
                 .own = to.own.panel().row(b) + begin,
                 .cross = to.cross.panel().row(b) + begin,
                 .gain = gain + begin,
                 .count = padded_batch(count),
                 .shrink = change.shrink[b],
                 .norm = change.norm[b],
                 .multiplicity = group_.multiplicity[b]});
    }
  }

  Columns& all() { return all_; }

  // tr(AF) would rise by this much without the row.
  double loss(const Columns& rows, std::size_t row) const {
    double sum = 0;
    for (std::size_t b = 0; b < num_blocks(); ++b) {
      sum += group_.multiplicity[b] * rows.cross.panel()(b, row) / std::max(1 - rows.own.panel()(b, row), kLeastLeft);
    }
    return sum;
  }

 private:
  static constexpr double kLeastLeft = 1e-12;  // 1 - v'Av is > 0 for every row that was added; rounding aside

  // The triangle of a symmetric matrix, with what stands twice counted twice.
  static void fold(const MatrixXd& matrix, std::vector<double>& out) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        out.push_back((i == j ? 0.5 : 1.0) * (matrix(i, j) + matrix(j, i)));
      }
    }
  }

  static void multiply(const std::vector<double>& weight, Panel<const double> in, std::size_t count,
                       Panel<double> out) {
    affine(Affine<double>{
        .weight = weight.data(), .weight_row_stride = in.rows, .in = in, .out = out, .batch = count, .factor = {}});
  }

  const BaitGroup& group_;
  PanelBuffer<double> scale_;
  std::size_t num_rows_;
  std::vector<MatrixXd> fisher_;        // F
  std::vector<MatrixXd> inverse_;       // A
  std::vector<double> folded_inverse_;  // of the start, [blocks][triangle]: h'Ah is its product with h h'
  std::vector<double> folded_cross_;    // AFA likewise
  Columns all_;
};

// The rows `chosen` of a panel.
PanelBuffer<double> gather(Panel<const double> panel, std::span<const std::size_t> chosen) {
  PanelBuffer<double> result(panel.rows, chosen.size());
  for (std::size_t r = 0; r < panel.rows; ++r) {
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      result.panel()(r, k) = panel(r, chosen[k]);
    }
  }
  return result;
}

void add_greedily(std::span<std::unique_ptr<Blocks>> groups, const BaitTask& task, BaitResult& result) {
  const std::size_t count = std::min(2 * task.batch, task.num_candidates);
  AlignedVector<double> gain(padded_batch(task.num_candidates));
  GreedyPicks picks(task.stream, task.num_candidates);
  for_blocks(task.pool, task.num_candidates, kColumns, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (const auto& group : groups) {
      group->start(begin, end - begin, gain.data());
    }
  });
  while (true) {
    const Ranked best = picks.take_best([&](std::size_t n) { return Ranked{.score = gain[n]}; });
    result.added.push_back(best.row);
    result.gains.push_back(best.score);
    std::vector<Blocks::Change> changes;
    for (const auto& group : groups) {
      changes.push_back(group->change(group->all(), best.row, 1));
    }
    std::ranges::fill(gain, 0.0);
    for_blocks(task.pool, task.num_candidates, kColumns, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t g = 0; g < groups.size(); ++g) {
        groups[g]->apply(changes[g], groups[g]->all(), begin, end - begin, gain.data());
      }
    });
    if (result.added.size() == count) {
      return;
    }
  }
}

void remove_greedily(std::span<std::unique_ptr<Blocks>> groups, const BaitTask& task, BaitResult& result) {
  const std::size_t count = result.added.size();
  std::vector<PanelBuffer<double>> memory;
  std::vector<Columns> rows;
  memory.reserve(2 * groups.size());
  for (const auto& group : groups) {
    Columns& all = group->all();
    const PanelBuffer<double>& h = memory.emplace_back(gather(all.h, result.added));
    const PanelBuffer<double>& scale = memory.emplace_back(gather(all.scale, result.added));
    rows.push_back(
        {h.panel(), scale.panel(), gather(all.own.panel(), result.added), gather(all.cross.panel(), result.added)});
  }
  AlignedVector<double> unused(padded_batch(count));
  GreedyPicks picks(task.stream, count);
  while (result.removed.size() + task.batch < count) {
    const Ranked least = picks.take_best([&](std::size_t k) {
      double loss = 0;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        loss += groups[g]->loss(rows[g], k);
      }
      return Ranked{.score = -loss};
    });
    result.removed.push_back(result.added[least.row]);
    result.losses.push_back(-least.score);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Blocks::Change change = groups[g]->change(rows[g], least.row, -1);
      for (std::size_t begin = 0; begin < count; begin += kColumns) {
        groups[g]->apply(change, rows[g], begin, std::min(kColumns, count - begin), unused.data());
      }
    }
  }
}

// The blocks of component m: a mean head each, and one for all log-stddevs.
BaitGroup component_group(const Ensemble& model, const LastLayer& candidates, const LastLayer& training,
                          std::size_t m) {
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
  fill(candidates, group.candidates, group.candidate_scale);
  fill(training, group.training, group.training_scale);
  group.multiplicity.assign(D + 1, 1);
  group.multiplicity[D] = static_cast<double>(D);
  return group;
}

}  // namespace

BaitResult bait_select(std::span<const BaitGroup> groups, const BaitTask& task) {
  std::vector<std::unique_ptr<Blocks>> blocks(groups.size());
  for_blocks(task.pool, groups.size(), 1,
             [&](std::size_t g, std::size_t, std::size_t) { blocks[g] = std::make_unique<Blocks>(groups[g], task); });
  BaitResult result;
  add_greedily(blocks, task, result);
  remove_greedily(blocks, task, result);
  return result;
}

Choice bait(const AcquisitionTask& task, std::span<const double> candidates) {
  const LastLayer rows = last_layer(task.model, candidates, true, task.pool);
  const LastLayer training = last_layer(task.model, task.training.inputs, true, task.pool);
  std::vector<BaitGroup> groups;
  for (std::size_t m = 0; m < task.model.num_components(); ++m) {
    groups.push_back(component_group(task.model, rows, training, m));
  }
  const BaitResult result = bait_select(groups, {.num_candidates = rows.num_rows,
                                                 .num_training = training.num_rows,
                                                 .batch = task.batch,
                                                 .lambda = kLambda,
                                                 .stream = task.stream,
                                                 .pool = task.pool});
  Choice choice;
  for (std::size_t k = 0; k < result.added.size(); ++k) {
    if (std::ranges::find(result.removed, result.added[k]) == result.removed.end()) {
      choice.rows.push_back(result.added[k]);
      choice.scores.push_back(result.gains[k]);
    }
  }
  return choice;
}

}  // namespace dissent
