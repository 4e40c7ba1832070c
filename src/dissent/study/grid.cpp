#include "dissent/study/grid.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/study/grid_cells.hpp"
#include "dissent/study/grid_reader.hpp"

namespace dissent {
namespace {

// Entries in the order of the file; the parser keeps them by name.
std::vector<std::pair<toml::key, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<toml::key, const toml::node*>> entries;
  for (const auto& [key, node] : table) {
    entries.emplace_back(key, &node);
  }
  std::ranges::sort(entries, [](const auto& a, const auto& b) {
    const auto position = [](const toml::key& key) {
      return std::pair(key.source().begin.line, key.source().begin.column);
    };
    return position(a.first) < position(b.first);
  });
  return entries;
}

std::vector<GridAxis> read_axes(const GridReader& reader, const toml::table& table,
                                const std::vector<std::string>& others = {}) {
  std::vector<GridAxis> axes;
  for (const auto& [key, node] : in_order(table)) {
    if (std::ranges::find(others, key.str()) == others.end()) {
      axes.push_back({std::string(key.str()), reader.values(reader.info(key, others), *node)});
    }
  }
  return axes;
}

Values read_values(const GridReader& reader, const toml::table& table) {
  Values values;
  for (const auto& [key, node] : table) {
    values[std::string(key.str())] = reader.value(reader.info(key), node);
  }
  return values;
}

GridChange read_change(const GridReader& reader, const toml::table& table) {
  GridChange change;
  change.when = read_axes(reader, table, {"set", "skip"});
  if (const toml::node* set = table.get("set")) {
    change.set = read_values(reader, reader.table(*set, "set"));
  }
  if (const toml::node* skip = table.get("skip")) {
    if (!skip->is_boolean()) {
      reader.fail_at(skip->source(), "skip must be true or false");
    }
    change.skip = skip->as_boolean()->get();
  }
  if (change.set.empty() && !change.skip) {
    reader.fail_at(table.source(), "[[where]] changes nothing: give set = {{ ... }} or skip = true");
  }
  return change;
}

void note_columns(const GridReader& reader, const toml::node& node, std::map<std::string, std::string>& places) {
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) {
      note_columns(reader, item, places);
    }
  } else {
    places["column " + node.as_string()->get()] = reader.place(node.source());
  }
}

GridTable read_table_problem(const GridReader& reader, const toml::table& table) {
  reader.check_keys(table, {"file", "targets", "inputs", "labelled", "test"});
  const auto needed = [&](const char* name) -> const toml::node& {
    const toml::node* node = table.get(name);
    if (node == nullptr) {
      reader.fail_at(table.source(), "the table has no '{}'", name);
    }
    return *node;
  };
  GridTable result;
  result.file = reader.text(needed("file"), "file");
  result.targets = reader.texts(needed("targets"), "targets");
  if (const toml::node* inputs = table.get("inputs")) {
    result.inputs = reader.texts(*inputs, "inputs");
  }
  result.labelled = reader.count(needed("labelled"), "labelled");
  result.test = reader.count(needed("test"), "test");
  for (const auto& [key, node] : table) {
    result.places[std::string(key.str())] = reader.place(node.source());
  }
  for (const char* name : {"targets", "inputs"}) {
    if (const toml::node* columns = table.get(name)) {
      note_columns(reader, *columns, result.places);
    }
  }
  return result;
}

std::map<std::string, GridTable> read_tables(const GridReader& reader, const toml::table& file) {
  std::map<std::string, GridTable> tables;
  if (const toml::node* list = file.get("table")) {
    for (const auto& [key, node] : reader.table(*list, "[table.NAME]")) {
      if (const auto known = problem_names(); std::ranges::find(known, key.str()) != known.end()) {
        reader.fail_at(key.source(), "'{}' is a problem of the program; give the table another name", key.str());
      }
      tables[std::string(key.str())] = read_table_problem(reader, reader.table(node, "[table.NAME]"));
    }
  }
  return tables;
}

std::vector<GridChange> read_changes(const GridReader& reader, const toml::table& file) {
  std::vector<GridChange> changes;
  if (const toml::node* where = file.get("where")) {
    const toml::array* list = where->as_array();
    if (list == nullptr) {
      reader.fail_at(where->source(), "write [[where]], with two brackets");
    }
    for (const toml::node& item : *list) {
      changes.push_back(read_change(reader, reader.table(item, "[[where]]")));
    }
  }
  return changes;
}

