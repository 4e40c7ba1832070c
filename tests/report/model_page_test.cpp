// The page of a model: its numbers are those of evaluate(), and its charts hold what they draw.
#include "dissent/report/model_page.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/report/chart.hpp"
#include "dissent/report/model_charts.hpp"

namespace dissent::report {
namespace {

// A model as it is before any fit: it predicts badly, and that can be measured.
Ensemble fresh_model(std::size_t num_targets) {
  std::vector<std::string> targets{"y", "z"};
  targets.resize(num_targets);
  const Scaling unit{std::vector<double>(num_targets, 0.0), std::vector<double>(num_targets, 1.0)};
  return Ensemble({.model = Model::kPne, .num_components = 3}, {{"a", "b"}, targets, {{0, 0}, {1, 1}}, unit});
}

Table rows(std::size_t num_rows) {
  Table table{"held.csv", num_rows, {}};
  Stream stream(3, Purpose::kTest);
  for (const char* name : {"z", "b", "a", "y"}) {
    Column column{.name = name, .values = {}, .text = {}, .missing_rows = {}, .first_text_row = {}};
    for (std::size_t n = 0; n < num_rows; ++n) {
      column.values.push_back(stream.normal());
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

TEST(HeldOut, ScoresAreThoseOfEvaluate) {
  const Ensemble model = fresh_model(2);
  const Table table = rows(57);
  const HeldOut held_out = measure(model, table);
  const Metrics metrics = evaluate(model, table.matrix(model.columns().inputs), table.matrix(model.columns().targets));
  const Scores all = scores(held_out);
  EXPECT_EQ(all.rmse, metrics.rmse);
  EXPECT_EQ(all.mae, metrics.mae);
  EXPECT_EQ(all.crps, metrics.crps);
  EXPECT_EQ(all.coverage_90, metrics.coverage_90);
  EXPECT_EQ(all.calibration_error, metrics.calibration_error);
  EXPECT_EQ(all.sharpness, metrics.sharpness);
  EXPECT_EQ(held_out.log_likelihood, metrics.log_likelihood);
  const Scores one = scores(held_out, 0);
  const Scores other = scores(held_out, 1);
  EXPECT_NEAR(all.mae, (one.mae + other.mae) / 2, 1e-12);
  EXPECT_NEAR(all.rmse, std::sqrt((one.rmse * one.rmse + other.rmse * other.rmse) / 2), 1e-12);
}

TEST(HeldOut, CoverageByHand) {
  const std::vector<double> cdf{0.01, 0.1, 0.3, 0.5, 0.8, 0.99};
  EXPECT_DOUBLE_EQ(coverage(cdf, 0.5), 2 / 6.0);
  EXPECT_DOUBLE_EQ(coverage(cdf, 0.9), 4 / 6.0);
  EXPECT_DOUBLE_EQ(coverage(cdf, 0.99), 1);
}

TEST(HeldOut, RowErrorsHaveMeanSquareOne) {
  const std::vector<double> errors = row_errors(measure(fresh_model(2), rows(40)));
  double squares = 0;
  for (const double error : errors) {
    squares += error * error / 40;
  }
  EXPECT_NEAR(squares, 1, 1e-12);
}

TEST(HeldOut, ATableWithoutTheTargetIsRefused) {
  Table table = rows(5);
  table.columns.pop_back();
  EXPECT_THROW(measure(fresh_model(1), table), InputError);
  EXPECT_THROW(measure(fresh_model(1), rows(0)), InputError);
}

TEST(ModelPage, WithoutRowsItSaysWhatTheModelIs) {
  const Page page = model_page("some/where/y.model", fresh_model(1));
  EXPECT_EQ(page.title, "Model y.model");
  EXPECT_TRUE(blocks_of<Chart>(page).empty());
  const std::vector<const TableBlock*> tables = blocks_of<TableBlock>(page);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[1]->grid.rows[1], (std::vector<Json>{"b", 0.0, 1.0}));
}

TEST(ModelPage, WithRowsEveryChartHoldsItsRows) {
  const HeldOut held_out = measure(fresh_model(1), rows(30));
  const Page page = model_page("y.model", fresh_model(1), &held_out);
  std::vector<std::string> ids;
  for (const Chart* chart : blocks_of<Chart>(page)) {
    ids.push_back(chart->id);
    EXPECT_EQ(chart->data.rows.size(), chart->id == "calibration" ? 19U : 30U) << chart->id;
    EXPECT_EQ(chart->spec["description"], chart->caption);
    EXPECT_FALSE(chart->caption.empty());
    for (const auto& row : chart->data.rows) {
      ASSERT_EQ(row.size(), chart->data.columns.size());
    }
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"parity", "calibration", "residuals", "uncertainty"}));
  EXPECT_EQ(blocks_of<TableBlock>(page).size(), 3U);
}

TEST(ModelPage, SeveralTargetsCanBeSwitched) {
  const HeldOut held_out = measure(fresh_model(2), rows(30));
  const Chart chart = parity_chart(held_out, {"y", "z"});
  EXPECT_EQ(chart.data.rows.size(), 60U);
  EXPECT_EQ(chart.spec["params"][0]["bind"]["labels"], Json::array({"y", "z"}));
  EXPECT_EQ(calibration_chart(held_out, {"y", "z"}).spec["params"][0]["bind"]["labels"],
            Json::array({"all targets", "y", "z"}));
  EXPECT_EQ(parity_chart(measure(fresh_model(1), rows(30)), {"y"}).spec.count("params"), 0U);
}

TEST(ModelPage, LargeTablesAreSampledAndTheCaptionSaysSo) {
  const HeldOut held_out = measure(fresh_model(1), rows(kMostPoints + 500));
  const Chart chart = parity_chart(held_out, {"y"});
  EXPECT_EQ(chart.data.rows.size(), kMostPoints);
  EXPECT_NE(chart.caption.find("2000 of 2500 rows are drawn"), std::string::npos);
}

}  // namespace
}  // namespace dissent::report
