#include "dissent/problem/cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <system_error>

#include "dissent/array/npz.hpp"
#include "dissent/base/check_in.hpp"
#include "dissent/base/digest.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/simulator/named_data.hpp"
#include "dissent/simulator/robot.hpp"
#include "dissent/simulator/variant.hpp"

namespace dissent {
namespace {

// Raise when collection changes in any way; a test that pins digests of collected rows notices.
constexpr std::string_view kFormat = "problem cache 1";
constexpr std::string_view kCacheAdvice = "set XDG_CACHE_HOME to a folder you may write to";
constexpr std::size_t kTestDilution = 10;  // test rows are a random tenth of the expert's, so that they are less alike
enum Part : std::uint64_t { kTrainPart = 1, kPoolPart = 2, kTestPart = 3 };

double pool_expert_share(PoolPolicy policy) {
  return policy == PoolPolicy::kMixed ? 0.1 : policy == PoolPolicy::kExpert ? 1 : 0;
}

// The order in which the rows of a part are kept.
std::vector<std::size_t> shuffled_order(std::size_t num_rows, Part part, const ProblemOptions& options) {
  std::vector<std::size_t> order(num_rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Stream(options.data_seed, Purpose::kSplit, part).shuffle(std::span(order));
  return order;
}

// Files do not say which rows are the expert's, but their order does: collect() puts the expert's last.
std::vector<std::uint8_t> expert_rows(std::size_t num_rows, const ProblemOptions& options) {
  const std::size_t num_expert = num_expert_rows(pool_expert_share(options.pool_policy), num_rows);
  std::vector<std::uint8_t> flags;
  for (const std::size_t row : shuffled_order(num_rows, kPoolPart, options)) {
    flags.push_back(row >= num_rows - num_expert ? 1 : 0);
  }
  return flags;
}

using PartProgress = std::function<void(std::size_t rows_done)>;

Transitions shuffled_part(const std::string& name, std::size_t num_rows, std::size_t dilution, Part part,
                          double expert_share, const ProblemOptions& options, PartProgress progress) {
  CollectOptions collect_options;
  collect_options.environment = name;
  collect_options.policy.expert_share = expert_share;
  collect_options.num_rows = num_rows * dilution;
  collect_options.seed = options.data_seed;
  collect_options.part = part;
  collect_options.num_threads = options.num_threads;
  collect_options.progress = std::move(progress);
  const Transitions rows = collect(collect_options);
  const std::vector<std::size_t> order = shuffled_order(rows.num_rows, part, options);
  return rows.select(std::span(order).first(num_rows));
}

CollectedProblem collect_problem(const std::string& name, const CollectedSizes& sizes, const ProblemOptions& options) {
  const std::size_t total = sizes.train + sizes.pool + kTestDilution * sizes.test;
  const auto progress_from = [&options, total](std::size_t before) -> PartProgress {
    if (!options.progress) {
      return {};
    }
    return [&options, total, before](std::size_t rows) { options.progress(before + rows, total); };
  };
  return {
      shuffled_part(name, sizes.train, 1, kTrainPart, 0, options, progress_from(0)),
      shuffled_part(name, sizes.pool, 1, kPoolPart, pool_expert_share(options.pool_policy), options,
                    progress_from(sizes.train)),
      shuffled_part(name, sizes.test, kTestDilution, kTestPart, 1, options, progress_from(sizes.train + sizes.pool))};
}

void store(const std::string& path, const CollectedProblem& problem) {
  std::vector<std::pair<std::string, ArrayView>> arrays;
  const auto add = [&arrays](const std::string& prefix, const Transitions& rows) {
    const auto matrix = [&rows](const std::vector<float>& values, std::size_t width) {
      return ArrayView(std::span<const float>(values), {rows.num_rows, width});
    };
    arrays.emplace_back(prefix + "_observations", matrix(rows.observations, rows.observation_size));
    arrays.emplace_back(prefix + "_actions", matrix(rows.actions, rows.action_size));
    arrays.emplace_back(prefix + "_next_observations", matrix(rows.next_observations, rows.observation_size));
  };
  add("train", problem.train);
  add("pool", problem.pool);
  add("test", problem.test);
  write_npz(path, arrays);
}

Transitions restore_part(const NpzFile& file, const std::string& prefix, std::size_t num_rows) {
  Transitions rows;
  const auto read = [&](const char* name, std::vector<float>& values) {
    const Array array = file.load(prefix + name);  // verifies the checksum
    check_in(array.source(), array.shape().size() == 2 && array.shape()[0] == num_rows, "has shape {}",
             shape_text(array.shape()));
    values = array.to<float>();
    return array.shape()[1];
  };
  rows.num_rows = num_rows;
  rows.observation_size = read("_observations", rows.observations);
  rows.action_size = read("_actions", rows.actions);
  check(read("_next_observations", rows.next_observations) == rows.observation_size, "sizes disagree");
  return rows;
}

CollectedProblem restore(const std::string& path, const CollectedSizes& sizes, const ProblemOptions& options) {
  const NpzFile file(path);
  CollectedProblem problem{restore_part(file, "train", sizes.train), restore_part(file, "pool", sizes.pool),
                           restore_part(file, "test", sizes.test)};
  problem.pool.expert = expert_rows(sizes.pool, options);
  return problem;
}

// Removes what a killed process left half written; after a day nobody is still writing it.
void remove_stale_temporaries(const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(".tmp") && entry.last_write_time(ignored) < long_ago) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

// Makes the folder before hours of simulation, not after.
void prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fail_system("{}: the cache directory cannot be made: {}; {}", folder.string(), error.message(), kCacheAdvice);
  }
  try {
    AtomicFile probe((folder / "probe").string());
  } catch (const Error& failure) {
    fail_system("{}; {}", failure.what(), kCacheAdvice);
  }
  remove_stale_temporaries(folder);
}

}  // namespace

