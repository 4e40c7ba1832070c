// Rows of several columns on a plane: the first two principal components of scaled inputs.
//
// One column is its own axis, and two are the plane. With more, inputs are scaled robustly (table/scaling.hpp), so that
// neither units nor a few outliers decide. The sign of a component makes its largest loading positive.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dissent::report {

struct PoolMap {
  std::vector<double> x;  // [N]
  std::vector<double> y;  // [N]; empty for one column
  std::string x_title;
  std::string y_title;
  double explained = 1;  // share of the variance that the plane shows
};

// `inputs` is row-major [N][names.size()]; the components are those of all rows, or of 1,000 of them.
PoolMap map_rows(std::span<const double> inputs, const std::vector<std::string>& names);

}  // namespace dissent::report
