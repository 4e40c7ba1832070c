// Transitions on disk: HDF5 in the layout of D4RL, NPZ with the same names, CSV with a column per entry.
//
// Fields: observations [N, S], actions [N, A], rewards [N], next_observations [N, S], terminals [N], timeouts [N], and
// infos/expert [N] (NPZ: expert), all float32 except the last three, which are booleans (NPZ: int64 of 0 and 1). HDF5
// attributes problem, policy, seed, rows, episodes, unstable_episodes and dissent_version say how a file was made,
// policy_digest names the numbers of a trained policy that acted (Policy::digest()), and for robots there are model
// ("built-in" or a file), model_digest (of the compiled model) and mujoco_version.
#pragma once

#include <string>

#include "dissent/simulator/collect.hpp"

namespace dissent {

// The ending gives the format: .h5 or .hdf5, .npz, .csv. Anything else is an InputError. Writes all or nothing.
void write_transitions(const std::string& path, const Transitions& rows);
void check_transitions_ending(const std::string& path);

// Reads HDF5 made here or elsewhere, and NPZ made here:
// - D4RL: as above; all but observations and actions may be missing. Missing next_observations are taken from the row
//   that follows, and the last row of an episode is dropped (timeouts must be there then).
// - Minari: groups episode_0, episode_1, ... of observations [T + 1, S], actions [T, A], rewards, terminations,
//   truncations. Dictionaries of observations are not read.
// Either layout may use either name of a flag, and 0 and 1 of any type. Missing rewards are 0.
// Arrays whose sizes disagree and values that are not finite are InputErrors that name dataset and row.
Transitions read_transitions(const std::string& path);

}  // namespace dissent
