// dissent estimators: the registry as a table.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/base/version.hpp"
#include "dissent/estimator/estimator.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

void list_as_table(const std::vector<EstimatorInfo>& all) {
  std::vector<std::array<std::string, 4>> rows{{"name", "bound", "cost", "formula"}};
  for (const EstimatorInfo& info : all) {
    rows.push_back({info.name, std::string(name_of(info.bound)), info.cost, info.formula});
  }
  std::array<std::size_t, 3> widths{};
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < widths.size(); ++k) {
      widths[k] = std::max(widths[k], row[k].size());
    }
  }
  for (const auto& [name, bound, cost, formula] : rows) {
    print_line("{:<{}}  {:<{}}  {:<{}}  {}", name, widths[0], bound, widths[1], cost, widths[2], formula);
  }
  print(
      "\nbound: where the estimate lies relative to the true mutual information.\n"
      "cost: per input, for M components and D outputs. A: alpha, K: a whole number, as in chernoff:0.3 and "
      "mc:5000.\n");
}

void list_as_json(const std::vector<EstimatorInfo>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const EstimatorInfo& info : all) {
    list.push_back(
        {{"name", info.name}, {"bound", name_of(info.bound)}, {"cost", info.cost}, {"formula", info.formula}});
  }
  print_json({{"version", kVersion}, {"estimators", list}});
}

}  // namespace

void add_estimators(Command& app) {
  Command& command = app.add("estimators", "List the estimators with formula, bound and cost",
                             "  dissent estimators\n"
                             "  dissent estimators --json");
  const auto json = std::make_shared<bool>(false);
  add_json(command, *json);
  command.run([json] { *json ? list_as_json(estimators()) : list_as_table(estimators()); });
}

}  // namespace dissent::cli
