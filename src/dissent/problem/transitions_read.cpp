#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/problem/transitions_file.hpp"
#include "dissent/table/hdf5.hpp"
#include "dissent/table/npz.hpp"

namespace dissent {
namespace {

// One array of a file: [rows][width], finite float32.
struct Field {
  std::size_t rows = 0;
  std::size_t width = 1;
  std::vector<float> values;
};

Field to_field(const Array& array) {
  const Shape& shape = array.shape();
  check(shape.size() == 1 || shape.size() == 2, "{}: has shape {}; expected one or two dimensions", array.source(),
        shape_text(shape));
  Field field{shape[0], shape.size() == 2 ? shape[1] : 1, array.to<float>()};
  for (std::size_t k = 0; k < field.values.size(); ++k) {
    check(std::isfinite(field.values[k]), "{}: row {} holds {}; values must be finite", array.source(), k / field.width,
          field.values[k]);
  }
  return field;
}

void check_rows(const Field& field, std::size_t rows, const std::string& path, const char* name) {
  check(field.rows == rows, "{}: {} has {} rows, observations and actions call for {}", path, name, field.rows, rows);
}

std::vector<std::uint8_t> to_flags(const Field& field) {
  std::vector<std::uint8_t> flags(field.values.size());
  std::transform(field.values.begin(), field.values.end(), flags.begin(), [](float x) { return x != 0 ? 1 : 0; });
  return flags;
}

// A file of flat arrays, behind one way to ask for them.
class FlatFile {
 public:
  virtual ~FlatFile() = default;
  virtual std::optional<Field> find(const std::string& name) const = 0;
};

class FlatHdf5 : public FlatFile {
 public:
  explicit FlatHdf5(const Hdf5File& file) : file_(file) {}
  std::optional<Field> find(const std::string& name) const override {
    return file_.contains(name) ? std::optional(to_field(file_.load(name))) : std::nullopt;
  }

 private:
  const Hdf5File& file_;
};

class FlatNpz : public FlatFile {
 public:
  explicit FlatNpz(const std::string& path) : file_(path) {}
  std::optional<Field> find(const std::string& name) const override {
    const std::string plain = name.substr(name.rfind('/') + 1);  // npos + 1 == 0
    return file_.contains(plain) ? std::optional(to_field(file_.load(plain))) : std::nullopt;
  }

 private:
  NpzFile file_;
};

// next_observations from the rows that follow; rows without one (an episode's last) go.
void derive_next_observations(Transitions& rows, const std::string& path) {
  check(!rows.timeouts.empty(), "{}: has neither next_observations nor timeouts, so the ends of episodes are unknown",
        path);
  Transitions kept = rows;
  for (auto* values : {&kept.observations, &kept.actions, &kept.rewards, &kept.next_observations}) {
    values->clear();
  }
  for (auto* flags : {&kept.terminals, &kept.timeouts, &kept.expert}) {
    flags->clear();
  }
  kept.num_rows = 0;
  const auto copy_row = [](std::vector<float>& to, const std::vector<float>& from, std::size_t row, std::size_t width) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * width);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  const auto ends = [&rows](std::size_t row) {
    return row + 1 >= rows.num_rows || rows.terminals[row] != 0 || rows.timeouts[row] != 0;
  };
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    if (ends(row)) {
      continue;
    }
    copy_row(kept.observations, rows.observations, row, rows.observation_size);
    copy_row(kept.actions, rows.actions, row, rows.action_size);
    copy_row(kept.rewards, rows.rewards, row, 1);
    copy_row(kept.next_observations, rows.observations, row + 1, rows.observation_size);
    kept.terminals.push_back(0);
    kept.timeouts.push_back(ends(row + 1) ? 1 : 0);
    kept.expert.push_back(rows.expert[row]);
    ++kept.num_rows;
  }
  rows = std::move(kept);
}

