#include "dissent/acquisition/bait_select.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "dissent/acquisition/bait_kernel.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/executor.hpp"
#include "dissent/matrix/linear.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kColumns = 256;   // rows of the table worked on at a time
constexpr double kMostChange = 1e3;     // of 1 + v'Av; beyond, an update would cancel
constexpr double kLeastLambda = 1e-10;  // of the candidates' mean information; below, rounding would decide
constexpr double kLeastLeft = 1e-12;    // of 1 - v'Av, which is > 0 for a row that was added, rounding aside

template <class T>
Panel<T> columns(Panel<T> panel, std::size_t begin) {
  return {panel.data + begin, panel.rows, panel.stride};
}

std::size_t triangle(std::size_t size) { return size * (size + 1) / 2; }

// products[k][n] = h_i(n) h_j(n) for j <= i, row by row of the triangle.
void fill_products(Panel<const double> h, std::size_t count, Panel<double> products) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < h.rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++k) {
      std::transform(h.row(i), h.row(i) + padded_batch(count), h.row(j), products.row(k), std::multiplies<>());
    }
  }
}

// The triangle of a symmetric matrix, with off-diagonal entries doubled: its product with h h' is h' matrix h.
void fold(const MatrixXd& matrix, std::vector<double>& out) {
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      out.push_back((i == j ? 0.5 : 1.0) * (matrix(i, j) + matrix(j, i)));
    }
  }
}

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

MatrixXd inverse(const MatrixXd& matrix, double lambda) {
  const MatrixXd identity = MatrixXd::Identity(matrix.rows(), matrix.cols());
  return (matrix + lambda * identity).llt().solve(identity);
}

std::size_t num_picks(const BaitTask& task) { return task.batch + task.num_pending; }

double pick_share(const BaitTask& task) {
  return static_cast<double>(num_picks(task)) / static_cast<double>(task.num_training + num_picks(task));
}

// Rows under consideration, and what is kept for each row and block.
struct Rows {
  Panel<const double> h;
  Panel<const double> scale;  // as a pick counts
  PanelBuffer<double> own;    // v'Av
  PanelBuffer<double> cross;  // v'AFAv
};

// What a change of A means for rows: most blocks are updated, some are evaluated afresh.
struct Change {
  std::vector<double> weight;      // [2 blocks][length]: u, then AFu; empty when all blocks are new
  std::vector<double> shrink;      // g of A <- A - g u u'; 0 for new blocks
  std::vector<double> norm;        // u'Fu
  std::vector<std::size_t> fresh;  // numbers of the new blocks
  std::vector<double> own;         // [fresh][triangle]: A
  std::vector<double> cross;       // [fresh][triangle]: AFA
};

// The matrices of one group's blocks.
class Blocks {
 public:
  Blocks(const BaitGroup& group, const BaitTask& task)
      : multiplicity_(group.multiplicity),
        fisher_(information(group.candidates.panel(), group.candidate_scale.panel(), task.num_candidates)),
        known_(information(group.training.panel(), group.training_scale.panel(), task.num_training)) {
    const double share = pick_share(task);
    const std::vector<MatrixXd> pending =
        task.num_pending == 0 ? std::vector<MatrixXd>()
                              : information(group.pending.panel(), group.pending_scale.panel(), task.num_pending);
    for (std::size_t b = 0; b < size(); ++b) {
      known_[b] /= static_cast<double>(task.num_training + num_picks(task));
      if (!pending.empty()) {
        known_[b] += share * pending[b];
        fisher_[b] += pending[b];
      }
      fisher_[b] /= static_cast<double>(task.num_candidates + task.num_pending);
      lambda_.push_back(std::max(task.lambda, kLeastLambda * fisher_[b].trace()));
      inverse_.push_back(inverse(known_[b], lambda_[b]));
    }
  }

  std::size_t size() const { return multiplicity_.size(); }

  // The change from nothing: all blocks are new.
  Change begin() const {
    Change change{.weight = {}, .shrink = {}, .norm = std::vector<double>(size()), .fresh = {}, .own = {}, .cross = {}};
    for (std::size_t b = 0; b < size(); ++b) {
      renew(b, change);
    }
    return change;
  }

