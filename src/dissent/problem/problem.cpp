#include "dissent/problem/problem.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/random.hpp"
#include "dissent/problem/cache.hpp"
#include "dissent/problem/one_dimensional.hpp"
#include "dissent/simulator/named_data.hpp"
#include "dissent/simulator/transitions_file.hpp"
#include "dissent/simulator/variant.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMinTrainReservoir = 10000;
constexpr std::size_t kRobotTestRows = 2000;
constexpr std::array<std::pair<PoolPolicy, std::string_view>, 3> kPoolPolicies{{
    {PoolPolicy::kMixed, "mixed"},
    {PoolPolicy::kRandom, "random"},
    {PoolPolicy::kExpert, "expert"},
}};
// Streams of the one-dimensional problems: training rows by the run's seed, the rest by the data's.
enum Section : std::uint64_t { kTrainSection = 1, kPoolSection = 2, kTestSection = 3 };

std::size_t or_default(std::size_t rows, std::size_t fallback) { return rows > 0 ? rows : fallback; }

// The first `count` entries of a random permutation of 0 ... size - 1.
std::vector<std::size_t> choose_rows(std::size_t size, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Stream(seed, Purpose::kSplit).shuffle(std::span(order));
  order.resize(count);
  return order;
}

using Draw = Point (*)(InputDistribution, Stream&);

struct OneDimensional {
  const char* name;
  Draw draw;
};
constexpr OneDimensional kOneDimensional[] = {{"hetero", draw_hetero}, {"bimodal", draw_bimodal}};

const OneDimensional* find_one_dimensional(std::string_view name) {
  const auto found = std::ranges::find(kOneDimensional, name, &OneDimensional::name);
  return found == std::end(kOneDimensional) ? nullptr : found;
}

ProblemRows draw_rows(Draw draw, InputDistribution inputs, std::size_t num_rows, std::uint64_t seed, Section section) {
  ProblemRows rows;
  rows.num_rows = num_rows;
  const Stream base(seed, Purpose::kProblem, section);
  for (std::size_t row = 0; row < num_rows; ++row) {
    Stream stream = base.substream(row);
    const Point point = draw(inputs, stream);
    rows.inputs.push_back(point.x);
    rows.targets.push_back(point.y);
  }
  return rows;
}

void check_no_policies(std::string_view name, const ProblemOptions& options) {
  check_argument(options.pool_policy == PoolPolicy::kMixed, "pool_policy", pool_policy_name(options.pool_policy),
                 "no policy made the pool of '{}'; give it for: {}", name, fmt::join(variant_names(), ", "));
}

Problem load_one_dimensional(const OneDimensional& which, const ProblemOptions& options) {
  const Draw draw = which.draw;
  Problem problem;
  problem.name = which.name;
  problem.input_names = {"x"};
  problem.target_names = {"y"};
  problem.train =
      draw_rows(draw, InputDistribution::kTraining, or_default(options.train_rows, 100), options.seed, kTrainSection);
  problem.pool = draw_rows(draw, InputDistribution::kTraining, or_default(options.pool_rows, 100000), options.data_seed,
                           kPoolSection);
  problem.test =
      draw_rows(draw, InputDistribution::kTest, or_default(options.test_rows, 20000), options.data_seed, kTestSection);
  return problem;
}

Problem robot_problem(std::string name, const Transitions& shape) {
  Problem problem;
  problem.name = std::move(name);
  problem.input_names = numbered_names("observation", shape.observation_size);
  const std::vector<std::string> actions = numbered_names("action", shape.action_size);
  problem.input_names.insert(problem.input_names.end(), actions.begin(), actions.end());
  problem.target_names = numbered_names("next_observation", shape.observation_size);
  return problem;
}

