#include "dissent/study/grid_cells.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/simulator/variant.hpp"

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

bool matches(const GridChange& change, const Values& cell) {
  return std::ranges::all_of(change.when, [&](const GridAxis& axis) {
    const auto found = cell.find(axis.name);
    return found != cell.end() && std::ranges::find(axis.values, found->second) != axis.values.end();
  });
}

// Calls visit(values) for every combination; the seed changes slowest.
template <class Visit>
void for_each_combination(std::vector<GridAxis> axes, const Values& common, const Visit& visit) {
  std::stable_partition(axes.begin(), axes.end(), [](const GridAxis& axis) { return axis.name == "seed"; });
  std::size_t total = 1;
  for (const GridAxis& axis : axes) {
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

Cell make_cell(std::span<const GridAxis> axes, Values values, const std::map<std::string, GridTable>& tables) {
  Cell cell;
  for (const GridAxis& axis : axes) {
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

// A condition that nothing meets is a slip of the pen.
void check_matched(const std::vector<GridChange>& changes, const std::vector<bool>& matched) {
  for (std::size_t k = 0; k < changes.size(); ++k) {
    std::string condition;
    for (const GridAxis& axis : changes[k].when) {
      condition += fmt::format("{}{} = {}", condition.empty() ? "" : ", ", axis.name, to_text(axis.values.front()));
    }
    check(matched[k], "[[where]] number {} ({}) matches no campaign of the grid", k + 1, condition);
  }
}

void check_names(const std::vector<Cell>& cells) {
  std::set<std::string_view> names;
  for (const Cell& cell : cells) {
    check(names.insert(cell.name).second, "'{}' is there twice", cell.name);
  }
}

void check_pool_policy(const Cell& cell) {
  const bool by_policies =
      !cell.table && std::ranges::find(variants(), cell.problem, &Variant::name) != variants().end();
  check_argument(by_policies || cell.pool_policy == PoolPolicy::kMixed, "pool_policy",
                 pool_policy_name(cell.pool_policy), "no policy made the pool of '{}'; give it for: {}", cell.problem,
                 fmt::join(variant_names(), ", "));
}

void check_file(const std::string& path) {
  std::error_code unknown;
  check(std::filesystem::exists(path, unknown), "{}: there is no such file", path);
}

void check_problem(const std::string& problem, const std::vector<std::string>& tables) {
  if (problem.find_first_of("./") == std::string::npos) {
    std::vector<std::string> known = problem_names();
    known.insert(known.end(), tables.begin(), tables.end());
    check_name("problem", problem, known);
  } else if (std::ranges::find(tables, problem) == tables.end()) {
    check_file(problem);
  }
}

}  // namespace

const FieldInfo* find_grid_field(std::string_view name) {
  if (const Field<CellFields>* own = find_field<CellFields>(name)) {
    return own;
  }
  return find_field<CampaignSettings>(name);
}

std::vector<std::string> grid_field_names() {
  std::vector<std::string> names = field_names<CellFields>();
  const std::vector<std::string> settings = field_names<CampaignSettings>();
  names.insert(names.end(), settings.begin(), settings.end());
  return names;
}

void check_grid_value(const FieldInfo& field, const Value& value, const std::vector<std::string>& tables) {
  check_value(field, value);
  if (field.name == "problem") {
    check_problem(std::get<std::string>(value), tables);
  } else if (const auto* aim = std::get_if<std::string>(&value); field.name == "aim" && !aim->empty()) {
    if (*aim != kAimAtTest) {
      check_file(*aim);
    }
  } else if (const Field<CampaignSettings>* setting = find_field<CampaignSettings>(field.name)) {
    CampaignSettings settings;
    setting->set(settings, value);
  }
}

std::vector<Cell> make_cells(const std::vector<GridAxis>& axes, const Values& common,
                             const std::vector<GridChange>& changes, const std::map<std::string, GridTable>& tables) {
  std::vector<Cell> cells;
  std::vector<bool> matched(changes.size());
  for_each_combination(axes, common, [&](Values values) {
    const Values plain = values;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      matched[k] = matched[k] || matches(changes[k], plain);
    }
    for (const GridChange& change : changes) {
      if (!matches(change, plain)) {
        continue;
      }
      if (change.skip) {
        return;
      }
      for (const auto& [name, value] : change.set) {
        check(std::ranges::find(axes, name, &GridAxis::name) == axes.end(),
              "[[where]] sets '{}', which is an axis of the grid", name);
        values[name] = value;
      }
    }
    Cell cell = make_cell(axes, std::move(values), tables);
    in_source(cell.name, [&] {
      cell.campaign_settings();
      check_pool_policy(cell);
    });
    cells.push_back(std::move(cell));
  });
  check(!cells.empty(), "the grid has no campaign");
  check_matched(changes, matched);
  check_names(cells);
  return cells;
}

}  // namespace dissent