  // Adds row n of `rows` to what is known (sign 1) or takes it away again (sign -1).
  Change move(const Rows& rows, std::size_t n, double sign) {
    const std::size_t length = rows.h.rows;
    Change change;
    change.weight.resize(2 * size() * length);
    VectorXd h(static_cast<Index>(length));
    for (std::size_t k = 0; k < length; ++k) {
      h(static_cast<Index>(k)) = rows.h(k, n);
    }
    for (std::size_t b = 0; b < size(); ++b) {
      Eigen::Map<VectorXd> u(change.weight.data() + b * length, h.size());
      Eigen::Map<VectorXd> beyond(change.weight.data() + (size() + b) * length, h.size());
      u = std::sqrt(rows.scale(b, n)) * (inverse_[b] * h);
      const VectorXd passed = fisher_[b] * u;
      beyond = inverse_[b] * passed;
      change.norm.push_back(u.dot(passed));
      const double left = 1 + sign * rows.own.panel()(b, n);
      known_[b] += sign * rows.scale(b, n) * h * h.transpose();
      if (left > kMostChange || left < 1 / kMostChange) {
        inverse_[b] = inverse(known_[b], lambda_[b]);
        renew(b, change);
      } else {
        inverse_[b] -= sign / left * u * u.transpose();
        change.shrink.push_back(sign / left);
      }
    }
    return change;
  }

  // Changes own and cross of the rows [begin, begin + count) and adds to their gains.
  void apply(const Change& change, Rows& rows, std::size_t begin, std::size_t count, double* gain) const {
    const Panel<const double> h = columns(rows.h, begin);
    PanelBuffer<double> products(2 * size(), kColumns);
    if (!change.weight.empty()) {
      multiply(change.weight, h, count, products.panel());
    }
    if (!change.fresh.empty()) {
      evaluate(change, rows, begin, count);
    }
    for (std::size_t b = 0; b < size(); ++b) {
      bait_step({.scale = rows.scale.row(b) + begin,
                 .along = products.panel().row(b),
                 .beyond = products.panel().row(size() + b),
                 .own = rows.own.panel().row(b) + begin,
                 .cross = rows.cross.panel().row(b) + begin,
                 .gain = gain + begin,
                 .count = padded_batch(count),
                 .shrink = change.shrink[b],
                 .norm = change.norm[b],
                 .multiplicity = multiplicity_[b]});
    }
  }

  // How much tr(AF) would rise without row n, which was added.
  double loss(const Rows& rows, std::size_t n) const {
    double sum = 0;
    for (std::size_t b = 0; b < size(); ++b) {
      sum += multiplicity_[b] * rows.cross.panel()(b, n) / std::max(1 - rows.own.panel()(b, n), kLeastLeft);
    }
    return sum;
  }

 private:
  void renew(std::size_t b, Change& change) const {
    change.shrink.push_back(0);
    change.fresh.push_back(b);
    fold(inverse_[b], change.own);
    fold(inverse_[b] * fisher_[b] * inverse_[b], change.cross);
  }

  static void multiply(std::span<const double> weight, Panel<const double> in, std::size_t count, Panel<double> out) {
    affine(Affine<double>{
        .weight = weight.data(), .weight_row_stride = in.rows, .in = in, .out = out, .batch = count, .factor = {}});
  }

  // own and cross of the fresh blocks.
  static void evaluate(const Change& change, Rows& rows, std::size_t begin, std::size_t count) {
    PanelBuffer<double> products(triangle(rows.h.rows), kColumns);
    fill_products(columns(rows.h, begin), count, products.panel());
    PanelBuffer<double> values(2 * change.fresh.size(), kColumns);
    multiply(change.own, products.panel(), count, values.panel(change.fresh.size()));
    multiply(change.cross, products.panel(), count, values.panel().slice(change.fresh.size(), change.fresh.size()));
    for (std::size_t f = 0; f < change.fresh.size(); ++f) {
      const double* scale = rows.scale.row(change.fresh[f]) + begin;
      std::transform(scale, scale + count, values.panel().row(f), rows.own.panel().row(change.fresh[f]) + begin,
                     std::multiplies<>());
      std::transform(scale, scale + count, values.panel().row(change.fresh.size() + f),
                     rows.cross.panel().row(change.fresh[f]) + begin, std::multiplies<>());
    }
  }

