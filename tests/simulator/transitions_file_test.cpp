#include "dissent/simulator/transitions_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <limits>

#include "dissent/array/hdf5.hpp"
#include "dissent/base/error.hpp"
#include "dissent/simulator/robot.hpp"
#include "dissent/table/csv.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Transitions pendulum_rows(std::size_t num_rows) {
  CollectOptions options;
  options.environment = "pendulum";
  options.policy = parse_policy_choice("mixed:0.2");
  options.num_rows = num_rows;
  options.num_threads = 1;
  return collect(options);
}

void expect_same(const Transitions& a, const Transitions& b) {
  EXPECT_EQ(a.num_rows, b.num_rows);
  EXPECT_EQ(a.observation_size, b.observation_size);
  EXPECT_EQ(a.action_size, b.action_size);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.rewards, b.rewards);
  EXPECT_EQ(a.next_observations, b.next_observations);
  EXPECT_EQ(a.terminals, b.terminals);
  EXPECT_EQ(a.timeouts, b.timeouts);
  EXPECT_EQ(a.expert, b.expert);
}

class TransitionsFileTest : public testing::Test {
 protected:
  void require_hdf5() {
    if (!hdf5_available()) {
      GTEST_SKIP() << "built without HDF5";
    }
  }
  template <class T>
  static Hdf5Dataset dataset(std::string name, DType dtype, Shape shape, const std::vector<T>& values) {
    return {std::move(name), dtype, std::move(shape), std::as_bytes(std::span(values))};
  }
  TempDir folder_;
};

TEST_F(TransitionsFileTest, NpzRestoresTheRows) {
  const Transitions rows = pendulum_rows(450);
  write_transitions(folder_.file("rows.npz"), rows);
  expect_same(read_transitions(folder_.file("rows.npz")), rows);
}

TEST_F(TransitionsFileTest, Hdf5RestoresTheRows) {
  require_hdf5();
  const Transitions rows = pendulum_rows(450);
  write_transitions(folder_.file("rows.h5"), rows);
  const Transitions read = read_transitions(folder_.file("rows.h5"));
  expect_same(read, rows);
  EXPECT_EQ(read.environment, "pendulum");
  EXPECT_EQ(read.policy, "mixed:0.2");
}

TEST_F(TransitionsFileTest, CsvHasAColumnPerEntry) {
  const Transitions rows = pendulum_rows(30);
  write_transitions(folder_.file("rows.csv"), rows);
  const Table table = read_csv(folder_.file("rows.csv"));
  ASSERT_EQ(table.num_rows, 30U);
  ASSERT_EQ(table.columns.size(), 3U + 1 + 1 + 3 + 3);
  for (std::size_t row = 0; row < 30; ++row) {
    EXPECT_EQ(static_cast<float>(table.column("observation_1").values[row]), rows.observations[row * 3 + 1]);
    EXPECT_EQ(static_cast<float>(table.column("next_observation_2").values[row]), rows.next_observations[row * 3 + 2]);
    EXPECT_EQ(static_cast<float>(table.column("action_0").values[row]), rows.actions[row]);
    EXPECT_EQ(table.column("expert").values[row], rows.expert[row]);
  }
}

TEST_F(TransitionsFileTest, OtherEndingsAreRefused) {
  EXPECT_NE(message_of<InputError>([&] {
              write_transitions(folder_.file("rows.txt"), pendulum_rows(3));
            }).find("must be .h5, .hdf5, .npz or .csv"),
            std::string::npos);
  EXPECT_TRUE(folder_.list().empty());
}

