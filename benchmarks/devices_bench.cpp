// Tests whether the same campaigns end alike on the processor and on a card.
//
//     dissent study run studies/devices.toml --store sqlite:cpu.db
//     dissent study run studies/devices.toml --store sqlite:cuda.db --device cuda
//     dissent study export sqlite:cpu.db -o cpu.csv ...
//     devices_bench cpu.csv cuda.csv
//
// Campaigns with the same name form a pair. Its difference is that of their last rounds, in ln RMSE and in
// log-likelihood per test row. Devices add in different orders, training carries that on, and later rounds choose other
// rows. So pairs differ, but their mean must not. Two one-sided t-tests (TOST, 5% each) call it equal if the 90%
// interval of the mean lies within the margin, half the standard deviation of the campaigns on the processor;
// Wilcoxon's test looks for any difference. The least difference is the one that a t-test of as many pairs finds at 5%
// with a probability of 80%.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/statistics/significance.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

struct Metric {
  const char* column;
  const char* title;
  bool logarithm;
};

constexpr std::array kMetrics{Metric{"rmse", "ln RMSE", true}, Metric{"log_likelihood", "log-likelihood", false}};

struct LastRound {
  double round;
  double value;
};

// {campaign: its last round}
std::map<std::string, LastRound> last_rounds(const std::string& path, const Metric& metric) {
  const Table table = read_table(path);
  const Column& cells = table.column("cell");
  const Column& rounds = table.column("round");
  const Column& values = table.column(metric.column);
  std::map<std::string, LastRound> last;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const double round = rounds.finite_number(row);
    const double value = values.finite_number(row);
    const LastRound own{round, metric.logarithm ? std::log(value) : value};
    const auto [found, is_new] = last.try_emplace(cells.text[row], own);
    if (!is_new && round > found->second.round) {
      found->second = own;
    }
  }
  return last;
}

struct Pairs {
  std::vector<double> first;
  std::vector<double> differences;
};

Pairs pairs_of(const std::string& path, const std::string& other, const Metric& metric) {
  const auto ours = last_rounds(path, metric);
  const auto theirs = last_rounds(other, metric);
  Pairs pairs;
  for (const auto& [cell, last] : theirs) {
    const auto found = ours.find(cell);
    check(found != ours.end() && ours.size() == theirs.size(), "{} and {} have different campaigns", path, other);
    check(found->second.round == last.round, "{} and {}: '{}' did not come to the same round", path, other, cell);
    pairs.first.push_back(found->second.value);
    pairs.differences.push_back(last.value - found->second.value);
  }
  return pairs;
}

void print_row(const Metric& metric, const Pairs& pairs) {
  const std::size_t count = pairs.differences.size();
  const Moments processor = moments(pairs.first);
  const Interval interval = mean_interval(pairs.differences, 0.9);
  const double stddev = moments(pairs.differences).stddev;
  const double margin = 0.5 * processor.stddev;
  const bool equal = interval.low > -margin && interval.high < margin;
  fmt::print("| {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} to {:.3f} | {:.3f} | {} | {:.2f} | {:.3f} |\n",
             metric.title, count, processor.mean, interval.estimate, stddev, interval.low, interval.high, margin,
             equal ? "yes" : "no", wilcoxon_test(pairs.differences).p_value, stddev * detectable_effect(count, 0.05));
}

}  // namespace
}  // namespace dissent

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: devices_bench CPU.csv CARD.csv\n", stderr);
    return 2;
  }
  try {
    fmt::print(
        "| | pairs | mean on the CPU | mean of card - CPU | standard deviation | 90% interval of the mean | margin | "
        "equal (TOST) | Wilcoxon's p | least difference |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (const dissent::Metric& metric : dissent::kMetrics) {
      dissent::print_row(metric, dissent::pairs_of(arguments[1], arguments[2], metric));
    }
    return 0;
  } catch (const dissent::Error& error) {
    std::fprintf(stderr, "devices_bench: %s\n", error.what());
    return 1;
  }
}
