// Rows whose labels are on their way: every method that weighs rows against each other goes on from them as from its
// own picks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "acquisition/models.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/table/table.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

constexpr std::size_t kRows = 120;

// Candidates without the rows that are asked for already, and those.
struct Interrupted {
  std::vector<std::size_t> numbers;  // of the candidates
  std::vector<double> candidates;
  std::vector<double> pending;
};

Interrupted interrupted(const std::vector<double>& rows, std::span<const std::size_t> early) {
  Interrupted result;
  for (std::size_t n = 0; n < rows.size() / 2; ++n) {
    if (std::ranges::find(early, n) == early.end()) {
      result.numbers.push_back(n);
    }
  }
  result.candidates = pick_rows(rows, 2, result.numbers);
  result.pending = pick_rows(rows, 2, early);
  return result;
}

class Pending : public testing::TestWithParam<std::string> {
 protected:
  Choice choose_from(const std::vector<double>& candidates, std::size_t batch, std::span<const double> pending,
                     Ranking ranking = Ranking::kDeficit) const {
    AcquisitionTask task{model, {training, {}}, batch, Stream(5, Purpose::kAcquire)};
    task.aim = method.info().uses_aim ? std::span<const double>(aim) : std::span<const double>();
    task.pending = pending;
    task.ranking = ranking;
    return choose(method, task, candidates);
  }

  Acquisition method = Acquisition::parse(GetParam());
  Ensemble model = drawn_model({.num_outputs = 3, .num_components = 8, .gain = 1.2});
  std::vector<double> training = drawn_rows(15, 2, 3);
  std::vector<double> rows = drawn_rows(kRows, 2, 8);
  std::vector<double> aim = drawn_rows(30, 2, 9);
};

std::vector<std::string> methods_with_batches() {
  std::vector<std::string> names = test::typed_methods();
  std::erase_if(names, [](const std::string& name) { return Acquisition::parse(name).streams() || name == "badge"; });
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

// Four and then six more are the ten of one batch, with the same scores, before and after components are told apart.
TEST_P(Pending, ContinueTheBatch) {
  if (GetParam() == "bait") {
    rows.resize(2 * 10);  // it drops half of what it picks, where there is more to pick from
  }
  for (const Ranking ranking : {Ranking::kDeficit, Ranking::kValue}) {
    const Choice whole = choose_from(rows, 10, {}, ranking);
    for (const std::size_t early : {1UL, 4UL}) {
      const Interrupted left = interrupted(rows, std::span(whole.rows).first(early));
      const Choice rest = choose_from(left.candidates, 10 - early, left.pending, ranking);
      for (std::size_t k = 0; k < rest.rows.size(); ++k) {
        EXPECT_EQ(left.numbers[rest.rows[k]], whole.rows[early + k]) << early << " " << k;
        EXPECT_NEAR(rest.scores[k], whole.scores[early + k], 1e-6 * std::max(1.0, std::abs(whole.scores[early + k])));
        EXPECT_DOUBLE_EQ(rest.epistemic[k], whole.epistemic[early + k]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Pending, testing::ValuesIn(methods_with_batches()), test_name);

// badge draws a target for each row by its number. Where the first pick is the last row, it keeps its number as the one
// that is on its way.
TEST(PendingBadge, ContinuesTheBatch) {
  const Ensemble model = drawn_model({.num_outputs = 3, .num_components = 8, .gain = 1.2});
  const std::vector<double> rows = drawn_rows(10, 2, 8);
  std::size_t num_compared = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    AcquisitionTask task{model, {}, 6, Stream(seed, Purpose::kAcquire)};
    const Choice whole = choose(Acquisition::parse("badge"), task, rows);
    if (whole.rows[0] != 9) {
      continue;
    }
    task.batch = 5;
    task.pending = std::span(rows).last(2);
    const Choice rest = choose(Acquisition::parse("badge"), task, std::span(rows).first(18));
    EXPECT_EQ(rest.rows, std::vector(whole.rows.begin() + 1, whole.rows.end()));
    EXPECT_EQ(rest.scores, std::vector(whole.scores.begin() + 1, whole.scores.end()));
    ++num_compared;
  }
  EXPECT_GT(num_compared, 3U);
}

}  // namespace
}  // namespace dissent
