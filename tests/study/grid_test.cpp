#include "dissent/study/grid.hpp"

#include <gtest/gtest.h>

#include <string>

#include "dissent/base/error.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr const char* kSmall = R"(name = "small"
rounds = 3

[settings]
batch = 5

[grid]
problem = ["hetero", "bimodal"]
acquisition = ["random", "kl", "mc:50"]
seed = "0-1"

[[where]]
acquisition = "mc:50"
set = { candidates = 100, rounds = 2 }

[[where]]
problem = "bimodal"
acquisition = ["mc:50"]
skip = true
)";

std::string message_of(const std::string& text) {
  try {
    parse_grid(text, "g.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Grid, HasEveryCombination) {
  const Grid grid = parse_grid(kSmall, "small.toml");
  EXPECT_EQ(grid.name, "small");
  ASSERT_EQ(grid.cells.size(), 10u);
  EXPECT_EQ(grid.cells[2].axes, (std::vector<std::pair<std::string, std::string>>{
                                    {"problem", "hetero"}, {"acquisition", "mc:50"}, {"seed", "0"}}));
  EXPECT_EQ(described_axes(grid.cells[2].describe()), grid.cells[2].axes);
  EXPECT_EQ(grid.cells[0].name, "problem=hetero acquisition=random seed=0");
  EXPECT_EQ(grid.cells[4].name, "problem=bimodal acquisition=kl seed=0");
  EXPECT_EQ(grid.cells[5].name, "problem=hetero acquisition=random seed=1");
}

TEST(Grid, CellsHaveTheirSettings) {
  const Grid grid = parse_grid(kSmall, "small.toml");
  const CampaignSettings random = grid.cells[5].campaign_settings();
  EXPECT_EQ(random.acquisition.text(), "random");
  EXPECT_EQ(random.batch, 5u);
  EXPECT_EQ(random.fit.ensemble.seed, 1u);
  EXPECT_EQ(grid.cells[5].rounds, 3u);
  EXPECT_EQ(grid.cells[2].rounds, 2u);
  EXPECT_EQ(candidates_text(grid.cells[2].campaign_settings().candidates), "100");
  EXPECT_NE(grid.cells[0].describe(), grid.cells[5].describe());
}

TEST(Grid, TablesAreProblems) {
  const Grid grid = parse_grid(R"(name = "t"
[grid]
problem = "concrete"
seed = [3, 7]
[table.concrete]
file = "concrete.csv"
targets = "strength"
labelled = 60
test = 200
)",
                               "t.toml");
  ASSERT_EQ(grid.cells.size(), 2u);
  ASSERT_TRUE(grid.cells[1].table);
  EXPECT_EQ(grid.cells[1].table->file, "concrete.csv");
  EXPECT_EQ(grid.cells[1].table->labelled, 60u);
}

TEST(Grid, ErrorsSayWhere) {
  EXPECT_EQ(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\nacquisiton = [\"kl\"]\n"),
            "g.toml:4:1: 'acquisiton' is not known; did you mean 'acquisition'?");
  EXPECT_EQ(message_of("name = \"a\"\n[settings]\nbatch = -3\n[grid]\nproblem = \"hetero\"\n"),
            "g.toml:3:9: 'batch' = -3; it must not be negative");
  EXPECT_EQ(message_of("name = \"a\"\n[grid]\nseed = \"9-0\"\n"),
            "g.toml:3:8: '9-0' is no range of seeds; give one such as \"0-9\"");
  EXPECT_TRUE(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\nacquisition = [\"random\", \"kll\"]\n")
                  .starts_with("g.toml:4:26: "));
  EXPECT_TRUE(message_of("name = \"a\"\n[grid]\nproblem = \"hoper\"\n").starts_with("g.toml:3:11: "));
  EXPECT_TRUE(message_of("name = \"a\n").starts_with("g.toml:1:")) << message_of("name = \"a\n");
  EXPECT_EQ(message_of("name = \"a\"\n[gird]\nproblem = \"hetero\"\n"),
            "g.toml:2:2: 'gird' is not known; did you mean 'grid'? (known: name, settings, grid, where, table, rounds, "
            "data_seed, pool_policy, aim)");
}

TEST(Grid, CellsAreFoundWhateverTheOrderOfTheirAxes) {
  const Grid grid = parse_grid(kSmall, "small.toml");
  EXPECT_EQ(&grid.find("problem=hetero acquisition=kl seed=1"), &grid.find("seed=1  acquisition=kl problem=hetero"));
  EXPECT_EQ(grid.find("seed=1 problem=hetero acquisition=kl").name, "problem=hetero acquisition=kl seed=1");
  EXPECT_THROW(grid.find("problem=hetero acquisition=kl"), InputError);
  EXPECT_THROW(grid.find("problem=hetero acquisition=kl seed=2"), InputError);
}

TEST(Grid, AFileOfTransitionsMustBeThere) {
  EXPECT_EQ(message_of("name = \"a\"\n[grid]\nproblem = [\"hetero\", \"no.h5\"]\n"),
            "g.toml:3:22: no.h5: there is no such file");
}

TEST(Grid, NamesThatMeanSomethingElseAreRefused) {
  const std::string table = "file = \"t.csv\"\ntargets = \"y\"\nlabelled = 5\ntest = 5\n";
  EXPECT_EQ(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\n[table.hetero]\n" + table),
            "g.toml:4:8: 'hetero' is a problem of the program; give the table another name");
  EXPECT_EQ(message_of("name = \"a, b\"\n[grid]\nproblem = \"hetero\"\n"),
            "g.toml:1:8: a study's name has no commas: they stand between names in a list");
}

TEST(Grid, APoolPolicyIsForRobots) {
  const std::string begin = "name = \"a\"\n[grid]\nacquisition = \"kl\"\npool_policy = [\"mixed\", \"random\"]\n";
  const Grid grid = parse_grid(begin + "problem = \"pendulum\"\n", "g.toml");
  ASSERT_EQ(grid.cells.size(), 2u);
  EXPECT_EQ(grid.cells[1].pool_policy, PoolPolicy::kRandom);
  EXPECT_NE(grid.cells[0].describe(), grid.cells[1].describe());
  EXPECT_NE(message_of(begin + "problem = \"hetero\"\n").find("no policy made the pool of 'hetero'"),
            std::string::npos);
}

TEST(Grid, AValueIsGivenOnce) {
  EXPECT_EQ(message_of("name = \"a\"\n[settings]\nmodel = \"pne\"\n[grid]\nproblem = \"hetero\"\nmodel = \"flow\"\n"),
            "g.toml:6:1: 'model' is given under [settings] too; give it once");
  EXPECT_EQ(message_of("name = \"a\"\nrounds = 3\n[grid]\nproblem = \"hetero\"\nrounds = [1, 2]\n"),
            "g.toml:5:1: 'rounds' is given at the beginning of the file too; give it once");
  EXPECT_EQ(message_of("name = \"a\"\nrounds = 3\n[settings]\nrounds = 4\n[grid]\nproblem = \"hetero\"\n"),
            "g.toml:4:1: 'rounds' is given at the beginning of the file too; give it once");
}

TEST(Grid, ListsOfValuesBelongUnderGrid) {
  EXPECT_EQ(message_of("name = \"a\"\n[settings]\nmodel = [\"pne\", \"flow\"]\n[grid]\nproblem = \"hetero\"\n"),
            "g.toml:3:9: 'model' has one value here; a list of values to compare belongs under [grid]");
  EXPECT_EQ(message_of("name = \"a\"\n[settings]\nhidden = [8, 8]\n[grid]\nproblem = \"hetero\"\n"), "accepted");
}

// Once and at its place, not campaign by campaign.
TEST(Grid, AFileOfAnAimMustBeThere) {
  const std::string head = "name = \"a\"\n";
  const std::string tail = "[grid]\nproblem = \"hetero\"\nacquisition = \"aim\"\nseed = \"0-9\"\n";
  EXPECT_EQ(message_of(head + "aim = \"none.csv\"\n" + tail), "g.toml:2:7: none.csv: there is no such file");
  EXPECT_EQ(message_of(head + tail + "aim = [\"test\", \"none.csv\"]\n"),
            "g.toml:6:16: none.csv: there is no such file");
  EXPECT_EQ(message_of(head + tail + "[[where]]\nproblem = \"hetero\"\nset = { aim = \"none.csv\" }\n"),
            "g.toml:8:15: none.csv: there is no such file");
  EXPECT_EQ(message_of(head + "aim = \"test\"\n" + tail), "accepted");
  const TempDir directory;
  const std::string file = directory.write("aim.png", "\x89PNG");
  Grid grid = parse_grid(
      fmt::format("{}{}[[where]]\nproblem = \"hetero\"\nset = {{ aim = \"{}\" }}\n", head, tail, file), "g.toml");
  try {
    identify_tables(grid);
    FAIL() << "taken";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("g.toml:8:15: " + file + ": a table must end in"), 0u) << error.what();
  }
}

