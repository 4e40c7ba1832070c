// Hyperparameters if a few rows fit no smooth function: one row lies beyond a kink, or has a typing error. One such row
// makes length scales short for all. So it gets a noise variance of its own, as in relevance pursuit (Ament et al.
// 2024). Let r_i be the residual of row i from its prediction by the others, v_i that prediction's variance with noise,
// and q = r_i^2 / v_i > 1. The evidence is largest with r_i^2 - v_i more noise, and gains (q - 1 - ln q) / 2.
#pragma once

#include "dissent/process/posterior.hpp"
#include "dissent/process/search.hpp"

namespace dissent {

// The least gain from noise of its own that makes a row stray, in nats: a residual of seven standard deviations.
inline constexpr double kLeastStrayGain = 20;

// What the best noise of its own gains each row, given its residual and variance (as in LeaveOneOut).
Eigen::ArrayXd stray_gains(const VectorRef& residual, const VectorRef& variance);

struct RobustSearchResult {
  SearchResult found;           // its rows are not stray
  Eigen::VectorXd extra_noise;  // n; empty if no row is stray, even if the search left rows out
};

// Like find_hyperparameters(). If a row qualifies, repeats the search without those that do, by turns, and keeps the
// result that explains the rows best at the price of kLeastStrayGain for each row left out. Rows that the first search
// did not see are not stray.
RobustSearchResult find_robustly(const RowsRef& inputs, const VectorRef& targets, const SearchOptions& options,
                                 std::uint64_t output = 0, const std::function<bool()>& go_on = {});

}  // namespace dissent
