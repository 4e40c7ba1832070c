// A batch has no row twice while there are others.
#include "dissent/acquisition/distinct_rows.hpp"

#include <gtest/gtest.h>

#include <set>

#include "acquisition/models.hpp"
#include "dissent/acquisition/acquisition.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;
using test::typed_methods;

constexpr std::size_t kKinds = 12;
constexpr std::size_t kCopies = 5;

// Each of twelve rows five times, the copies apart from each other.
std::vector<double> copied_rows() {
  const std::vector<double> kinds = drawn_rows(kKinds, 2, 3);
  std::vector<double> rows;
  for (std::size_t copy = 0; copy < kCopies; ++copy) {
    rows.insert(rows.end(), kinds.begin(), kinds.end());
  }
  return rows;
}

TEST(DistinctRows, HaveOneOfEachKindByTheDraw) {
  const std::vector<double> rows{1, 2, 3, 4, 1, 2, 0.0, 1, -0.0, 1};
  std::set<std::size_t> standing;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const DistinctRows found = distinct_rows(rows, 2, {}, Stream(seed, Purpose::kAcquire));
    EXPECT_EQ(found.position, (std::vector<std::size_t>{0, 1, 0, 2, 2}));
    ASSERT_EQ(found.rows.size(), 3U);
    EXPECT_EQ(found.rows[1], 1U);
    standing.insert(found.rows[0]);
    standing.insert(found.rows[2]);
  }
  EXPECT_EQ(standing, (std::set<std::size_t>{0, 2, 3, 4}));
}

TEST(DistinctRows, TheCheapestStandsForItsKind) {
  const std::vector<double> rows{1, 2, 3, 4, 1, 2, 5, 6, 5, 6};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<double> cost{3, 1, 2, 1, 7};
    EXPECT_EQ(distinct_rows(rows, 2, cost, Stream(seed, Purpose::kAcquire)).rows, (std::vector<std::size_t>{2, 1, 3}));
  }
}

TEST(DistinctRows, AreWhatEveryMethodChooses) {
  const Ensemble model = drawn_model({.num_outputs = 2});
  const std::vector<double> rows = copied_rows();
  const std::vector<double> training = drawn_rows(10, 2, 4);
  for (const std::string& name : typed_methods()) {
    std::vector<double> utilities;
    AcquisitionTask task{model, {training, {}}, 8, Stream(5, Purpose::kAcquire)};
    task.utilities = &utilities;
    const Choice choice = choose(Acquisition::parse(name), task, rows);
    std::set<std::size_t> kinds;
    for (const std::size_t row : choice.rows) {
      kinds.insert(row % kKinds);
    }
    EXPECT_EQ(kinds.size(), 8U) << name;
    if (name != "bait") {  // which judges more picks than it keeps
      ASSERT_EQ(utilities.size(), 8 * kKinds * kCopies) << name;
    }
    EXPECT_EQ(utilities[choice.rows[0]], choice.scores[0]) << name;
  }
}

TEST(DistinctRows, WhereTooFewDifferCopiesFollow) {
  const Ensemble model = drawn_model({.num_outputs = 2});
  const std::vector<double> rows = copied_rows();
  const std::vector<double> training = drawn_rows(10, 2, 4);
  for (const std::string& name : typed_methods()) {
    const AcquisitionTask task{model, {training, {}}, 30, Stream(5, Purpose::kAcquire)};
    const Choice choice = choose(Acquisition::parse(name), task, rows);
    EXPECT_EQ(std::set(choice.rows.begin(), choice.rows.end()).size(), 30U) << name;
    const std::size_t judged = Acquisition::parse(name).streams() ? kKinds : 24;  // copies follow by their scores
    for (std::size_t begin = 0; begin < judged; begin += kKinds) {
      std::set<std::size_t> kinds;
      for (std::size_t k = begin; k < begin + kKinds; ++k) {
        kinds.insert(choice.rows[k] % kKinds);
      }
      EXPECT_EQ(kinds.size(), kKinds) << name;
    }
  }
}

// A copy is a second measurement: it tells less than the first did.
TEST(DistinctRows, ACopyIsWorthLess) {
  const Ensemble model = drawn_model({.num_outputs = 2, .gain = 2});
  const std::vector<double> rows{2, 2, 2, 2};
  const AcquisitionTask task{model, {}, 2, Stream(5, Purpose::kAcquire)};
  const Choice choice = choose(Acquisition::parse("kl-aim"), task, rows);
  EXPECT_LT(choice.scores[1], 0.9 * choice.scores[0]);
}

TEST(DistinctRows, AreWhatAStreamGives) {
  const Ensemble model = drawn_model({.num_outputs = 2});
  const std::vector<double> rows = copied_rows();
  for (const std::string& name : typed_methods()) {
    const Acquisition acquisition = Acquisition::parse(name);
    if (!acquisition.streams()) {
      continue;
    }
    const auto choose_from_stream = [&](std::size_t batch) {
      std::size_t at = 0;
      const AcquisitionTask task{model, {}, batch, Stream(5, Purpose::kAcquire)};
      return choose_streaming(acquisition, task, [&](std::span<double> block) {
        const std::size_t count = std::min<std::size_t>(7, rows.size() / 2 - at);
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(2 * at), 2 * count, block.begin());
        at += count;
        return count;
      });
    };
    const AcquisitionTask task{model, {}, 8, Stream(5, Purpose::kAcquire)};
    EXPECT_EQ(choose_from_stream(8).rows, choose(acquisition, task, rows).rows) << name;
    const AcquisitionTask more{model, {}, 30, Stream(5, Purpose::kAcquire)};
    EXPECT_EQ(choose_from_stream(30).rows, choose(acquisition, more, rows).rows) << name;
    EXPECT_EQ(choose_from_stream(30).aleatoric, choose(acquisition, more, rows).aleatoric) << name;
  }
}

}  // namespace
}  // namespace dissent
