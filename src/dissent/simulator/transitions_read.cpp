// Both layouts are read the same way: arrays are looked up by name, in a group (Minari: one for each episode) or at the
// top (D4RL, NPZ). They differ in where the next observation is.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dissent/array/hdf5.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/simulator/transitions_file.hpp"

namespace dissent {
namespace {

// One array of a file: [rows][width], finite float32.
struct Field {
  std::string source;
  std::size_t rows = 0;
  std::size_t width = 1;
  std::vector<float> values;
};

Field to_field(const Array& array) {
  const Shape& shape = array.shape();
  check_in(array.source(), shape.size() == 1 || shape.size() == 2, "has shape {}; expected one or two dimensions",
           shape_text(shape));
  Field field{array.source(), shape[0], shape.size() == 2 ? shape[1] : 1, array.to<float>()};
  check_in(array.source(), field.width > 0, "has no columns");
  for (std::size_t k = 0; k < field.values.size(); ++k) {
    check_in(array.source(), std::isfinite(field.values[k]), "row {} holds {}; values must be finite", k / field.width,
             field.values[k]);
  }
  return field;
}

// Where arrays are looked up, and the name of the place in messages.
struct Place {
  std::string name;
  std::function<std::optional<Field>(const std::string& name)> find;

  // The first of the names that exists.
  std::optional<Field> find_any(std::initializer_list<const char*> names) const {
    for (const char* candidate : names) {
      if (std::optional<Field> field = find(candidate)) {
        return field;
      }
    }
    return std::nullopt;
  }
};

Place group_of(const Hdf5File& file, const std::string& group) {
  const std::string prefix = group.empty() ? "" : group + "/";
  return {group.empty() ? file.path() : file.path() + ":" + group, [&file, prefix](const std::string& name) {
            const std::string full = prefix + name;
            return file.contains(full) ? std::optional(to_field(file.load(full))) : std::nullopt;
          }};
}

Place archive_of(const NpzFile& file, const std::string& path) {
  return {path, [&file](const std::string& name) {
            const std::string plain = name.substr(name.rfind('/') + 1);  // npos + 1 == 0
            return file.contains(plain) ? std::optional(to_field(file.load(plain))) : std::nullopt;
          }};
}

void check_shape(const Field& field, std::size_t rows, std::size_t width) {
  check_in(field.source, field.rows == rows && field.width == width,
           "has {} rows of {} values; observations and actions call for {} of {}", field.rows, field.width, rows,
           width);
}

Field require(const Place& place, const char* name) {
  std::optional<Field> field = place.find(name);
  check_in(place.name, field.has_value(),
           "has no \"{}\"; expected D4RL's flat arrays or Minari's groups episode_0, ...", name);
  return *std::move(field);
}

// 0 and 1 of any type; zeros if the field is missing.
std::vector<std::uint8_t> to_flags(const std::optional<Field>& field, std::size_t num_rows) {
  std::vector<std::uint8_t> flags(num_rows, 0);
  if (field) {
    check_shape(*field, num_rows, 1);
    for (std::size_t row = 0; row < num_rows; ++row) {
      const float value = field->values[row];
      check_in(field->source, value == 0 || value == 1, "row {} holds {}; flags are 0 or 1", row, value);
      flags[row] = value == 1 ? 1 : 0;
    }
  }
  return flags;
}

// Everything but the next observations. Missing rewards are 0.
Transitions read_fields(const Place& place, Field observations, Field actions) {
  Transitions rows;
  rows.num_rows = actions.rows;
  rows.observation_size = observations.width;
  rows.action_size = actions.width;
  rows.observations = std::move(observations.values);
  rows.actions = std::move(actions.values);
  rows.rewards.assign(rows.num_rows, 0);
  if (std::optional<Field> rewards = place.find("rewards")) {
    check_shape(*rewards, rows.num_rows, 1);
    rows.rewards = std::move(rewards->values);
  }
  rows.terminals = to_flags(place.find_any({"terminals", "terminations"}), rows.num_rows);
  rows.timeouts = to_flags(place.find_any({"timeouts", "truncations"}), rows.num_rows);
  rows.expert = to_flags(place.find("infos/expert"), rows.num_rows);
  return rows;
}

// Takes next_observations from the rows that follow; drops rows without one (an episode's last).
void derive_next_observations(Transitions& rows) {
  const auto ends = [&rows](std::size_t row) {
    return row + 1 >= rows.num_rows || rows.terminals[row] != 0 || rows.timeouts[row] != 0;
  };
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    if (!ends(row)) {
      kept.push_back(row);
    }
  }
  Transitions out = rows.select(kept);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const auto next = rows.observations.begin() + static_cast<std::ptrdiff_t>((kept[k] + 1) * rows.observation_size);
    out.next_observations.insert(out.next_observations.end(), next,
                                 next + static_cast<std::ptrdiff_t>(rows.observation_size));
    out.timeouts[k] = ends(kept[k] + 1) ? 1 : 0;
  }
  rows = std::move(out);
}

