#include "dissent/acquisition/acquisition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>

#include "acquisition/models.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;
using test::typed_methods;

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

struct Case {
  Ensemble model;
  std::vector<double> training;
  std::vector<double> candidates;

  explicit Case(Model kind, std::size_t num_candidates = 600)
      : model(drawn_model({.model = kind, .num_inputs = 3, .num_outputs = 2})),
        training(drawn_rows(30, 3, 1)),
        candidates(drawn_rows(num_candidates, 3, 2)) {}

  AcquisitionTask task(std::size_t batch, std::uint64_t round = 0, Executor* executor = nullptr) const {
    return {model, {training, {}}, batch, Stream(5, Purpose::kAcquire, round), executor};
  }
};

TEST(AcquisitionName, IsReadAndWrittenAlike) {
  for (const std::string& name : typed_methods()) {
    EXPECT_EQ(Acquisition::parse(name).text(), name);
  }
  EXPECT_EQ(Acquisition::parse("mc:0500").text(), "mc:500");
  EXPECT_EQ(Acquisition::parse("chernoff-joint:0.30").divergence().info->name, "chernoff");
  EXPECT_DOUBLE_EQ(Acquisition::parse("chernoff-joint:0.30").divergence().alpha, 0.3);
}

TEST(AcquisitionName, MistakesAreExplained) {
  const auto parse_error = [](const char* text) { return error_of([&] { Acquisition::parse(text); }); };
  EXPECT_NE(parse_error("batchbold:5").find("did you mean 'batchbald'?"), std::string::npos);
  EXPECT_NE(parse_error("bhatt").find("did you mean 'bhattacharyya'?"), std::string::npos);
  EXPECT_NE(parse_error("").find("known: aim, kl, "), std::string::npos);
  EXPECT_NE(parse_error("mc").find("as in 'mc:5000'"), std::string::npos);
  EXPECT_NE(parse_error("kl:3").find("takes no parameter"), std::string::npos);
  for (const char* bad :
       {"mc:0", "mc:-1", "mc:5x", "mc:", "batchbald:1e3", "chernoff:0", "chernoff:1", "chernoff:nan"}) {
    EXPECT_NE(parse_error(bad).find("is not a"), std::string::npos) << bad;
  }
}

