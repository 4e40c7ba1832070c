// The page of a campaign, on directories that an earlier version wrote: one asks people, one had an oracle.
#include "dissent/report/campaign_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "dissent/base/error.hpp"
#include "dissent/report/campaign_charts.hpp"
#include "dissent/table/read_table.hpp"
#include "support/temp_dir.hpp"

namespace dissent::report {
namespace {

const std::string kFolder = std::string(DISSENT_TEST_DATA) + "/campaigns_0_1";

const Chart& chart(const Page& page, const std::string& id) {
  for (const Chart* one : blocks_of<Chart>(page)) {
    if (one->id == id) {
      return *one;
    }
  }
  throw InputError("no chart " + id);
}

std::size_t in_state(const Chart& map, const std::string& state) {
  return static_cast<std::size_t>(
      std::ranges::count_if(map.data.rows, [&](const auto& row) { return row.back() == state; }));
}

TEST(CampaignPage, OfPeopleHasTheMapOfItsPool) {
  const CampaignView view = read_campaign(kFolder + "/ask");
  const Page page = campaign_page(view);
  EXPECT_EQ(page.title, "Campaign ask");
  const Chart& map = chart(page, "map");
  const std::size_t waiting = view.campaign.num_pending();
  EXPECT_EQ(view.campaign.chosen.size(), 3U);
  EXPECT_EQ(in_state(map, "labelled at the start"), 10U);
  EXPECT_EQ(in_state(map, "in the pool"), 16U - 3U);
  EXPECT_EQ(in_state(map, "waiting for its label"), waiting);
  EXPECT_EQ(in_state(map, "chosen and labelled"), 3U - waiting);
  EXPECT_EQ(chart(page, "chosen").data.rows.size(), 3U);
  EXPECT_EQ(view.input_names, (std::vector<std::string>{"x", "z"}));
}

TEST(CampaignPage, RoundsAreThoseOfTheCampaign) {
  const CampaignView view = read_campaign(kFolder + "/learn");
  const Page page = campaign_page(view);
  const Table rounds = read_table(kFolder + "/learn/rounds.csv");
  for (const TableBlock* table : blocks_of<TableBlock>(page)) {
    if (table->id == "rounds") {
      for (std::size_t k = 0; k < rounds.num_rows; ++k) {
        EXPECT_EQ(table->grid.rows[k][2], rounds.column("rmse").values[k]);
        EXPECT_EQ(table->grid.rows[k][1], rounds.column("labelled").values[k]);
      }
    }
  }
  const Chart& learning = chart(page, "learning");
  EXPECT_EQ(learning.spec["params"][0]["bind"]["labels"][0], "RMSE");
  EXPECT_NE(learning.caption.find("0.8968 with 10 labelled rows"), std::string::npos);
}

TEST(CampaignPage, WithoutItsPoolAMapShowsTheChosenRows) {
  const CampaignView alone = read_campaign(kFolder + "/learn");
  EXPECT_EQ(chart(campaign_page(alone), "map").data.rows.size(), alone.campaign.chosen.size());
  const Table pool = read_table(kFolder + "/pool.csv");
  const Chart map = map_chart(read_campaign(kFolder + "/learn", pool));
  EXPECT_EQ(map.data.rows.size(), pool.num_rows);
  EXPECT_EQ(in_state(map, "in the pool"), pool.num_rows - alone.campaign.chosen.size());
}

TEST(CampaignPage, APoolThatIsAnotherIsRefused) {
  Table pool = read_table(kFolder + "/pool.csv");
  pool.num_rows = 2;
  for (Column& column : pool.columns) {
    column.values.resize(std::min<std::size_t>(2, column.values.size()));
    column.text.resize(std::min<std::size_t>(2, column.text.size()));
  }
  EXPECT_THROW(read_campaign(kFolder + "/learn", pool), InputError);
}

TEST(CampaignPage, WithoutTestRowsTheCurveIsThatOfTheUncertainty) {
  Campaign campaign = read_campaign(kFolder + "/learn").campaign;
  campaign.fitted.reset();
  for (RoundRecord& record : campaign.rounds) {
    record.rmse = record.log_likelihood = std::nan("");
  }
  const Chart learning = learning_chart(campaign);
  EXPECT_EQ(learning.spec["params"][0]["bind"]["labels"].size(), 1U);
  EXPECT_NE(learning.caption.find("no test rows"), std::string::npos);
}

TEST(CampaignPage, ReadingChangesNothing) {
  const TempDir folder;
  std::filesystem::copy(kFolder + "/ask", folder.file("c"), std::filesystem::copy_options::recursive);
  const auto listed = [&] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("c"))) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  };
  const std::vector<std::string> before = listed();
  read_campaign(folder.file("c"));
  EXPECT_EQ(listed(), before);
  EXPECT_THROW(read_campaign(folder.file("none")), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder.file("none")));
}

}  // namespace
}  // namespace dissent::report