  std::vector<double> multiplicity_;
  std::vector<MatrixXd> fisher_;  // F
  std::vector<MatrixXd> known_;   // information of training rows and picks
  std::vector<double> lambda_;
  std::vector<MatrixXd> inverse_;  // A
};

// One group with its candidates.
struct Group {
  Group(const BaitGroup& given, const BaitTask& task)
      : blocks(given, task),
        scale(given.candidate_scale),
        rows{given.candidates.panel(), {}, {blocks.size(), task.num_candidates}, {blocks.size(), task.num_candidates}} {
    const double share = pick_share(task);
    const Panel<double> panel = scale.panel();
    std::for_each_n(panel.data, panel.rows * panel.stride, [&](double& c) { c *= share; });
    rows.scale = panel;
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  Blocks blocks;
  PanelBuffer<double> scale;
  Rows rows;
};

using Groups = std::span<const std::unique_ptr<Group>>;

void apply_all(Groups groups, const std::vector<Change>& changes, const BaitTask& task, std::span<double> gain) {
  std::ranges::fill(gain, 0.0);
  for_blocks(task.executor, task.num_candidates, kColumns, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups[g]->blocks.apply(changes[g], groups[g]->rows, begin, end - begin, gain.data());
    }
  });
}

void add_greedily(Groups groups, const BaitTask& task, BaitResult& result) {
  AlignedVector<double> gain(padded_batch(task.num_candidates));
  GreedyPicks picks(task.stream, task.num_candidates, task.gains);
  std::vector<Change> changes;
  for (const auto& group : groups) {
    changes.push_back(group->blocks.begin());
  }
  while (true) {
    apply_all(groups, changes, task, gain);
    if (result.added.size() == std::min(2 * task.batch, task.num_candidates)) {
      return;
    }
    const Ranked best = picks.take_best([&](std::size_t n) { return Ranked{.score = gain[n]}; });
    result.added.push_back(best.row);
    result.gains.push_back(best.score);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      changes[g] = groups[g]->blocks.move(groups[g]->rows, best.row, 1);
    }
  }
}

// The columns `chosen` of a panel.
PanelBuffer<double> gather(Panel<const double> panel, std::span<const std::size_t> chosen) {
  PanelBuffer<double> result(panel.rows, chosen.size());
  for (std::size_t r = 0; r < panel.rows; ++r) {
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      result.panel()(r, k) = panel(r, chosen[k]);
    }
  }
  return result;
}

void remove_greedily(Groups groups, const BaitTask& task, BaitResult& result) {
  const std::size_t count = result.added.size();
  std::vector<PanelBuffer<double>> memory;
  std::vector<Rows> rows;
  for (const auto& group : groups) {
    memory.push_back(gather(group->rows.h, result.added));
    memory.push_back(gather(group->rows.scale, result.added));
    rows.push_back(
        {{}, {}, gather(group->rows.own.panel(), result.added), gather(group->rows.cross.panel(), result.added)});
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    rows[g].h = memory[2 * g].panel();
    rows[g].scale = memory[2 * g + 1].panel();
  }
  AlignedVector<double> unused(padded_batch(count));
  GreedyPicks picks(task.stream, count);
  while (result.removed.size() + task.batch < count) {
    const Ranked least = picks.take_best([&](std::size_t k) {
      double loss = 0;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        loss += groups[g]->blocks.loss(rows[g], k);
      }
      return Ranked{.score = -loss};
    });
    result.removed.push_back(result.added[least.row]);
    result.losses.push_back(-least.score);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Change change = groups[g]->blocks.move(rows[g], least.row, -1);
      for (std::size_t begin = 0; begin < count; begin += kColumns) {
        groups[g]->blocks.apply(change, rows[g], begin, std::min(kColumns, count - begin), unused.data());
      }
    }
  }
}

}  // namespace

BaitResult bait_select(std::span<const BaitGroup> groups, const BaitTask& task) {
  std::vector<std::unique_ptr<Group>> started(groups.size());
  for_blocks(task.executor, groups.size(), 1,
             [&](std::size_t g, std::size_t, std::size_t) { started[g] = std::make_unique<Group>(groups[g], task); });
  BaitResult result;
  add_greedily(started, task, result);
  remove_greedily(started, task, result);
  return result;
}

}  // namespace dissent