std::string default_cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/dissent";
  }
  const char* home = std::getenv("HOME");
  check(home != nullptr && *home != '\0',
        "cache directory: neither XDG_CACHE_HOME (an absolute path) nor HOME is set; set one of them");
  return std::string(home) + "/.cache/dissent";
}

std::string cache_file(const std::string& name, const CollectedSizes& sizes, const ProblemOptions& options) {
  const Variant& variant = find_variant(name);
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {}{}", kFormat, name, options.data_seed, sizes.train,
                                sizes.pool, sizes.test, mujoco_version(), embedded_model(variant.environment),
                                embedded_policy(variant.policy), variant.settings_text());
  if (options.pool_policy != PoolPolicy::kMixed) {
    key += fmt::format(" {}", pool_policy_name(options.pool_policy));
  }
  const std::string root = options.cache_directory.empty() ? default_cache_directory() : options.cache_directory;
  std::string stem = name;
  std::ranges::replace(stem, ':', '-');  // not every file system takes a colon
  return fmt::format("{}/problems/{}-{:016x}.npz", root, stem, digest(key));
}

CollectedProblem cached_problem(const std::string& name, const CollectedSizes& sizes, const ProblemOptions& options) {
  const std::string path = cache_file(name, sizes, options);
  const auto notice = [&options](const std::string& message) {
    if (options.notice) {
      options.notice(message);
    }
  };
  std::error_code unreachable;  // prepare_folder() then says why
  if (std::filesystem::exists(path, unreachable)) {
    try {
      return restore(path, sizes, options);
    } catch (const InputError& failure) {
      notice(fmt::format("cache damaged ({}): collecting again", failure.what()));
    }
  }
  prepare_folder(std::filesystem::path(path).parent_path());
  notice(fmt::format("collecting {} into {} (once)", name, path));
  CollectedProblem problem = collect_problem(name, sizes, options);
  store(path, problem);
  return problem;
}

}  // namespace dissent
