#include "dissent/study/grid.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/problem/problem.hpp"

namespace dissent {
namespace {

// What a cell has besides the settings of its campaign.
struct CellFields {
  std::string problem;
  std::size_t rounds = 20;
  std::uint64_t data_seed = 0;
  PoolPolicy pool_policy = PoolPolicy::kMixed;
  std::string aim;
};

}  // namespace

template <>
std::span<const Field<CellFields>> fields() {
  using S = CellFields;
  static const std::vector<Field<S>> list{
      field("problem", &S::problem, {.help = "Problem, file or table of the grid"}),
      field("rounds", &S::rounds, {.help = "Rounds of the campaign", .least = 1, .most = 1'000'000}),
      field("data_seed", &S::data_seed, {.help = "Seed of pool and test rows"}),
      named_field<S, PoolPolicy>(
          "pool_policy", &S::pool_policy,
          [](const PoolPolicy& policy) { return std::string(pool_policy_name(policy)); },
          [](const std::string& name) { return pool_policy_from_name(name); },
          {.help = "Who acted in the rows of a robot's pool", .names = pool_policy_names}),
      field("aim", &S::aim, {.help = "Where predictions will be needed"}),
  };
  return list;
}

namespace {

constexpr std::size_t kMostCells = 1'000'000;
constexpr std::uint64_t kMostSeeds = 100'000;

struct Axis {
  std::string name;
  std::vector<Value> values;
};

struct Change {
  std::vector<Axis> when;
  Values set;
  bool skip = false;
};

const FieldInfo* find_info(std::string_view name) {
  if (const Field<CellFields>* own = find_field<CellFields>(name)) {
    return own;
  }
  return find_field<CampaignSettings>(name);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names = field_names<CellFields>();
  const std::vector<std::string> settings = field_names<CampaignSettings>();
  names.insert(names.end(), settings.begin(), settings.end());
  return names;
}

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  template <class... Args>
  [[noreturn]] void fail_at(const toml::source_region& region, fmt::format_string<Args...> rule, Args&&... args) const {
    throw InputError(Fault{.source = fmt::format("{}:{}:{}", source_, region.begin.line, region.begin.column),
                           .rule = fmt::format(rule, std::forward<Args>(args)...)});
  }

  const FieldInfo& info(const toml::key& key, const std::vector<std::string>& others = {}) const {
    if (const FieldInfo* found = find_info(key.str())) {
      return *found;
    }
    std::vector<std::string> names = all_names();
    names.insert(names.end(), others.begin(), others.end());
    fail_at(key.source(), "'{}' is not known{}", key.str(), did_you_mean(key.str(), names));
  }