Transitions read_flat(const FlatFile& file, const std::string& path) {
  const auto require = [&](const char* name) {
    std::optional<Field> field = file.find(name);
    check(field.has_value(), "{}: has no \"{}\"; expected D4RL's flat arrays or Minari's groups episode_0, ...", path,
          name);
    return *std::move(field);
  };
  Field observations = require("observations");
  Field actions = require("actions");
  Transitions rows;
  rows.num_rows = actions.rows;
  rows.observation_size = observations.width;
  rows.action_size = actions.width;
  check_rows(observations, rows.num_rows, path, "observations");
  rows.observations = std::move(observations.values);
  rows.actions = std::move(actions.values);

  const auto optional_flags = [&](const char* name) {
    const std::optional<Field> field = file.find(name);
    if (!field) {
      return std::vector<std::uint8_t>(rows.num_rows, 0);
    }
    check_rows(*field, rows.num_rows, path, name);
    return to_flags(*field);
  };
  std::optional<Field> rewards = file.find("rewards");
  rows.rewards = rewards ? std::move(rewards->values) : std::vector<float>(rows.num_rows, 0);
  check(rows.rewards.size() == rows.num_rows, "{}: rewards has {} values for {} rows", path, rows.rewards.size(),
        rows.num_rows);
  rows.terminals = optional_flags("terminals");
  rows.expert = optional_flags("infos/expert");
  const bool has_timeouts = file.find("timeouts").has_value();
  if (has_timeouts) {
    rows.timeouts = optional_flags("timeouts");
  }
  if (std::optional<Field> next = file.find("next_observations")) {
    check_rows(*next, rows.num_rows, path, "next_observations");
    check(next->width == rows.observation_size, "{}: next_observations has {} columns, observations {}", path,
          next->width, rows.observation_size);
    rows.next_observations = std::move(next->values);
    rows.timeouts.resize(rows.num_rows, 0);
  } else {
    derive_next_observations(rows, path);
  }
  return rows;
}

// The numbers of groups named episode_<number>, ascending.
std::vector<std::size_t> episode_numbers(const Hdf5File& file) {
  constexpr std::string_view kPrefix = "episode_";
  std::vector<std::size_t> numbers;
  for (const std::string& name : file.names()) {
    std::size_t number = 0;
    const char* end = name.data() + name.size();
    if (name.starts_with(kPrefix) && std::from_chars(name.data() + kPrefix.size(), end, number).ptr == end) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Transitions read_minari_episode(const Hdf5File& file, const std::string& group) {
  const std::string where = file.path() + ":" + group;
  const Field observations = to_field(file.load(group + "/observations"));
  const Field actions = to_field(file.load(group + "/actions"));
  Transitions rows;
  rows.num_rows = actions.rows;
  rows.observation_size = observations.width;
  rows.action_size = actions.width;
  check_rows(observations, rows.num_rows + 1, where, "observations");
  const auto width = static_cast<std::ptrdiff_t>(observations.width);
  rows.observations.assign(observations.values.begin(), observations.values.end() - width);
  rows.next_observations.assign(observations.values.begin() + width, observations.values.end());
  rows.actions = actions.values;
  const auto flags = [&](const char* name) {
    const Field field = to_field(file.load(group + "/" + name));
    check_rows(field, rows.num_rows, where, name);
    return to_flags(field);
  };
  const Field rewards = to_field(file.load(group + "/rewards"));
  check_rows(rewards, rows.num_rows, where, "rewards");
  rows.rewards = rewards.values;
  rows.terminals = flags("terminations");
  rows.timeouts = flags("truncations");
  rows.expert.assign(rows.num_rows, 0);
  rows.num_episodes = rows.num_rows > 0 ? 1 : 0;
  return rows;
}

Transitions read_minari(const Hdf5File& file, const std::vector<std::size_t>& episodes) {
  Transitions all;
  for (const std::size_t number : episodes) {
    const std::string group = fmt::format("episode_{}", number);
    const Transitions rows = read_minari_episode(file, group);
    if (number == episodes.front()) {
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
  const std::vector<std::size_t> episodes = episode_numbers(file);
  Transitions rows = episodes.empty() ? read_flat(FlatHdf5(file), path) : read_minari(file, episodes);
  rows.environment = file.attribute("environment");
  rows.policy = file.attribute("policy");
  return rows;
}

}  // namespace

Transitions read_transitions(const std::string& path) {
  check(path.ends_with(".h5") || path.ends_with(".hdf5") || path.ends_with(".npz"),
        "{}: experience is read from .h5, .hdf5 and .npz files", path);
  Transitions rows = path.ends_with(".npz") ? read_flat(FlatNpz(path), path) : read_hdf5_transitions(path);
  check(rows.num_rows > 0, "{}: holds no rows", path);
  return rows;
}

}  // namespace dissent
