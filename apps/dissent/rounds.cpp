// dissent rounds: learning curves of one or more campaigns side by side, drawn with characters.
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "chart.hpp"
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

constexpr std::size_t kHeight = 18;
constexpr double kMostLabelled = 1e15;  // whole numbers are exact up to here

struct RoundsArguments {
  std::vector<std::string> directories;
  std::string metric = "log_likelihood";
  bool json = false;
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
    table.matrix(std::vector{metric});  // fails and names the row
  }
  check(column.missing_rows.size() < table.num_rows,
        "{}: {} is empty in every round, as in campaigns without test rows; try --metric chosen_epistemic",
        table.source, metric);
  Read read{{directory, {}, {}}};
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    check(labelled[row] >= 0 && labelled[row] < kMostLabelled,
          "{}: column 'labelled' row {} is {}; a number of rows is required", table.source, row + 1, labelled[row]);
    while (!read.curve.labelled.empty() && read.curve.labelled.back() > labelled[row]) {  // an answer was taken back
      read.curve.labelled.pop_back();
      read.curve.value.pop_back();
    }
    if (std::isfinite(column.values[row])) {
      read.curve.labelled.push_back(labelled[row]);
      read.curve.value.push_back(column.values[row]);
    } else {
      ++read.left_out;
    }
  }
  check(!read.curve.value.empty(), "{}: no round has a finite {}", table.source, metric);
  const bool has_last_model = !column.missing_rows.empty() && column.missing_rows.back() + 1 == table.num_rows;
  const bool unknown_to_it = has_last_model && metric == "chosen_epistemic";  // it has not chosen yet
  read.left_out -= unknown_to_it ? 1 : 0;
  return read;
}

void run_rounds(const RoundsArguments& arguments) {
  check(arguments.directories.size() <= kMostCurves, "{} campaigns; at most {} are drawn together",
        arguments.directories.size(), kMostCurves);
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
    print_chart(curves, arguments.metric, kHeight);
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
  const auto arguments = std::make_shared<RoundsArguments>();
  command.arguments("DIR", arguments->directories, "Directories of 'dissent learn' or 'dissent ask'");
  static const std::string help = fmt::format("{}", fmt::join(round_metrics(), ", "));
  command.option("--metric", arguments->metric, {.help = help, .shown = "NAME", .names = round_metrics});
  add_json(command, arguments->json);
  command.run([arguments] { run_rounds(*arguments); });
}

}  // namespace dissent::cli