  void check_keys(const toml::table& table, const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(known, key.str()) == known.end()) {
        fail_at(key.source(), "'{}' is not known{} (known: {})", key.str(), did_you_mean(key.str(), known),
                fmt::join(known, ", "));
      }
    }
  }

  // The value of a field; InputErrors of the field's own rule get the place.
  Value value(const FieldInfo& field, const toml::node& node) const {
    try {
      const Value raw = raw_value(field, node);
      check_value(field, raw);
      return raw;
    } catch (const InputError& error) {
      Fault fault = error.fault();
      if (fault.source.empty()) {
        fault.source = fmt::format("{}:{}:{}", source_, node.source().begin.line, node.source().begin.column);
      }
      throw InputError(fault);
    }
  }

  // One value, several in a list, or of seeds "0-9".
  std::vector<Value> values(const FieldInfo& field, const toml::node& node) const {
    if (field.name == "seed" || field.name == "data_seed") {
      if (const auto* text = node.as_string()) {
        return seed_range(*text);
      }
    }
    const toml::array* list = node.as_array();
    const bool of_lists = field.type == FieldType::kWholes || field.type == FieldType::kNumbers;
    if (list == nullptr || (of_lists && !list->empty() && !list->front().is_array())) {
      return {value(field, node)};
    }
    std::vector<Value> all;
    for (const toml::node& item : *list) {
      all.push_back(value(field, item));
    }
    if (all.empty()) {
      fail_at(node.source(), "'{}' has no value", field.name);
    }
    return all;
  }

  std::string text(const toml::node& node, std::string_view what) const {
    const auto* text = node.as_string();
    if (text == nullptr || text->get().empty()) {
      fail_at(node.source(), "{} must be a text that is not empty", what);
    }
    return text->get();
  }

  std::vector<std::string> texts(const toml::node& node, std::string_view what) const {
    std::vector<std::string> all;
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& item : *list) {
        all.push_back(text(item, what));
      }
    } else {
      all.push_back(text(node, what));
    }
    return all;
  }

  std::size_t count(const toml::node& node, std::string_view what) const {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < 1) {
      fail_at(node.source(), "{} must be a whole number >= 1", what);
    }
    return static_cast<std::size_t>(number->get());
  }

  const toml::table& table(const toml::node& node, std::string_view what) const {
    const toml::table* found = node.as_table();
    if (found == nullptr) {
      fail_at(node.source(), "{} must be a table", what);
    }
    return *found;
  }

 private:
  Value raw_value(const FieldInfo& field, const toml::node& node) const {
    if (const auto* text = node.as_string()) {
      return parse_value(field, text->get());
    }
    if (const auto* flag = node.as_boolean()) {
      return flag->get();
    }
    if (const auto* whole = node.as_integer()) {
      return whole_value(field, whole->get(), node);
    }
    if (const auto* number = node.as_floating_point()) {
      return number->get();
    }
    if (const toml::array* list = node.as_array()) {
      return list_value(*list, field);
    }
    fail_at(node.source(), "'{}' cannot be a {}", field.name, node.is_table() ? "table" : "date");
  }

  // Texts may look like numbers: candidates = 1000.
  Value whole_value(const FieldInfo& field, std::int64_t whole, const toml::node& node) const {
    if (field.type == FieldType::kText) {
      return std::to_string(whole);
    }
    if (field.type == FieldType::kNumber) {
      return static_cast<double>(whole);
    }
    if (whole < 0) {
      fail_at(node.source(), "'{}' = {}; it must not be negative", field.name, whole);
    }
    return static_cast<std::uint64_t>(whole);
  }

  Value list_value(const toml::array& list, const FieldInfo& field) const {
    std::vector<double> numbers;
    std::vector<std::uint64_t> wholes;
    for (const toml::node& item : list) {
      const auto number = item.value<double>();
      if (!number) {
        fail_at(item.source(), "'{}' must be a list of numbers", field.name);
      }
      numbers.push_back(*number);
      if (const auto whole = item.value_exact<std::int64_t>(); whole && *whole >= 0) {
        wholes.push_back(static_cast<std::uint64_t>(*whole));
      }
    }
    if (field.type == FieldType::kWholes && wholes.size() == numbers.size()) {
      return wholes;
    }
    return numbers;
  }

  std::vector<Value> seed_range(const toml::value<std::string>& node) const {
    const std::string& text = node.get();
    const std::size_t dash = text.find('-');
    const auto first = parse_whole(std::string_view(text).substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_whole(std::string_view(text).substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMostSeeds) {
      fail_at(node.source(), "'{}' is no range of seeds; give one such as \"0-9\"", text);
    }
    std::vector<Value> seeds;
    for (std::uint64_t seed = *first; seed <= *last; ++seed) {
      seeds.emplace_back(seed);
    }
    return seeds;
  }

  const std::string& source_;
};

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

std::vector<Axis> read_axes(const Reader& reader, const toml::table& table,
                            const std::vector<std::string>& others = {}) {
  std::vector<Axis> axes;
  for (const auto& [key, node] : in_order(table)) {
    if (std::ranges::find(others, key.str()) == others.end()) {
      axes.push_back({std::string(key.str()), reader.values(reader.info(key, others), *node)});
    }
  }
  return axes;
}

Values read_values(const Reader& reader, const toml::table& table) {
  Values values;
  for (const auto& [key, node] : table) {
    values[std::string(key.str())] = reader.value(reader.info(key), node);
  }
  return values;
}

