// dissent acquisitions: every way to choose rows, from the registry.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "console.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/version.hpp"
#include "options.hpp"

namespace dissent::cli {
namespace {

std::string typed_name(const AcquisitionInfo& info) {
  return info.parameter.empty() ? std::string(info.name) : fmt::format("{}:{}", info.name, info.parameter);
}

void run_acquisitions(bool as_json) {
  if (as_json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const AcquisitionInfo& info : acquisitions()) {
      rows.push_back({{"name", typed_name(info)},
                      {"summary", info.summary},
                      {"score", info.score},
                      {"candidates", info.candidates > 0 ? nlohmann::ordered_json(info.candidates) : "all"}});
    }
    print_json({{"version", kVersion}, {"acquisitions", rows}});
    return;
  }
  const auto candidates = [](const AcquisitionInfo& info) {
    return info.candidates > 0 ? std::to_string(info.candidates) : "all";
  };
  std::size_t width = 4;
  for (const AcquisitionInfo& info : acquisitions()) {
    width = std::max(width, typed_name(info).size());
  }
  print_line("{:<{}}  {:>10}  {}", "name", width, "candidates", "takes");
  for (const AcquisitionInfo& info : acquisitions()) {
    print_line("{:<{}}  {:>10}  {}", typed_name(info), width, candidates(info), info.summary);
  }
}

}  // namespace

void add_acquisitions(Command& app) {
  Command& command = app.add("acquisitions", "List the ways to choose rows of a pool",
                             "  dissent acquisitions\n"
                             "  dissent acquisitions --json");
  const auto json = std::make_shared<bool>(false);
  add_json(command, *json);
  command.run([json] { run_acquisitions(*json); });
}

}  // namespace dissent::cli