Transitions read_flat(const Place& place) {
  Field observations = require(place, "observations");
  Field actions = require(place, "actions");
  check_in(place.name, observations.rows == actions.rows, "{} rows of observations, {} of actions", observations.rows,
           actions.rows);
  Transitions rows = read_fields(place, std::move(observations), std::move(actions));
  if (std::optional<Field> next = place.find("next_observations")) {
    check_shape(*next, rows.num_rows, rows.observation_size);
    rows.next_observations = std::move(next->values);
  } else {
    check_in(place.name, place.find_any({"timeouts", "truncations"}).has_value(),
             "has neither next_observations nor timeouts, so the ends of episodes are unknown");
    derive_next_observations(rows);
  }
  return rows;
}

// There is one observation more than actions: the last is only a next observation.
Transitions read_episode(const Place& place) {
  Field observations = require(place, "observations");
  Field actions = require(place, "actions");
  check_in(place.name, observations.rows == actions.rows + 1,
           "{} rows of observations, {} of actions; expected one more", observations.rows, actions.rows);
  const auto width = static_cast<std::ptrdiff_t>(observations.width);
  std::vector<float> next(observations.values.begin() + width, observations.values.end());
  observations.values.resize(next.size());
  Transitions rows = read_fields(place, std::move(observations), std::move(actions));
  rows.next_observations = std::move(next);
  return rows;
}

// Groups named episode_<number>, by number.
std::vector<std::string> episode_groups(const Hdf5File& file) {
  constexpr std::string_view kPrefix = "episode_";
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : file.names()) {
    if (name.starts_with(kPrefix)) {
      if (const auto number = parse_whole(std::string_view(name).substr(kPrefix.size()))) {
        found.emplace_back(*number, name);
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> groups;
  for (auto& [number, name] : found) {
    groups.push_back(std::move(name));
  }
  return groups;
}

Transitions read_episodes(const Hdf5File& file, const std::vector<std::string>& groups) {
  Transitions all;
  for (const std::string& group : groups) {
    const Transitions rows = read_episode(group_of(file, group));
    if (group == groups.front()) {
      all.observation_size = rows.observation_size;
      all.action_size = rows.action_size;
    }
    check(rows.observation_size == all.observation_size && rows.action_size == all.action_size,
          "{}:{}: {} observation and {} action entries; earlier episodes have {} and {}", file.path(), group,
          rows.observation_size, rows.action_size, all.observation_size, all.action_size);
    all.append(rows, rows.num_rows);
  }
  return all;
}

Transitions read_hdf5_transitions(const std::string& path) {
  const Hdf5File file(path);
  const std::vector<std::string> groups = episode_groups(file);
  Transitions rows = groups.empty() ? read_flat(group_of(file, "")) : read_episodes(file, groups);
  rows.environment = file.attribute("problem");
  rows.policy = file.attribute("policy");
  return rows;
}

Transitions read_npz_transitions(const std::string& path) {
  const NpzFile file(path);
  return read_flat(archive_of(file, path));
}

std::size_t count_episodes(const Transitions& rows) {
  std::size_t ends = 0;
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    ends += rows.terminals[row] != 0 || rows.timeouts[row] != 0 || row + 1 == rows.num_rows ? 1 : 0;
  }
  return ends;
}

}  // namespace

Transitions read_transitions(const std::string& path) {
  check_in(path, path.ends_with(".h5") || path.ends_with(".hdf5") || path.ends_with(".npz"),
           "experience is read from .h5, .hdf5 and .npz files");
  Transitions rows = path.ends_with(".npz") ? read_npz_transitions(path) : read_hdf5_transitions(path);
  check_in(path, rows.num_rows > 0, "holds no rows");
  rows.num_episodes = count_episodes(rows);
  return rows;
}

}  // namespace dissent
