// The core of bait: forward and backward selection on Fisher information in blocks, each row a rank-one part of each.
//
// Let F be the mean information of the candidates and A the inverse of (lambda I + information of training rows and
// picks). First 2 B rows are picked, each time the one that lowers tr(A F) most. Then B of them are dropped again, each
// time the one that raises it least. For v = sqrt(c) h and u = A v*, v* being the pick's,
//   gain of adding v:  v'AFAv / (1 + v'Av);   after a pick:  A <- A - u u' / (1 + v*'Av*)
// v'Av and v'AFAv of every row are kept and updated: O(H) per row and block instead of O(H^2). If a pick changes a
// block so much that the update would cancel, that block is inverted and evaluated afresh. float64 throughout.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/random.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {

// Blocks that share the vectors h up to a factor: v_b(n) = sqrt(scale[b][n]) h(n). Panels have a column per row;
// padding columns zero.
struct BaitGroup {
  PanelBuffer<double> candidates;       // [length of h][N]
  PanelBuffer<double> candidate_scale;  // [blocks][N], >= 0
  PanelBuffer<double> training;         // [length of h][T]
  PanelBuffer<double> training_scale;   // [blocks][T], >= 0
  PanelBuffer<double> pending;          // [length of h][P], of pending rows; may be empty
  PanelBuffer<double> pending_scale;    // [blocks][P], >= 0
  std::vector<double> multiplicity;     // [blocks]: how many equal blocks it stands for
};

struct BaitTask {
  std::size_t num_candidates = 0;
  std::size_t num_training = 0;
  std::size_t num_pending = 0;
  std::size_t batch = 1;  // <= num_candidates
  double lambda = 0.01;   // raised if information is so large that rounding would hide it
  Stream stream;
  Executor* executor = nullptr;
  std::vector<double>* gains = nullptr;  // gets those of every row, [min(2 B, N)][N], NaN for rows added before
};

struct BaitResult {
  std::vector<std::size_t> added;    // min(2 B, N) rows, in order
  std::vector<double> gains;         // by how much each lowered tr(A F)
  std::vector<std::size_t> removed;  // in order
  std::vector<double> losses;        // by how much each raised it again
};

// A pick counts K / (T + K), a training row 1 / (T + K), K = batch and T = num_training, as in the authors' program.
// Pending rows count as earlier picks: K is then batch + num_pending, and F includes them.
BaitResult bait_select(std::span<const BaitGroup> groups, const BaitTask& task);

}  // namespace dissent