Change read_change(const Reader& reader, const toml::table& table) {
  Change change;
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

GridTable read_table_problem(const Reader& reader, const toml::table& table) {
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
  return result;
}

bool matches(const Change& change, const Values& cell) {
  return std::ranges::all_of(change.when, [&](const Axis& axis) {
    const auto found = cell.find(axis.name);
    return found != cell.end() && std::ranges::find(axis.values, found->second) != axis.values.end();
  });
}

// Calls visit(values) for every combination, the seed changing last.
template <class Visit>
void for_each_combination(std::vector<Axis> axes, const Values& common, const Visit& visit) {
  std::ranges::stable_partition(axes, [](const Axis& axis) { return axis.name == "seed"; });
  std::size_t total = 1;
  for (const Axis& axis : axes) {
    total *= axis.values.size();
    check(total <= kMostCells, "the grid has more than {} campaigns", kMostCells);
  }
  for (std::size_t index = 0; index < total; ++index) {
    Values values = common;
    std::size_t rest = index;
    for (std::size_t a = axes.size(); a-- > 0;) {
      values[axes[a].name] = axes[a].values[rest % axes[a].values.size()];
      rest /= axes[a].values.size();
    }
    visit(std::move(values));
  }
}

Cell make_cell(std::span<const Axis> axes, Values values, const std::map<std::string, GridTable>& tables) {
  Cell cell;
  for (const Axis& axis : axes) {
    cell.axes.emplace_back(axis.name, to_text(values.at(axis.name)));
    cell.name += fmt::format("{}{}={}", cell.name.empty() ? "" : " ", axis.name, cell.axes.back().second);
  }
  CellFields own;
  for (const Field<CellFields>& field : fields<CellFields>()) {
    if (const auto given = values.extract(std::string(field.name))) {
      field.set(own, given.mapped());
    }
  }
  check(!own.problem.empty(), "the grid has no problem: give problem = [...] under [grid]");
  cell.problem = own.problem;
  if (const auto table = tables.find(own.problem); table != tables.end()) {
    cell.table = table->second;
  }
  cell.rounds = own.rounds;
  cell.data_seed = own.data_seed;
  cell.pool_policy = own.pool_policy;
  cell.aim = own.aim;
  cell.settings = std::move(values);
  return cell;
}

std::vector<Cell> make_cells(const std::vector<Axis>& axes, const Values& common, const std::vector<Change>& changes,
                             const std::map<std::string, GridTable>& tables) {
  std::vector<Cell> cells;
  for_each_combination(axes, common, [&](Values values) {
    const Values plain = values;
    for (const Change& change : changes) {
      if (!matches(change, plain)) {
        continue;
      }
      if (change.skip) {
        return;
      }
      for (const auto& [name, value] : change.set) {
        check(std::ranges::none_of(axes, [&](const Axis& axis) { return axis.name == name; }),
              "[[where]] sets '{}', which is an axis of the grid", name);
        values[name] = value;
      }
    }
    Cell cell = make_cell(axes, std::move(values), tables);
    in_source(cell.name, [&] { cell.campaign_settings(); });
    cells.push_back(std::move(cell));
  });
  check(!cells.empty(), "the grid has no campaign");
  return cells;
}

void check_names(const std::vector<Cell>& cells) {
  std::set<std::string_view> names;
  for (const Cell& cell : cells) {
    check(names.insert(cell.name).second, "'{}' is there twice", cell.name);
    const bool is_file = cell.problem.find_first_of("./") != std::string::npos;
    if (!cell.table && !is_file) {
      check_name("problem", cell.problem, problem_names());
    }
  }
}

Grid build_grid(const Reader& reader, const toml::table& file) {
  std::vector<std::string> known = {"name",   "settings",  "grid",        "where", "table",
                                    "rounds", "data_seed", "pool_policy", "aim"};
  reader.check_keys(file, known);
  Grid grid;
  if (const toml::node* name = file.get("name")) {
    grid.name = reader.text(*name, "name");
  }
  check(!grid.name.empty(), "the grid has no name: give name = \"...\" at its beginning");
  Values common;
  for (const char* name : {"rounds", "data_seed", "pool_policy", "aim"}) {
    if (const toml::node* node = file.get(name)) {
      common[name] = reader.value(*find_info(name), *node);
    }
  }
  if (const toml::node* settings = file.get("settings")) {
    common.merge(read_values(reader, reader.table(*settings, "[settings]")));
  }
  const toml::node* axes_node = file.get("grid");
  check(axes_node != nullptr, "there is no [grid]");
  const std::vector<Axis> axes = read_axes(reader, reader.table(*axes_node, "[grid]"));
  std::vector<Change> changes;
  if (const toml::node* where = file.get("where")) {
    const toml::array* list = where->as_array();
    if (list == nullptr) {
      reader.fail_at(where->source(), "write [[where]], with two brackets");
    }
    for (const toml::node& item : *list) {
      changes.push_back(read_change(reader, reader.table(item, "[[where]]")));
    }
  }
  std::map<std::string, GridTable> tables;
  if (const toml::node* list = file.get("table")) {
    for (const auto& [key, node] : reader.table(*list, "[table.NAME]")) {
      tables[std::string(key.str())] = read_table_problem(reader, reader.table(node, "[table.NAME]"));
    }
  }
  grid.cells = make_cells(axes, common, changes, tables);
  check_names(grid.cells);
  return grid;
}

}  // namespace

CampaignSettings Cell::campaign_settings() const {
  CampaignSettings result = changed_settings(CampaignSettings(), settings);
  result.check_values();
  check_candidates(result.candidates, result.batch);
  check_uses(result.acquisition, !aim.empty(), !result.cost.empty());
  return result;
}

std::string Cell::describe() const {
  Json json;
  json["axes"] = Json::array();
  for (const auto& [axis, value] : axes) {
    json["axes"].push_back({axis, value});
  }
  json.update({{"problem", problem}, {"rounds", rounds}, {"data_seed", data_seed}, {"aim", aim}});
  if (pool_policy != PoolPolicy::kMixed) {
    json["pool_policy"] = pool_policy_name(pool_policy);
  }
  if (table) {
    json["table"] = {{"file", table->file},
                     {"targets", table->targets},
                     {"inputs", table->inputs},
                     {"labelled", table->labelled},
                     {"test", table->test}};
  }
  for (const auto& [name, value] : settings) {
    json["settings"][name] = to_json(value);
  }
  return json.dump();
}

std::vector<std::pair<std::string, std::string>> described_axes(const std::string& description) {
  const Json json = Json::parse(description);
  return json.at("axes").get<std::vector<std::pair<std::string, std::string>>>();
}

Grid parse_grid(std::string_view text, const std::string& source) {
  const Reader reader(source);
  return in_source(source, [&] {
    try {
      return build_grid(reader, toml::parse(text, source));
    } catch (const toml::parse_error& error) {
      reader.fail_at(error.source(), "{}", error.description());
    }
  });
}

Grid read_grid(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_grid({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace dissent