ProblemRows to_rows(const Transitions& from, std::span<const std::size_t> order) {
  ProblemRows rows;
  rows.num_rows = order.size();
  rows.inputs.reserve(order.size() * (from.observation_size + from.action_size));
  rows.targets.reserve(order.size() * from.observation_size);
  const auto copy = [](std::vector<double>& to, const std::vector<float>& source, std::size_t row, std::size_t width) {
    const auto begin = source.begin() + static_cast<std::ptrdiff_t>(row * width);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  for (const std::size_t row : order) {
    copy(rows.inputs, from.observations, row, from.observation_size);
    copy(rows.inputs, from.actions, row, from.action_size);
    copy(rows.targets, from.next_observations, row, from.observation_size);
  }
  return rows;
}

ProblemRows all_rows(const Transitions& from) {
  std::vector<std::size_t> order(from.num_rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return to_rows(from, order);
}

Problem load_robot(const std::string& name, const ProblemOptions& options) {
  const std::size_t train_rows = or_default(options.train_rows, 200);
  const CollectedSizes sizes{std::max(kMinTrainReservoir, train_rows), or_default(options.pool_rows, 100000),
                             or_default(options.test_rows, kRobotTestRows)};
  const CollectedProblem collected = cached_problem(name, sizes, options);
  Problem problem = robot_problem(name, collected.train);
  problem.train = to_rows(collected.train, choose_rows(sizes.train, train_rows, options.seed));
  problem.pool = all_rows(collected.pool);
  problem.from_expert = collected.pool.expert;
  problem.test = all_rows(collected.test);
  return problem;
}

// An external file is split at random: test rows by the data's seed, training rows by the run's, the rest is the pool.
Problem load_file(const std::string& path, const ProblemOptions& options) {
  const Transitions rows = read_transitions(path);
  const std::size_t num_test = or_default(options.test_rows, std::min(kRobotTestRows, rows.num_rows / 10));
  const std::size_t num_train = or_default(options.train_rows, 200);
  check_in(path, num_train + num_test < rows.num_rows,
           "{} rows; {} for training and {} for testing leave none for the pool", rows.num_rows, num_train, num_test);
  const std::vector<std::size_t> order = choose_rows(rows.num_rows, rows.num_rows, options.data_seed);
  const std::span<const std::size_t> test(order.data(), num_test);
  const std::span<const std::size_t> rest(order.data() + num_test, rows.num_rows - num_test);
  std::vector<std::size_t> own = choose_rows(rest.size(), rest.size(), options.seed);
  std::transform(own.begin(), own.end(), own.begin(), [&rest](std::size_t k) { return rest[k]; });
  const std::size_t num_pool = std::min(or_default(options.pool_rows, rest.size()), rest.size() - num_train);

  Problem problem = robot_problem(path, rows);
  problem.test = to_rows(rows, test);
  problem.train = to_rows(rows, std::span(own).first(num_train));
  const std::span<const std::size_t> pool = std::span(own).subspan(num_train, num_pool);
  problem.pool = to_rows(rows, pool);
  problem.from_expert = rows.select(pool).expert;
  return problem;
}

}  // namespace

std::string_view pool_policy_name(PoolPolicy policy) {
  return std::ranges::find(kPoolPolicies, policy, [](const auto& entry) { return entry.first; })->second;
}

std::vector<std::string> pool_policy_names() {
  std::vector<std::string> names;
  for (const auto& [policy, name] : kPoolPolicies) {
    names.emplace_back(name);
  }
  return names;
}

PoolPolicy pool_policy_from_name(std::string_view name) {
  check_name("pool_policy", name, pool_policy_names());
  return std::ranges::find(kPoolPolicies, name, [](const auto& entry) { return entry.second; })->first;
}

const std::vector<std::string>& problem_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const OneDimensional& problem : kOneDimensional) {
      all.emplace_back(problem.name);
    }
    const std::vector<std::string> simulated = variant_names();
    all.insert(all.end(), simulated.begin(), simulated.end());
    return all;
  }();
  return names;
}

bool is_one_dimensional(std::string_view name) { return find_one_dimensional(name) != nullptr; }

ProblemRows draw_points(std::string_view name, std::size_t num_rows, std::uint64_t seed) {
  const OneDimensional* which = find_one_dimensional(name);
  check(which != nullptr, "draw_points: '{}' is not a one-dimensional problem", name);
  return draw_rows(which->draw, InputDistribution::kTraining, num_rows, seed, kTrainSection);
}

Problem load_problem(std::string_view name, const ProblemOptions& options) {
  if (is_path("problem", name, problem_names())) {
    check_no_policies(name, options);
    return load_file(std::string(name), options);
  }
  if (const OneDimensional* which = find_one_dimensional(name)) {
    check_no_policies(name, options);
    return load_one_dimensional(*which, options);
  }
  return load_robot(std::string(name), options);
}

}  // namespace dissent