// Five rows in two episodes, as older D4RL files have them: float64, uint8 flags, no next_observations.
TEST_F(TransitionsFileTest, D4rlWithoutNextObservations) {
  require_hdf5();
  const std::vector<double> observations{0, 1, 2, 10, 11};
  const std::vector<double> actions{5, 6, 7, 8, 9};
  const std::vector<double> rewards{1, 2, 3, 4, 5};
  const std::vector<std::uint8_t> terminals{0, 0, 0, 0, 1};
  const std::vector<std::uint8_t> timeouts{0, 0, 1, 0, 0};
  const std::string path = folder_.file("d4rl.hdf5");
  const std::vector<Hdf5Dataset> fields{dataset("observations", DType::kFloat64, {5, 1}, observations),
                                        dataset("actions", DType::kFloat64, {5, 1}, actions),
                                        dataset("rewards", DType::kFloat64, {5}, rewards),
                                        dataset("terminals", DType::kUint8, {5}, terminals)};
  write_hdf5(path, fields);
  EXPECT_NE(message_of<InputError>([&] { read_transitions(path); }).find("ends of episodes are unknown"),
            std::string::npos);
  std::vector<Hdf5Dataset> with_timeouts = fields;
  with_timeouts.push_back(dataset("timeouts", DType::kUint8, {5}, timeouts));
  write_hdf5(path, with_timeouts);
  const Transitions rows = read_transitions(path);
  EXPECT_EQ(rows.num_rows, 3U);
  EXPECT_EQ(rows.observations, (std::vector<float>{0, 1, 10}));
  EXPECT_EQ(rows.next_observations, (std::vector<float>{1, 2, 11}));
  EXPECT_EQ(rows.actions, (std::vector<float>{5, 6, 8}));
  EXPECT_EQ(rows.timeouts, (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST_F(TransitionsFileTest, MinariEpisodesInNumericalOrder) {
  require_hdf5();
  std::vector<std::vector<float>> kept;  // the datasets are views
  std::vector<Hdf5Dataset> fields;
  const std::vector<std::uint8_t> no{0, 0};
  const std::vector<std::uint8_t> last{0, 1};
  kept.reserve(40);
  for (const int episode : {10, 2, 0}) {
    const std::string group = "episode_" + std::to_string(episode) + "/";
    const auto base = static_cast<float>(episode);
    kept.push_back({base, base + 0.1F, base + 0.2F});
    fields.push_back(dataset(group + "observations", DType::kFloat32, {3, 1}, kept.back()));
    kept.push_back({1, 2, 3, 4});
    fields.push_back(dataset(group + "actions", DType::kFloat32, {2, 2}, kept.back()));
    kept.push_back({7, 8});
    fields.push_back(dataset(group + "rewards", DType::kFloat32, {2}, kept.back()));
    fields.push_back(dataset(group + "terminations", DType::kBool, {2}, episode == 2 ? last : no));
    fields.push_back(dataset(group + "truncations", DType::kBool, {2}, episode == 2 ? no : last));
  }
  write_hdf5(folder_.file("minari.hdf5"), fields);
  const Transitions rows = read_transitions(folder_.file("minari.hdf5"));
  EXPECT_EQ(rows.num_rows, 6U);
  EXPECT_EQ(rows.num_episodes, 3U);
  EXPECT_EQ(rows.observations, (std::vector<float>{0, 0.1F, 2, 2.1F, 10, 10.1F}));
  EXPECT_EQ(rows.next_observations, (std::vector<float>{0.1F, 0.2F, 2.1F, 2.2F, 10.1F, 10.2F}));
  EXPECT_EQ(rows.terminals, (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(rows.timeouts, (std::vector<std::uint8_t>{0, 1, 0, 0, 0, 1}));
}

TEST_F(TransitionsFileTest, BadContentIsNamed) {
  require_hdf5();
  const std::string path = folder_.file("bad.h5");
  const std::vector<float> three{1, 2, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> two{1, 2};
  const auto error = [&](const std::vector<Hdf5Dataset>& fields) {
    write_hdf5(path, fields);
    return message_of<InputError>([&] { read_transitions(path); });
  };
  EXPECT_EQ(error({dataset("actions", DType::kFloat32, {2, 1}, two)}),
            path + ": has no \"observations\"; expected D4RL's flat arrays or Minari's groups episode_0, ...");
  EXPECT_EQ(error({dataset("observations", DType::kFloat32, {3, 1}, three),
                   dataset("actions", DType::kFloat32, {2, 1}, two)}),
            path + ":observations: row 2 holds nan; values must be finite");
  EXPECT_EQ(
      error({dataset("observations", DType::kFloat32, {2, 1}, two), dataset("actions", DType::kFloat32, {1, 2}, two)}),
      path + ": 2 rows of observations, 1 of actions");
  const Hdf5Dataset observations = dataset("observations", DType::kFloat32, {2, 1}, two);
  const Hdf5Dataset actions = dataset("actions", DType::kFloat32, {2, 1}, two);
  EXPECT_EQ(error({observations, actions, dataset("next_observations", DType::kFloat32, {1, 2}, two)}),
            path + ":next_observations: has 1 rows of 2 values; observations and actions call for 2 of 1");
  EXPECT_EQ(error({observations, actions, dataset("terminals", DType::kFloat32, {2}, two)}),
            path + ":terminals: row 1 holds 2; flags are 0 or 1");
  EXPECT_EQ(error({observations, actions, dataset("rewards", DType::kFloat32, {1, 2}, two)}),
            path + ":rewards: has 1 rows of 2 values; observations and actions call for 2 of 1");
  write_transitions(path, pendulum_rows(100));
  folder_.write("bad.h5", read_bytes(path).substr(0, 3000));
  EXPECT_NE(message_of<InputError>([&] { read_transitions(path); }).find("cut short or damaged"), std::string::npos);
}

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_h5py() { return run("/usr/bin/python3 -c 'import h5py' 2> /dev/null") == 0; }

// The same five rows in two episodes, as others write them: every name and type of flags, compressed, in chunks, with
// and without next_observations, flat or in groups.
TEST_F(TransitionsFileTest, FilesWrittenByH5py) {
  require_hdf5();
  if (!has_h5py()) {
    GTEST_SKIP() << "python3-h5py is not installed";
  }
  const std::string script = folder_.write("write.py", R"(
import sys, h5py, numpy as np
folder = sys.argv[1]
observations = np.array([[0, 5], [1, 6], [2, 7], [10, 8], [11, 9]], "f8")
following = np.array([[1, 6], [2, 7], [3, 8], [11, 9], [12, 10]], "f8")
actions, rewards = np.arange(5.0).reshape(5, 1), np.arange(5.0)
fell, cut = np.array([0, 0, 1, 0, 0]), np.array([0, 0, 0, 0, 1])
for kind in ("?", "i1", "u1", "i8", "f4", "f8"):
    for names in (("terminals", "timeouts"), ("terminations", "truncations")):
        with h5py.File(f"{folder}/flat_{np.dtype(kind).name}_{names[0]}.hdf5", "w") as f:
            f.create_dataset("observations", data=observations, compression="gzip", chunks=(2, 2))
            f["actions"], f["rewards"], f["next_observations"] = actions, rewards, following
            f[names[0]], f[names[1]] = fell.astype(kind), cut.astype(kind)
            f["infos/qpos"] = np.zeros((5, 2))
            f["metadata/algorithm"] = "unknown"
with h5py.File(f"{folder}/derived.hdf5", "w") as f:
    f["observations"], f["actions"] = observations.astype("f4"), actions.astype("f4")[:, 0]
    f["terminations"], f["truncations"] = fell.astype(bool), cut.astype(bool)[:, None]
with h5py.File(f"{folder}/bare.hdf5", "w") as f:
    f["observations"], f["actions"], f["next_observations"] = observations, actions, following
with h5py.File(f"{folder}/minari.hdf5", "w") as f:
    f.attrs["total_episodes"], f.attrs["total_steps"] = 2, 5
    for number, rows in enumerate((slice(0, 3), slice(3, 5))):
        group = f.create_group(f"episode_{number}")
        group.attrs["id"], group.attrs["total_steps"] = number, rows.stop - rows.start
        group.create_dataset("observations", data=np.vstack([observations[rows], following[rows][-1:]]), chunks=True)
        group["actions"], group["rewards"] = actions[rows], rewards[rows]
        group["terminations"], group["truncations"] = fell[rows].astype(bool), cut[rows].astype(bool)
        group["infos/x_position"] = np.zeros(rows.stop - rows.start + 1)
with h5py.File(f"{folder}/dictionary.hdf5", "w") as f:
    f["episode_0/observations/goal"], f["episode_0/actions"] = observations, actions
)");
  ASSERT_EQ(run("/usr/bin/python3 '" + script + "' '" + folder_.path() + "'"), 0);
  std::size_t whole = 0;
  for (const std::string& name : folder_.list()) {
    if (name.starts_with("flat_") || name == "minari.hdf5") {
      const Transitions rows = read_transitions(folder_.file(name));
      EXPECT_EQ(rows.num_episodes, 2U) << name;
      EXPECT_EQ(rows.observations, (std::vector<float>{0, 5, 1, 6, 2, 7, 10, 8, 11, 9})) << name;
      EXPECT_EQ(rows.next_observations, (std::vector<float>{1, 6, 2, 7, 3, 8, 11, 9, 12, 10})) << name;
      EXPECT_EQ(rows.actions, (std::vector<float>{0, 1, 2, 3, 4})) << name;
      EXPECT_EQ(rows.rewards, (std::vector<float>{0, 1, 2, 3, 4})) << name;
      EXPECT_EQ(rows.terminals, (std::vector<std::uint8_t>{0, 0, 1, 0, 0})) << name;
      EXPECT_EQ(rows.timeouts, (std::vector<std::uint8_t>{0, 0, 0, 0, 1})) << name;
      ++whole;
    }
  }
  EXPECT_EQ(whole, 13U);
  const Transitions derived = read_transitions(folder_.file("derived.hdf5"));
  EXPECT_EQ(derived.observations, (std::vector<float>{0, 5, 1, 6, 10, 8}));
  EXPECT_EQ(derived.next_observations, (std::vector<float>{1, 6, 2, 7, 11, 9}));
  EXPECT_EQ(derived.actions, (std::vector<float>{0, 1, 3}));
  EXPECT_EQ(derived.timeouts, (std::vector<std::uint8_t>{0, 1, 1}));
  const Transitions bare = read_transitions(folder_.file("bare.hdf5"));
  EXPECT_EQ(bare.num_rows, 5U);
  EXPECT_EQ(bare.rewards, std::vector<float>(5, 0));
  EXPECT_EQ(message_of<InputError>([&] { read_transitions(folder_.file("dictionary.hdf5")); }),
            folder_.file("dictionary.hdf5") + ":episode_0/observations: is a group, not a dataset");
}

// What a user of Python sees. The script asserts each promised fact.
TEST_F(TransitionsFileTest, H5pyReadsTheHopperFile) {
  require_hdf5();
  if (!mujoco_available()) {
    GTEST_SKIP() << "built without MuJoCo";
  }
  if (!has_h5py()) {
    GTEST_SKIP() << "python3-h5py is not installed";
  }
  CollectOptions options;
  options.environment = "hopper";
  options.policy = parse_policy_choice("mixed:0.1");
  options.num_rows = 20000;
  options.seed = std::numeric_limits<std::uint64_t>::max();
  write_transitions(folder_.file("hopper.h5"), collect(options));
  const std::string script = folder_.write("check.py", R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    shapes = {'observations': (20000, 11), 'actions': (20000, 3), 'rewards': (20000,),
              'next_observations': (20000, 11), 'terminals': (20000,), 'timeouts': (20000,)}
    for name, shape in shapes.items():
        assert f[name].shape == shape, (name, f[name].shape)
        assert f[name].dtype == (bool if name in ('terminals', 'timeouts') else np.float32), (name, f[name].dtype)
    assert f['infos/expert'][()].sum() == 2000
    ends = f['terminals'][()] | f['timeouts'][()]
    same = (f['next_observations'][:-1] == f['observations'][1:]).all(axis=1)
    assert same[~ends[:-1]].all() and not same[ends[:-1]].any()
    assert np.isfinite(f['observations'][()]).all() and abs(f['actions'][()]).max() <= 1
    a = dict(f.attrs)
    assert a['problem'] == 'hopper' and a['policy'] == 'mixed:0.1' and a['seed'] == 2**64 - 1, a
    assert a['model'] == 'built-in' and len(a['model_digest']) == 16 and a['mujoco_version'] == '2.2.2', a
    assert a['dissent_version'].count('.') == 2 and a['rows'] == 20000 and a['unstable_episodes'] == 0, a
    assert a['episodes'] == ends.sum(), a
)");
  EXPECT_EQ(run("/usr/bin/python3 '" + script + "' '" + folder_.file("hopper.h5") + "'"), 0);
}

}  // namespace
}  // namespace dissent
