// dissent rounds: learning curves of one or more campaigns side by side, drawn with characters.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/table/csv.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

constexpr std::size_t kWidth = 72;
constexpr std::size_t kHeight = 18;
constexpr std::string_view kMarks = "abcdefghijklmnopqrstuvwxyz";
constexpr char kSeveral = '*';
constexpr double kMostLabelled = 1e15;  // whole numbers are exact up to here

// What a round was measured by: its numbers, but for times.
std::vector<std::string> metrics() {
  std::vector<std::string> names;
  for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
    if (field.type == FieldType::kNumber && !field.traits.varies) {
      names.emplace_back(field.name);
    }
  }
  return names;
}

struct Arguments {
  std::vector<std::string> directories;
  std::string metric = "log_likelihood";
  bool json = false;
};

struct Curve {
  std::string name;
  std::vector<double> labelled;
  std::vector<double> value;
};

// Rounds without a finite number are left out, and `left_out` says how many.
struct Read {
  Curve curve;
  std::size_t left_out = 0;
};

Read read_curve(const std::string& directory, const std::string& metric) {
  const Table table = read_csv(directory + "/rounds.csv");
  check(table.num_rows > 0, "{}: has no finished round yet", directory);
  const std::vector<double> labelled = table.matrix(std::vector<std::string>{"labelled"});
  const Column& column = table.column(metric);
  if (column.is_text()) {
    table.matrix(std::vector{metric});  // says which row
  }
  check(column.missing_rows.size() < table.num_rows,
        "{}: {} is empty in every round, as in campaigns without test rows; try --metric chosen_epistemic",
        table.source, metric);
  Read read{{directory, {}, {}}};
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    check(labelled[row] >= 0 && labelled[row] < kMostLabelled && (row == 0 || labelled[row] >= labelled[row - 1]),
          "{}: column 'labelled' row {} is {}; a number of rows not below the one before is required", table.source,
          row + 1, labelled[row]);
    if (std::isfinite(column.values[row])) {
      read.curve.labelled.push_back(labelled[row]);
      read.curve.value.push_back(column.values[row]);
    }
  }
  check(!read.curve.value.empty(), "{}: no round has a finite {}", table.source, metric);
  const bool has_last_model = !column.missing_rows.empty() && column.missing_rows.back() + 1 == table.num_rows;
  const bool unknown_to_it = has_last_model && metric == "chosen_epistemic";  // for it has not chosen yet
  read.left_out = table.num_rows - read.curve.value.size() - (unknown_to_it ? 1 : 0);
  return read;
}

// Between a and b, which may be as far apart as numbers can.
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
  // Place of a value among `cells`, from 0.
  std::size_t cell(double value, std::size_t cells) const {
    const double share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(cells - 1)));
  }
};

// The curve at x, on straight lines between its rounds; NaN beyond its ends.
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

std::vector<std::string> draw(const std::vector<Curve>& curves, const Range& x, const Range& y) {
  std::vector<std::string> lines(kHeight, std::string(kWidth, ' '));
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t column = 0; column < kWidth; ++column) {
      const double at = x.low + (x.high - x.low) * static_cast<double>(column) / static_cast<double>(kWidth - 1);
      const double value = value_at(curves[c], at);
      if (!std::isnan(value)) {
        char& cell = lines[kHeight - 1 - y.cell(value, kHeight)][column];
        cell = cell == ' ' ? kMarks[c] : kSeveral;
      }
    }
  }
  return lines;
}

void print_chart(const std::vector<Curve>& curves, const std::string& metric) {
  Range x;
  Range y;
  for (const Curve& curve : curves) {
    x.include(curve.labelled);
    y.include(curve.value);
  }
  print_line("{} over the number of labelled rows", metric);
  const std::vector<std::string> lines = draw(curves, x, y);
  for (std::size_t k = 0; k < kHeight; ++k) {
    const double value = between(y.high, y.low, static_cast<double>(k) / static_cast<double>(kHeight - 1));
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

void run_rounds(const Arguments& arguments) {
  check(arguments.directories.size() <= kMarks.size(), "{} campaigns; at most {} are drawn together",
        arguments.directories.size(), kMarks.size());
  std::vector<Curve> curves;
  for (const std::string& directory : arguments.directories) {
    Read read = read_curve(directory, arguments.metric);
    if (read.left_out > 0) {
      fmt::print(stderr, "{}: {} without a finite {} left out\n", directory, counted(read.left_out, "round"),
                 arguments.metric);
    }
    curves.push_back(std::move(read.curve));
  }
  if (!arguments.json) {
    print_chart(curves, arguments.metric);
    return;
  }
  nlohmann::ordered_json campaigns = nlohmann::ordered_json::array();
  for (const Curve& curve : curves) {
    const std::vector<std::uint64_t> labelled(curve.labelled.begin(), curve.labelled.end());
    campaigns.push_back({{"directory", curve.name}, {"labelled", labelled}, {arguments.metric, curve.value}});
  }
  print_json({{"version", kVersion}, {"metric", arguments.metric}, {"campaigns", campaigns}});
}

}  // namespace

void add_rounds(Command& app) {
  Command& command = app.add("rounds", "Draw the learning curves of campaigns, one or several together",
                             "  dissent rounds DIR\n"
                             "  dissent rounds by_kl by_chance --metric rmse");
  const auto arguments = std::make_shared<Arguments>();
  command.arguments("DIR", arguments->directories, "Directories of 'dissent learn' or 'dissent ask'");
  static const std::string help = fmt::format("{}", fmt::join(metrics(), ", "));
  command.option("--metric", arguments->metric, {.help = help, .shown = "NAME", .names = metrics});
  add_json(command, arguments->json);
  command.run([arguments] { run_rounds(*arguments); });
}

}  // namespace dissent::cli
