#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "console.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/campaign.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kWidth = 72;
constexpr std::string_view kMarks = "abcdefghijklmnopqrstuvwxyz";
constexpr char kSeveral = '*';
static_assert(kMarks.size() == kMostCurves);

// Interpolates between a and b, even if b - a would overflow.
double between(double a, double b, double share) { return (1 - share) * a + share * b; }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(const std::vector<double>& values) {
    for (const double value : values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  // The cell that a value falls into, counted from 0.
  std::size_t cell(double value, std::size_t cells) const {
    const double share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(cells - 1)));
  }
};

// The curve at x, interpolated linearly between rounds; NaN beyond its ends.
double value_at(const Curve& curve, double x) {
  const auto after = std::ranges::lower_bound(curve.labelled, x);
  if (after == curve.labelled.end() || (after == curve.labelled.begin() && *after > x)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto k = static_cast<std::size_t>(after - curve.labelled.begin());
  if (*after == x) {
    return curve.value[k];
  }
  const double share = (x - curve.labelled[k - 1]) / (curve.labelled[k] - curve.labelled[k - 1]);
  return between(curve.value[k - 1], curve.value[k], share);
}

std::vector<std::string> draw(const std::vector<Curve>& curves, const Range& x, const Range& y, std::size_t height) {
  std::vector<std::string> lines(height, std::string(kWidth, ' '));
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t column = 0; column < kWidth; ++column) {
      const double at = x.low + (x.high - x.low) * static_cast<double>(column) / static_cast<double>(kWidth - 1);
      const double value = value_at(curves[c], at);
      if (!std::isnan(value)) {
        char& cell = lines[height - 1 - y.cell(value, height)][column];
        cell = cell == ' ' ? kMarks[c] : kSeveral;
      }
    }
  }
  return lines;
}

}  // namespace

void print_chart(const std::vector<Curve>& curves, const std::string& metric, std::size_t height) {
  Range x;
  Range y;
  for (const Curve& curve : curves) {
    x.include(curve.labelled);
    y.include(curve.value);
  }
  print_line("{} over the number of labelled rows", metric);
  const std::vector<std::string> lines = draw(curves, x, y, height);
  for (std::size_t k = 0; k < height; ++k) {
    const double value = between(y.high, y.low, static_cast<double>(k) / static_cast<double>(height - 1));
    const std::size_t end = lines[k].find_last_not_of(' ');
    print_line("{:>10.4g} |{}", value, lines[k].substr(0, end == std::string::npos ? 0 : end + 1));
  }
  print_line("{:>10} +{:->{}}", "", "", kWidth);
  print_line("{:>10}  {:<{}.6g}{:>{}.6g}", "", x.low, kWidth / 2, x.high, kWidth - kWidth / 2);
  std::size_t width = 0;
  for (const Curve& curve : curves) {
    width = std::max(width, curve.name.size());
  }
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const Curve& curve = curves[c];
    print_line("{}  {:<{}}  {}, {:.4g} -> {:.4g}", kMarks[c], curve.name, width, counted(curve.value.size(), "model"),
               curve.value.front(), curve.value.back());
  }
}

std::vector<std::string> round_metrics() {
  std::vector<std::string> names;
  for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
    if (field.type == FieldType::kNumber && !field.traits.varies) {
      names.emplace_back(field.name);
    }
  }
  return names;
}

}  // namespace dissent::cli
