#include <algorithm>
#include <string>
#include <vector>

#include "dissent/array/hdf5.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/version.hpp"
#include "dissent/simulator/robot.hpp"
#include "dissent/simulator/transitions_file.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

template <class T>
Hdf5Dataset dataset(std::string name, DType dtype, Shape shape, const std::vector<T>& values) {
  return {std::move(name), dtype, std::move(shape), std::as_bytes(std::span(values))};
}

// How the rows came about: with these, the same program makes them again.
std::vector<Hdf5Attribute> provenance(const Transitions& rows) {
  std::vector<Hdf5Attribute> attributes{{"problem", rows.environment},
                                        {"policy", rows.policy},
                                        {"seed", rows.seed},
                                        {"rows", std::uint64_t{rows.num_rows}},
                                        {"episodes", std::uint64_t{rows.num_episodes}},
                                        {"unstable_episodes", std::uint64_t{rows.num_unstable}},
                                        {"dissent_version", std::string(kVersion)}};
  if (!rows.policy_digest.empty()) {
    attributes.emplace_back("policy_digest", rows.policy_digest);
  }
  if (!rows.model.empty()) {
    attributes.insert(
        attributes.end(),
        {{"model", rows.model}, {"model_digest", rows.model_digest}, {"mujoco_version", mujoco_version()}});
  }
  return attributes;
}

void write_transitions_hdf5(const std::string& path, const Transitions& rows) {
  const Shape states{rows.num_rows, rows.observation_size};
  const Shape flags{rows.num_rows};
  write_hdf5(path,
             {dataset("observations", DType::kFloat32, states, rows.observations),
              dataset("actions", DType::kFloat32, {rows.num_rows, rows.action_size}, rows.actions),
              dataset("rewards", DType::kFloat32, flags, rows.rewards),
              dataset("next_observations", DType::kFloat32, states, rows.next_observations),
              dataset("terminals", DType::kBool, flags, rows.terminals),
              dataset("timeouts", DType::kBool, flags, rows.timeouts),
              dataset("infos/expert", DType::kBool, flags, rows.expert)},
             provenance(rows));
}

void write_transitions_npz(const std::string& path, const Transitions& rows) {
  const auto widen = [](const std::vector<std::uint8_t>& flags) {
    return std::vector<std::int64_t>(flags.begin(), flags.end());
  };
  const std::vector<std::int64_t> terminals = widen(rows.terminals);
  const std::vector<std::int64_t> timeouts = widen(rows.timeouts);
  const std::vector<std::int64_t> expert = widen(rows.expert);
  const auto matrix = [&rows](const std::vector<float>& values, std::size_t width) {
    return ArrayView(std::span<const float>(values), {rows.num_rows, width});
  };
  write_npz(path, {{"observations", matrix(rows.observations, rows.observation_size)},
                   {"actions", matrix(rows.actions, rows.action_size)},
                   {"rewards", ArrayView(rows.rewards)},
                   {"next_observations", matrix(rows.next_observations, rows.observation_size)},
                   {"terminals", ArrayView(terminals)},
                   {"timeouts", ArrayView(timeouts)},
                   {"expert", ArrayView(expert)}});
}

void write_transitions_csv(const std::string& path, const Transitions& rows) {
  std::vector<std::string> names = numbered_names("observation", rows.observation_size);
  const auto extend = [&names](const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  extend(numbered_names("action", rows.action_size));
  extend({"reward"});
  extend(numbered_names("next_observation", rows.observation_size));
  extend({"terminal", "timeout", "expert"});
  CsvWriter writer(path, names);
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    const auto fields = [&](const std::vector<float>& values, std::size_t width) {
      for (std::size_t k = 0; k < width; ++k) {
        writer.field(values[row * width + k]);
      }
    };
    fields(rows.observations, rows.observation_size);
    fields(rows.actions, rows.action_size);
    fields(rows.rewards, 1);
    fields(rows.next_observations, rows.observation_size);
    writer.row(int{rows.terminals[row]}, int{rows.timeouts[row]}, int{rows.expert[row]});
  }
  writer.commit();
}

bool is_hdf5(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

}  // namespace

void check_transitions_ending(const std::string& path) {
  check_in(path, is_hdf5(path) || path.ends_with(".npz") || path.ends_with(".csv"),
           "the ending says the format and must be .h5, .hdf5, .npz or .csv");
  check_in(path, !is_hdf5(path) || hdf5_available(),
           "this build cannot read or write HDF5; install libhdf5-dev and configure the build again");
}

void write_transitions(const std::string& path, const Transitions& rows) {
  check_transitions_ending(path);
  if (is_hdf5(path)) {
    write_transitions_hdf5(path, rows);
  } else if (path.ends_with(".npz")) {
    write_transitions_npz(path, rows);
  } else {
    write_transitions_csv(path, rows);
  }
}

}  // namespace dissent
