#include "dissent/study/table_problem.hpp"

#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "dissent/base/digest.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/random.hpp"
#include "dissent/loop/tables.hpp"
#include "dissent/study/grid.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

Table rows_of(const Table& table, std::span<const std::size_t> rows) {
  Table part{.source = table.source, .num_rows = rows.size(), .columns = {}};
  for (const Column& column : table.columns) {
    Column picked;
    picked.name = column.name;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (column.is_text()) {
        picked.text.push_back(column.text[rows[k]]);
      } else {
        picked.values.push_back(column.values[rows[k]]);
      }
      if (column.is_missing(rows[k])) {
        picked.missing_rows.push_back(k);
      }
    }
    picked.first_text_row = column.is_text() ? std::optional<std::size_t>(0) : std::nullopt;
    part.columns.push_back(std::move(picked));
  }
  return part;
}

// Gives InputErrors the place in the grid, "grid.toml:9:8".
template <class Work>
decltype(auto) at_source(const std::string& place, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const InputError& error) {
    throw InputError(Fault{.source = place, .rule = error.what()});
  }
}

// Likewise; `entry` is a name of GridTable::places.
template <class Work>
decltype(auto) at_place(const GridTable& table, const std::string& entry, Work&& work) {
  const auto place = table.places.find(entry);
  return place == table.places.end() ? std::forward<Work>(work)() : at_source(place->second, std::forward<Work>(work));
}

void check_rows(const GridTable& spec, std::size_t num_rows, std::size_t batch) {
  check(num_rows >= spec.labelled + spec.test + batch,
        "{}: it has {} rows; {} labelled, {} test rows and a batch of {} are asked for", spec.file, num_rows,
        spec.labelled, spec.test, batch);
}

std::string content_of(const std::string& path) {
  const MappedFile file(path);
  return fmt::format("{:016x}", digest({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}));
}

struct Examined {
  std::string content;
  std::size_t num_rows = 0;
};

void check_columns(const GridTable& spec, const Table& all) {
  for (const auto* names : {&spec.targets, &spec.inputs}) {
    for (const std::string& name : *names) {
      at_place(spec, "column " + name, [&] { all.column(name); });
    }
  }
}

}  // namespace

Problem table_problem(const Cell& cell, const CampaignSettings& settings, const Table& all) {
  const GridTable& spec = cell.table.value();
  check_rows(spec, all.num_rows, settings.batch);
  std::vector<std::size_t> rows(all.num_rows);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  Stream(cell.data_seed, Purpose::kSplit).shuffle(std::span(rows));
  const std::span test = std::span(rows).first(spec.test);
  const std::span rest = std::span(rows).subspan(spec.test);
  Stream(settings.fit.ensemble.seed, Purpose::kSplit, 1).shuffle(rest);
  const CampaignTables tables{.labelled = rows_of(all, rest.first(spec.labelled)),
                              .pool = rows_of(all, rest.subspan(spec.labelled)),
                              .test = rows_of(all, test),
                              .columns = {.targets = spec.targets, .inputs = spec.inputs}};
  return make_problem(tables, true, settings);
}

namespace {

// Checks all that can be wrong with the table, as the cell uses it.
Examined examine(const Cell& cell) {
  const GridTable& spec = cell.table.value();
  const CampaignSettings settings = cell.campaign_settings();
  Examined result;
  at_place(spec, "file", [&] { result.content = content_of(spec.file); });
  const Table all = at_place(spec, "file", [&] { return read_table(spec.file); });
  result.num_rows = all.num_rows;
  check_columns(spec, all);
  at_place(spec, "labelled", [&] { check_rows(spec, all.num_rows, settings.batch); });
  at_place(spec, "file", [&] { table_problem(cell, settings, all); });
  return result;
}

// Checks that each file of an aim can be read, and has the inputs of the grid's tables. The inputs of other problems
// are known only once their rows are there.
void examine_aims(const Grid& grid) {
  std::set<std::pair<std::string, std::string>> known;
  for (const Cell& cell : grid.cells) {
    const auto place = grid.aim_places.find(cell.aim);
    if (cell.aim == kAimAtTest || place == grid.aim_places.end() || !known.emplace(cell.problem, cell.aim).second) {
      continue;
    }
    at_source(place->second, [&] {
      const Table aim = read_table(cell.aim);
      if (cell.table) {
        Problem problem = table_problem(cell, cell.campaign_settings(), read_table(cell.table->file));
        aim_rows(aim, problem);
      }
    });
  }
}

}  // namespace

void identify_tables(Grid& grid) {
  std::map<std::string, Examined> known;
  for (Cell& cell : grid.cells) {
    if (!cell.table) {
      continue;
    }
    const auto found = known.find(cell.problem);
    if (found == known.end()) {
      cell.table->content = (known[cell.problem] = examine(cell)).content;
      continue;
    }
    at_place(*cell.table, "labelled",
             [&] { check_rows(*cell.table, found->second.num_rows, cell.campaign_settings().batch); });
    cell.table->content = found->second.content;
  }
  examine_aims(grid);
}

}  // namespace dissent
