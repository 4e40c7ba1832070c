// Hyperparameters for rows of which a few fit no smooth function: a kink that one row lies beyond, a typing error. One
// such row makes length scales short for all. It gets a noise variance of its own, as in relevance pursuit (Ament et
// al. 2024): with r_i the residual of row i from its prediction by the others, v_i that prediction's variance with
// noise and q = r_i^2 / v_i > 1, the evidence is largest with r_i^2 - v_i more noise, and gains (q - 1 - ln q) / 2.
#pragma once

#include "dissent/process/posterior.hpp"
#include "dissent/process/search.hpp"

namespace dissent {

// What row-wise noise must gain, in nats: a residual of seven standard deviations.
inline constexpr double kLeastStrayGain = 20;

// Gains of the best noise of their own, for rows with these residuals and variances (as LeaveOneOut has them).
Eigen::ArrayXd stray_gains(const VectorRef& residual, const VectorRef& variance);

struct RobustSearchResult {
  SearchResult found;           // its rows are not stray
  Eigen::VectorXd extra_noise;  // n; empty where no row is stray, and `found` is then what a plain search finds
};

// As find_hyperparameters(). Where a row qualifies, the search is repeated without those that do, by turns. Kept is what
// explains the rows best at the price of kLeastStrayGain for each left out. Rows that the first search did not see are
// not stray.
RobustSearchResult find_robustly(const RowsRef& inputs, const VectorRef& targets, const SearchOptions& options,
                                 std::uint64_t output = 0, const std::function<bool()>& go_on = {});

}  // namespace dissent