TEST(AcquisitionName, CandidatesOfThePaper) {
  for (const char* name : {"kl", "batchbald:1000", "badge", "bait"}) {
    EXPECT_EQ(Acquisition::parse(name).paper_candidates(257), 10'000U) << name;
  }
  EXPECT_EQ(Acquisition::parse("mc:5000").paper_candidates(11), 1'000U);
  EXPECT_EQ(Acquisition::parse("mc:5000").paper_candidates(257), 100U);
  EXPECT_EQ(Acquisition::parse("batchbald:1000").default_candidates(1), 1'000U);
  EXPECT_EQ(Acquisition::parse("bait").default_candidates(1), 1'000U);
}

TEST(AcquisitionName, DefaultCandidatesSuitTheMethod) {
  EXPECT_EQ(Acquisition::parse("kl").default_candidates(257), 10'000U);
  EXPECT_EQ(Acquisition::parse("mc:5000").default_candidates(11), 1'000U);
  EXPECT_EQ(Acquisition::parse("mc:5000").default_candidates(257), 100U);
  EXPECT_EQ(Acquisition::parse("random").default_candidates(1), 0U);
}

TEST(AcquisitionTraits, SayWhatAMethodNeeds) {
  for (const AcquisitionInfo& info : acquisitions()) {
    EXPECT_NE(info.scorer != nullptr, info.choose != nullptr) << info.name;
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_FALSE(info.score.empty()) << info.name;
  }
  for (const std::string& name : typed_methods()) {
    const Acquisition acquisition = Acquisition::parse(name);
    const bool last_layer = name == "badge" || name == "bait" || name.starts_with("lcmd");
    const std::string single = error_of([&] { acquisition.check_model({.num_components = 1}); });
    EXPECT_EQ(single.find("needs at least two components") == std::string::npos, last_layer || name == "random")
        << name;
    const std::string no_network =
        error_of([&] { acquisition.check_model({.num_components = 5, .has_network = false}); });
    EXPECT_EQ(no_network.find("looks at the last layer of a network") != std::string::npos, last_layer) << name;
    EXPECT_EQ(error_of([&] { acquisition.check_model({.num_components = 5}); }), "no error") << name;
  }
}

class EveryMethod : public testing::TestWithParam<std::tuple<std::string, Model>> {
 protected:
  Acquisition acquisition() const { return Acquisition::parse(std::get<0>(GetParam())); }
  Model model() const { return std::get<1>(GetParam()); }
};

TEST_P(EveryMethod, ChoosesDistinctRowsAndDescribesThem) {
  const Case c(model());
  const Choice choice = choose(acquisition(), c.task(10), c.candidates);
  ASSERT_EQ(choice.rows.size(), 10U);
  ASSERT_EQ(choice.scores.size(), 10U);
  EXPECT_EQ(std::set<std::size_t>(choice.rows.begin(), choice.rows.end()).size(), 10U);
  for (const std::size_t row : choice.rows) {
    ASSERT_LT(row, 600U);
  }
  ASSERT_EQ(choice.epistemic.size(), 10U);
  ASSERT_EQ(choice.aleatoric.size(), 10U);
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_TRUE(std::isfinite(choice.scores[k]));
    EXPECT_GE(choice.epistemic[k], 0);
    EXPECT_LE(choice.epistemic[k], std::log(5.0));
    EXPECT_TRUE(std::isfinite(choice.aleatoric[k]));
  }
}

TEST_P(EveryMethod, SameChoiceOnAnyNumberOfThreads) {
  const Case c(model());
  const Choice alone = choose(acquisition(), c.task(7), c.candidates);
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    const Choice choice = choose(acquisition(), c.task(7, 0, &pool), c.candidates);
    EXPECT_EQ(choice.rows, alone.rows);
    EXPECT_EQ(choice.scores, alone.scores);
    EXPECT_EQ(choice.epistemic, alone.epistemic);
    EXPECT_EQ(choice.aleatoric, alone.aleatoric);
  }
}

TEST_P(EveryMethod, UtilitiesAreOfAllRowsAtEachPick) {
  const Case c(model(), 80);
  std::vector<double> utilities{1, 2, 3};  // replaced
  AcquisitionTask task = c.task(5);
  task.utilities = &utilities;
  const Choice choice = choose(acquisition(), task, c.candidates);
  EXPECT_EQ(choice.rows, choose(acquisition(), c.task(5), c.candidates).rows);
  ASSERT_EQ(utilities.size(), 5U * 80U);
  for (std::size_t k = 0; k < 5; ++k) {
    const std::span<const double> at = std::span(utilities).subspan(k * 80, 80);
    EXPECT_EQ(at[choice.rows[k]], choice.scores[k]);
    std::size_t num_left = 0;
    for (std::size_t n = 0; n < 80; ++n) {
      const auto before = choice.rows.begin() + static_cast<std::ptrdiff_t>(k);
      const bool taken = std::find(choice.rows.begin(), before, n) != before;
      EXPECT_TRUE(!taken || std::isnan(at[n]));
      num_left += std::isnan(at[n]) ? 0 : 1;
      if (acquisition().text() != "badge" || k == 0) {  // it draws the others
        EXPECT_FALSE(at[n] > choice.scores[k] + 1e-5 * std::abs(choice.scores[k])) << k << ' ' << n;
      }
    }
    EXPECT_TRUE(num_left == 80 - k || acquisition().text() == "bait");
  }
}

TEST_P(EveryMethod, TakesAllRowsWhenTheBatchIsThePool) {
  const Case c(model(), 9);
  const Choice choice = choose(acquisition(), c.task(9), c.candidates);
  EXPECT_EQ(std::set<std::size_t>(choice.rows.begin(), choice.rows.end()).size(), 9U);
}

TEST_P(EveryMethod, RowsFarOutsideOfTheDataHaveFiniteScores) {
  Case c(model(), 60);
  for (std::size_t k = 0; k < 3; ++k) {
    c.candidates[3 * 7 + k] = k == 1 ? -1e20 : 1e20;
    c.candidates[3 * 11 + k] = 1e12;
    c.candidates[3 * 42 + k] = -1e25;
  }
  const Choice choice = choose(acquisition(), c.task(6), c.candidates);
  for (const double score : choice.scores) {
    EXPECT_TRUE(std::isfinite(score)) << score;
  }
}

// With equal rows nothing but the draw may decide. 12 rows, 600 rounds: each is the first pick about 50 times. A count
// outside 50 +- 40 has a probability below 1e-6 for a row and round count as fair as it should be.
TEST_P(EveryMethod, EqualRowsAreChosenByTheDraw) {
  if (model() == Model::kFlow) {
    return;  // ties do not depend on the model
  }
  const Case c(model());
  std::vector<double> equal;
  for (int k = 0; k < 12; ++k) {
    equal.insert(equal.end(), {0.3, -1, 0.7});
  }
  std::vector<int> first(12);
  for (std::uint64_t round = 0; round < 600; ++round) {
    ++first[choose(acquisition(), c.task(1, round), equal).rows[0]];
  }
  // badge and mc draw their noise per row or per round; only badge scores equal rows differently, at random.
  EXPECT_GT(*std::ranges::min_element(first), 10);
  EXPECT_LT(*std::ranges::max_element(first), 90);
}

TEST_P(EveryMethod, BadRequestsAreExplained) {
  const Case c(model(), 4);
  const auto error = [&](std::size_t batch, std::span<const double> candidates) {
    return error_of([&] { choose(acquisition(), c.task(batch), candidates); });
  };
  EXPECT_NE(error(5, c.candidates).find("a batch of 5 from 4 candidates"), std::string::npos);
  EXPECT_NE(error(1, {}).find("a batch of 1 from 0 candidates"), std::string::npos);
  EXPECT_NE(error(0, c.candidates).find("a batch of 0"), std::string::npos);
  EXPECT_NE(error(1, std::span(c.candidates).first(4)).find("rows of 3"), std::string::npos);
  std::vector<double> bad = c.candidates;
  bad[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(error(1, bad).find("candidate 2 column 'x_1' is nan"), std::string::npos);
}

std::string method_name(const testing::TestParamInfo<std::tuple<std::string, Model>>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::string(model_name(std::get<1>(info.param)));
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Acquisition, EveryMethod,
                         testing::Combine(testing::ValuesIn(typed_methods()),
                                          testing::Values(Model::kPne, Model::kFlow)),
                         method_name);

TEST(AcquisitionStreaming, GivesTheChoiceOfTheWholePool) {
  const Case c(Model::kPne, 1501);
  for (const std::string& name : typed_methods(true)) {
    const Acquisition acquisition = Acquisition::parse(name);
    const Choice whole = choose(acquisition, c.task(10), c.candidates);
    for (const std::size_t most : {1UL, 7UL, 600UL, 100'000UL}) {
      std::size_t next = 0;
      const RowSource source = [&](std::span<double> rows) {
        const std::size_t count = std::min({most, rows.size() / 3, 1501 - next});
        std::copy_n(c.candidates.begin() + static_cast<std::ptrdiff_t>(3 * next), 3 * count, rows.begin());
        next += count;
        return count;
      };
      if (most == 1 && name.starts_with("mc")) {
        continue;  // slow, one row at a time
      }
      const Choice streamed = choose_streaming(acquisition, c.task(10), source);
      EXPECT_EQ(streamed.rows, whole.rows) << name;
      EXPECT_EQ(streamed.scores, whole.scores) << name;
      EXPECT_EQ(streamed.epistemic, whole.epistemic) << name;
      EXPECT_EQ(streamed.aleatoric, whole.aleatoric) << name;
    }
  }
}

TEST(AcquisitionStreaming, ErrorsAreExplained) {
  const Case c(Model::kPne);
  const RowSource none = [](std::span<double>) { return std::size_t{0}; };
  const auto error = [&](const char* name, const RowSource& source) {
    return error_of([&] { choose_streaming(Acquisition::parse(name), c.task(3), source); });
  };
  EXPECT_NE(error("kl-joint", none).find("needs all candidates at once"), std::string::npos);
  EXPECT_NE(error("kl", none).find("a batch of 3 from 0 candidates"), std::string::npos);
  int calls = 0;
  const RowSource bad = [&](std::span<double> rows) {
    std::ranges::fill(rows.first(6), ++calls == 2 ? std::numeric_limits<double>::infinity() : 0.5);
    return std::size_t{2};
  };
  EXPECT_NE(error("kl", bad).find("candidate 2 column 'x_0' is inf"), std::string::npos);
}

TEST(TopRows, AreThoseOfTheEstimator) {
  const Case c(Model::kFlow);
  Mixture<float> mixture;
  c.model.predict_base(c.candidates, mixture);
  for (const char* name : {"kl", "bhattacharyya", "chernoff:0.3"}) {
    const Uncertainty u = estimate(parse_estimator(name), mixture.view());
    std::vector<std::size_t> order(u.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      order[k] = k;
    }
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return more_uncertain(u, a, b); });
    const Choice choice = choose(Acquisition::parse(name), c.task(20), c.candidates);
    for (std::size_t k = 0; k < 20; ++k) {
      EXPECT_EQ(choice.rows[k], order[k]);
      EXPECT_EQ(choice.scores[k], -u.log_deficit[order[k]]);
      EXPECT_EQ(choice.epistemic[k], u.epistemic[order[k]]);
    }
  }
}

TEST(TopRows, VarianceIsThatOfTheMeansInScaledUnits) {
  const Case c(Model::kPne);
  const Choice choice = choose(Acquisition::parse("variance"), c.task(600), c.candidates);
  const Mixture<double> mixture = c.model.predict(c.candidates);
  for (std::size_t k = 0; k < 600; ++k) {
    double sum = 0;
    for (std::size_t d = 0; d < 2; ++d) {
      double mean = 0;
      double square = 0;
      for (std::size_t m = 0; m < 5; ++m) {
        const double value = mixture.mean[(choice.rows[k] * 5 + m) * 2 + d] / 3;  // the scale of drawn_model
        mean += value / 5;
        square += value * value / 5;
      }
      sum += square - mean * mean;
    }
    EXPECT_NEAR(choice.scores[k], sum, 1e-9 * (1 + sum));
    EXPECT_TRUE(k == 0 || choice.scores[k] <= choice.scores[k - 1]);
  }
}

TEST(Candidates, AreDistinctAscendingAndUniform) {
  std::vector<int> count(50);
  for (std::uint64_t round = 0; round < 1000; ++round) {
    const std::vector<std::size_t> rows = draw_candidates(50, 10, Stream(1, Purpose::kAcquire, round));
    ASSERT_EQ(rows.size(), 10U);
    ASSERT_TRUE(std::ranges::is_sorted(rows));
    ASSERT_EQ(std::ranges::adjacent_find(rows), rows.end());
    for (const std::size_t row : rows) {
      ++count.at(row);
    }
  }
  // 200 +- 12.6 each: beyond 6 standard deviations with probability below 1e-7.
  EXPECT_GT(*std::ranges::min_element(count), 124);
  EXPECT_LT(*std::ranges::max_element(count), 276);
  EXPECT_EQ(draw_candidates(4, 0, Stream(1, Purpose::kAcquire)).size(), 4U);
  EXPECT_EQ(draw_candidates(4, 9, Stream(1, Purpose::kAcquire)).size(), 4U);
  EXPECT_TRUE(draw_candidates(0, 9, Stream(1, Purpose::kAcquire)).empty());
}

TEST(Candidates, NestedOnesOfFewerRowsArePartOfMore) {
  std::vector<std::size_t> rows(60);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::vector<std::size_t> fewer_rows = rows;
  std::erase_if(fewer_rows, [](std::size_t row) { return row % 7 == 0; });
  std::vector<int> count(60);
  for (std::uint64_t round = 0; round < 1000; ++round) {
    const Stream stream(1, Purpose::kAcquire, round);
    const std::vector<std::size_t> few = draw_nested(rows, 10, stream);
    const std::vector<std::size_t> many = draw_nested(rows, 30, stream);
    ASSERT_EQ(few.size(), 10U);
    ASSERT_TRUE(std::ranges::is_sorted(many));
    ASSERT_TRUE(std::ranges::includes(many, few));
    // Where rows were taken, the others stay.
    std::vector<std::size_t> left = few;
    std::erase_if(left, [](std::size_t row) { return row % 7 == 0; });
    ASSERT_TRUE(std::ranges::includes(draw_nested(fewer_rows, 10, stream), left));
    for (const std::size_t row : few) {
      ++count.at(row);
    }
  }
  // 167 +- 11.8 each: beyond 6 standard deviations with probability below 1e-7.
  EXPECT_GT(*std::ranges::min_element(count), 96);
  EXPECT_LT(*std::ranges::max_element(count), 238);
  EXPECT_EQ(draw_nested(rows, 60, Stream(1, Purpose::kAcquire)), rows);
  EXPECT_EQ(draw_nested(rows, 99, Stream(1, Purpose::kAcquire)), rows);
}

}  // namespace
}  // namespace dissent