class GridTables : public testing::Test {
 protected:
  // Of what identify_tables() says of a table with columns x and y and 20 rows.
  std::string message_of_table(const std::string& entries) {
    std::string rows = "x,y,note\n";
    for (int k = 0; k < 20; ++k) {
      rows += fmt::format("{},{},word{}\n", k, k * k, k);
    }
    directory_.write("t.csv", rows);
    Grid grid = parse_grid(
        fmt::format("name = \"a\"\n[settings]\nbatch = 5\n[grid]\nproblem = \"t\"\n[table.t]\n{}", entries), "g.toml");
    try {
      identify_tables(grid);
    } catch (const InputError& error) {
      return error.what();
    }
    return grid.cells[0].table->content.empty() ? "not identified" : "accepted";
  }
  std::string file(const std::string& name = "t.csv") const {
    return fmt::format("file = \"{}\"\n", directory_.file(name));
  }

  TempDir directory_;
};

TEST_F(GridTables, AreCheckedBeforeAnythingRuns) {
  const std::string rows = "labelled = 5\ntest = 5\n";
  EXPECT_EQ(message_of_table(file() + "targets = \"y\"\ninputs = [\"x\"]\n" + rows), "accepted");
  const auto begins = [&](const std::string& entries, const std::string& begin, const std::string& part) {
    const std::string message = message_of_table(entries);
    EXPECT_TRUE(message.starts_with(begin)) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  begins(file("none.csv") + "targets = \"y\"\n" + rows, "g.toml:7:8: ", "none.csv");
  begins(file() + "targets = [\"y\", \"z\"]\n" + rows, "g.toml:8:17: ", "'z'");
  begins(file() + "targets = \"y\"\ninputs = [\"w\"]\n" + rows, "g.toml:9:11: ", "'w'");
  begins(file() + "targets = \"y\"\nlabelled = 12\ntest = 4\n", "g.toml:9:12: ", "it has 20 rows");
  begins(file() + "targets = \"note\"\ninputs = \"x\"\n" + rows, "g.toml:7:8: ", "'note'");
}

TEST(Grid, RefusesWhatCannotRun) {
  EXPECT_NE(message_of("[grid]\nproblem = \"hetero\"\n").find("no name"), std::string::npos);
  EXPECT_NE(message_of("name = \"a\"\n").find("no [grid]"), std::string::npos);
  EXPECT_NE(message_of("name = \"a\"\n[grid]\nseed = 1\n").find("no problem"), std::string::npos);
  EXPECT_NE(message_of("name = \"a\"\n[grid]\nproblem = \"hoper\"\n").find("did you mean 'hopper'"), std::string::npos);
  EXPECT_EQ(message_of("name = \"a\"\n[grid]\nproblem = [\"hetero\", \"hetero\"]\n"),
            "g.toml:3:22: 'hetero' is there twice");
  EXPECT_EQ(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\nseed = [0, 0, 1]\n"),
            "g.toml:4:12: '0' is there twice");
  EXPECT_EQ(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\nseed = \"0-1000000\"\n"),
            "g.toml:4:8: '0-1000000' has more than 100000 seeds, which is the limit");
  EXPECT_NE(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\nacquisition = \"kll\"\n").find("kll"),
            std::string::npos);
  EXPECT_NE(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\n[[where]]\nset = {problem = \"ant\"}\n")
                .find("an axis of the grid"),
            std::string::npos);
  EXPECT_NE(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\n[[where]]\nseed = 1\n").find("changes nothing"),
            std::string::npos);
  EXPECT_NE(message_of("name = \"a\"\n[grid]\nproblem = \"hetero\"\nseed = 0\n[[where]]\nseed = 1\nskip = true\n")
                .find("[[where]] number 1 (seed = 1) matches no campaign"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
