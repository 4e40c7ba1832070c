// bait: the batch that leaves least of the Fisher information unexplained (BAIT, Ash et al. 2021).
//
// With F the mean Fisher information of the candidates and A the inverse of (lambda I + information of training rows
// and picks), pick rows that lower tr(A F): 2 B greedily, then drop B of them, each time the one whose loss raises it
// least.
//
// The Fisher information of a Gaussian's last layer has a closed form, without sampled targets: it is block diagonal
// with a block for each head, c(x) h h^T, where h = (last hidden activations, 1) and c is 1 / stddev^2 for a mean, 2
// for a log-stddev. So every row is a rank-one change of each block, components have blocks of their own, and the D
// blocks of the log-stddevs are all equal. For v = sqrt(c) h and u = A v*, with v* the pick's:
//   gain of adding v:  v'AFAv / (1 + v'Av);   after a pick v*:  A <- A - u u' / (1 + v*'Av*)
// v'Av and v'AFAv of every row are kept and updated: O(N (D + 1) H) a pick instead of O(N D H^2). float64 throughout.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/network/panel.hpp"

namespace dissent {

// Blocks that share the vectors h up to a factor: v_b(n) = sqrt(scale[b][n]) h(n). Panels have a column per row;
// padding columns zero.
struct BaitGroup {
  PanelBuffer<double> candidates;       // [length of h][N]
  PanelBuffer<double> candidate_scale;  // [blocks][N], >= 0
  PanelBuffer<double> training;         // [length of h][T]
  PanelBuffer<double> training_scale;   // [blocks][T], >= 0
  std::vector<double> multiplicity;     // [blocks]: how many equal blocks it stands for
};

struct BaitTask {
  std::size_t num_candidates = 0;
  std::size_t num_training = 0;
  std::size_t batch = 1;
  double lambda = 0.01;
  Stream stream;
  ThreadPool* pool = nullptr;
};

struct BaitResult {
  std::vector<std::size_t> added;    // min(2 B, N) rows, in order
  std::vector<double> gains;         // by how much each lowered tr(A F)
  std::vector<std::size_t> removed;  // in order
  std::vector<double> losses;        // by how much each raised it again
};

// A pick counts K / (T + K), a training row 1 / (T + K), K = batch and T = num_training, as in the authors' program.
BaitResult bait_select(std::span<const BaitGroup> groups, const BaitTask& task);

// Scores: gains.
Choice bait(const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
