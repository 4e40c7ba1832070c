// Learning curves, drawn with characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dissent::cli {

inline constexpr std::size_t kMostCurves = 26;

// A metric against the number of labelled rows, which never falls. At least one point; all are finite.
struct Curve {
  std::string name;
  std::vector<double> labelled;
  std::vector<double> value;
};

// Draws at most kMostCurves curves on `height` lines, with a legend below.
void print_chart(const std::vector<Curve>& curves, const std::string& metric, std::size_t height);

// The names of a round's metrics: all its numbers except times.
std::vector<std::string> round_metrics();

}  // namespace dissent::cli
