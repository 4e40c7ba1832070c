// The grids in studies/ can be read, and have as many campaigns as they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "dissent/study/grid.hpp"

namespace dissent {
namespace {

const std::map<std::string, std::size_t> kCampaigns = {
    {"paper-nflows", 6 * 7 * 10},
    {"paper-pne", 6 * 7 * 10},
    {"quick", (5 * 5 + 2) * 2 * 7},
    // Two numbers of candidates; by value; pools of the four robots by one policy.
    {"beyond", (2 * 6 * 10 + 6 * 3 + 2 * 4 * 3) * 10},
    {"beyond-pne", 4 * (8 + 2) * 10},
    {"mc-samples", 2 * 8 * 10},
    {"ensemble-size", 2 * 5 * 10},
    {"full-data", 6 * 2 * 5},
    {"one-dimensional", 2 * 11 * 10},
    {"devices", 2 * 35},
    {"swing", 2 * 5 * 5},
    {"saturation", (1 + 2 * 2) * 10},
    {"ensemble-size-pne", 2 * 3 * 20},
};

Grid shipped(const std::string& name) { return read_grid(fmt::format("{}/{}.toml", DISSENT_STUDIES, name)); }

TEST(ShippedGrids, HaveAsManyCampaignsAsTheySay) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(DISSENT_STUDIES)) {
    if (entry.path().extension() == ".toml") {
      const std::string name = entry.path().stem();
      names.insert(name);
      const Grid grid = read_grid(entry.path());
      EXPECT_EQ(grid.name, name);
      ASSERT_TRUE(kCampaigns.contains(name)) << name;
      EXPECT_EQ(grid.cells.size(), kCampaigns.at(name)) << name;
    }
  }
  EXPECT_EQ(names.size(), kCampaigns.size());
}

TEST(ShippedGrids, OfThePaperHaveItsSettings) {
  for (const std::string name : {"paper-nflows", "paper-pne"}) {
    const Grid grid = shipped(name);
    for (const Cell& cell : grid.cells) {
      EXPECT_EQ(cell.rounds, 100U);
      const CampaignSettings settings = cell.campaign_settings();
      EXPECT_EQ(settings.batch, 10U);
      EXPECT_EQ(settings.fit.ensemble.components(), 5U);
      EXPECT_EQ(settings.fit.train.epochs, 6000U);
      EXPECT_EQ(settings.candidates, Candidates(PaperNumber()));
      EXPECT_EQ(settings.ranking, Ranking::kValue);
      EXPECT_EQ(settings.fit.ensemble.model, name == "paper-pne" ? Model::kPne : Model::kFlow);
    }
  }
}

// In each campaign at most one thing differs from the rest.
TEST(ShippedGrids, BeyondThePaperOneThingDiffersAtATime) {
  for (const Cell& cell : shipped("beyond").cells) {
    const auto axis = [&](const char* name) {
      return std::ranges::find(cell.axes, name, [](const auto& entry) { return entry.first; })->second;
    };
    const int changes =
        (axis("candidates") != "nested:10000") + (axis("ranking") != "deficit") + (axis("pool_policy") != "mixed");
    EXPECT_LE(changes, 1) << cell.name;
    EXPECT_EQ(cell.aim, axis("acquisition") == "kl-aim" ? "test" : "") << cell.name;
  }
}

}  // namespace
}  // namespace dissent
