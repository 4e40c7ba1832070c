// Learning curves, drawn with characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dissent::cli {

inline constexpr std::size_t kMostCurves = 26;

// A metric over the number of labelled rows, which does not fall; at least one point, all finite.
struct Curve {
  std::string name;
  std::vector<double> labelled;
  std::vector<double> value;
};

// At most kMostCurves of them, on so many lines, with a legend below.
void print_chart(const std::vector<Curve>& curves, const std::string& metric, std::size_t height);

// What a round was measured by: its numbers, but for times.
std::vector<std::string> round_metrics();

}  // namespace dissent::cli
