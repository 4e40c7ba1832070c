// What states also have if people are asked: the times of asking and telling, and rows that are not in the pool.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/loop/campaign_file.hpp"

namespace dissent::campaign_file {
namespace {

// Adds the cells of a row, as far as its inputs determine them.
void add_cells(const TableEncoding& encoding, std::span<const double> inputs, std::vector<std::string>& cells) {
  std::size_t first = 0;
  for (const ColumnCode& code : encoding.columns) {
    const std::string text = encoding.cell_text(first, inputs);
    cells.push_back(text.empty() ? fmt::format("{}", inputs[first]) : text == "missing" ? "" : text);
    first += code.num_features();
  }
}

void load_cells(const SafetensorsFile& file, Campaign& campaign) {
  ExtraRows& extra = campaign.extra;
  const std::size_t num_columns = campaign.encoding.columns.size();
  const auto found = file.metadata().find(kExtraCells);
  if (found == file.metadata().end()) {
    const std::size_t C = campaign.encoding.features().size();
    check(num_columns == 0 || extra.inputs.size() == extra.size() * C, "extra.inputs has other columns; it is damaged");
    for (std::size_t k = 0; num_columns > 0 && k < extra.size(); ++k) {
      add_cells(campaign.encoding, std::span(extra.inputs).subspan(k * C, C), extra.cells);
    }
    return;
  }
  const nlohmann::json cells = nlohmann::json::parse(found->second, nullptr, false);
  const bool texts = cells.is_array() && std::ranges::all_of(cells, [](const auto& cell) { return cell.is_string(); });
  check(texts && cells.size() == extra.size() * num_columns, "its metadata have no usable '{}'; it is damaged",
        kExtraCells);
  extra.cells = cells.get<std::vector<std::string>>();
}

}  // namespace

// States up to version 0.4 have none of it.
void load_people(const SafetensorsFile& file, Campaign& campaign) {
  const std::vector<std::string> names = file.names();
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  const std::size_t n = campaign.chosen.size();
  for (const auto& [name, member] :
       {std::pair("chosen.asked", &ChosenRow::asked), std::pair("chosen.told", &ChosenRow::told)}) {
    const std::vector<double> times = has(name) ? load_numbers(file, name, {n}) : std::vector<double>(n);
    for (std::size_t k = 0; k < n; ++k) {
      check(std::isfinite(times[k]), "{}: {} is no time; it is damaged", name, times[k]);
      campaign.chosen[k].*member = times[k];
    }
  }
  if (has("extra.told")) {
    ExtraRows& extra = campaign.extra;
    const std::size_t num_extra = file.load("extra.told").size();
    const Array inputs = file.load("extra.inputs");
    check(inputs.shape().size() == 2, "extra.inputs is no matrix; it is damaged");
    extra.told = load_numbers(file, "extra.told", {num_extra});
    extra.inputs = load_numbers(file, "extra.inputs", {num_extra, inputs.shape()[1]});
    extra.targets = load_numbers(file, "extra.targets", {num_extra, campaign.num_targets});
    load_cells(file, campaign);
  }
}

}  // namespace dissent::campaign_file