// A value in two places is a slip of the pen: only one of them could count.
void check_given_once(const GridReader& reader, const toml::table& file) {
  const toml::node* settings = file.get("settings");
  const toml::table* common = settings == nullptr ? nullptr : settings->as_table();
  const auto check_against = [&](const toml::table& entries, const toml::table& others, std::string_view where) {
    for (const auto& [key, node] : entries) {
      if (others.contains(key.str())) {
        reader.fail_at(key.source(), "'{}' is given {} too; give it once", key.str(), where);
      }
    }
  };
  if (common != nullptr) {
    check_against(*common, file, "at the beginning of the file");
  }
  if (const toml::node* grid = file.get("grid"); grid != nullptr && grid->is_table()) {
    check_against(*grid->as_table(), file, "at the beginning of the file");
    if (common != nullptr) {
      check_against(*grid->as_table(), *common, "under [settings]");
    }
  }
}

void note_places(const GridReader& reader, const toml::node* node, std::map<std::string, std::string>& places) {
  if (node == nullptr) {
    return;
  }
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& item : *list) {
      note_places(reader, &item, places);
    }
  } else if (const auto* text = node->as_string()) {
    places.try_emplace(text->get(), reader.place(node->source()));
  }
}

std::map<std::string, std::string> find_aims(const GridReader& reader, const toml::table& file) {
  std::map<std::string, std::string> places;
  for (const auto& view : {file["aim"], file["settings"]["aim"], file["grid"]["aim"]}) {
    note_places(reader, view.node(), places);
  }
  if (const toml::array* changes = file["where"].as_array()) {
    for (const toml::node& change : *changes) {
      note_places(reader, change.as_table()->at_path("set.aim").node(), places);
    }
  }
  return places;
}

// The values that all campaigns share.
Values read_common(const GridReader& reader, const toml::table& file) {
  Values common;
  for (const char* name : {"rounds", "data_seed", "pool_policy", "aim"}) {
    if (const toml::node* node = file.get(name)) {
      common[name] = reader.value(*find_grid_field(name), *node);
    }
  }
  if (const toml::node* settings = file.get("settings")) {
    common.merge(read_values(reader, reader.table(*settings, "[settings]")));
  }
  return common;
}

Grid build_grid(GridReader& reader, const toml::table& file) {
  reader.check_keys(file, {"name", "settings", "grid", "where", "table", "rounds", "data_seed", "pool_policy", "aim"});
  check_given_once(reader, file);
  Grid grid;
  if (const toml::node* name = file.get("name")) {
    grid.name = reader.text(*name, "name");
    if (grid.name.find(',') != std::string::npos) {
      reader.fail_at(name->source(), "a study's name has no commas: they stand between names in a list");
    }
  }
  check(!grid.name.empty(), "the grid has no name: give name = \"...\" at its beginning");
  const toml::node* axes = file.get("grid");
  check(axes != nullptr, "there is no [grid]");
  const std::map<std::string, GridTable> tables = read_tables(reader, file);
  std::vector<std::string> names;
  for (const auto& [name, table] : tables) {
    names.push_back(name);
  }
  reader.set_tables(names);
  grid.cells = make_cells(read_axes(reader, reader.table(*axes, "[grid]")), read_common(reader, file),
                          read_changes(reader, file), tables);
  grid.aim_places = find_aims(reader, file);
  return grid;
}

// "seed=3 problem=hetero" -> {"problem=hetero", "seed=3"}
std::set<std::string> parts_of(const std::string& name) {
  std::istringstream text(name);
  return {std::istream_iterator<std::string>(text), {}};
}

}  // namespace

const Cell& Grid::find(const std::string& name) const {
  const std::set<std::string> parts = parts_of(name);
  std::vector<std::string> names;
  for (const Cell& cell : cells) {
    if (cell.name == name || parts_of(cell.name) == parts) {
      return cell;
    }
    names.push_back(cell.name);
  }
  fail("it has no campaign '{}'{}", name, did_you_mean(name, names));
}

Grid parse_grid(std::string_view text, const std::string& source) {
  GridReader reader(source);
  return in_source(source, [&] {
    try {
      return build_grid(reader, toml::parse(text, source));
    } catch (const toml::parse_error& error) {
      reader.fail_at(error.source(), "{}{}", error.description(),
                     source.ends_with(".toml") ? "" : "; a grid is a file in TOML");
    }
  });
}

Grid read_grid(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_grid({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace dissent
