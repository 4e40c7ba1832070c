// Weights of rows: how much each counts in the loss of a network. With weights w the loss of a batch of B rows is
//     sum over b of w_b loss_b / B,    with w scaled to a mean of one over the rows trained on,
// so that a row of weight 2 counts as if it were there twice. Samples and batches are drawn as without weights: each
// row carries its weight along. Rows of weight 0 are left out first of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dissent/ensemble/model_parts.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/network/gaussian.hpp"

namespace dissent {

// InputError unless there is one for each row, finite and >= 0.
void check_weights(const TrainingRows& rows);

// The rows that count, and their weights if these differ.
class WeighedRows {
 public:
  explicit WeighedRows(const TrainingRows& rows);

  // Whether they differ from what was given.
  bool changed() const { return changed_; }
  const TrainingRows& rows() const { return rows_; }

 private:
  std::vector<double> inputs_;
  std::vector<double> targets_;
  std::vector<double> weights_;
  TrainingRows rows_;
  bool changed_ = false;
};

// The weights of rows `order`, divided by the mean of the first `num_trained` of them; empty if all count alike.
std::vector<float> scaled_weights(std::span<const double> weights, std::span<const std::uint32_t> order,
                                  std::size_t num_trained);

// Multiplies column b by weights[b].
void scale_columns(Panel<float> panel, std::span<const float> weights);

// The sum over rows of their weights times the Gaussian loss, which is a mean over outputs (network/gaussian.hpp).
double weighted_nll(const GaussianOptions& options, Panel<const float> heads, Panel<const float> targets,
                    std::span<const float> weights);

}  // namespace dissent
