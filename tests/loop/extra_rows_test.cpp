// Rows that nobody asked for: which are of the pool, what is kept of the others, and what is exported of them.
#include <gtest/gtest.h>

#include <fstream>

#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/export.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/table/csv.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using Texts = std::vector<std::string>;

class ExtraRowsTest : public testing::Test {
 protected:
  Laboratory begin(const std::string& labelled, const std::string& pool) const {
    LaboratoryOptions options;
    options.tables.labelled = parse_csv(labelled, "labelled");
    options.tables.pool = parse_csv(pool, "pool");
    options.tables.columns.targets = {"y"};
    return Laboratory::open(path(), options);
  }
  Laboratory coded() const {
    return begin("t,code,y\n1,A1,1\n2,02,2\n3,A1,\n4,A1,3\n", "t,code,note\n0.5,02,old\n0.25,A1,new\n");
  }
  std::string path() const { return dir_.file("lab"); }
  static Answers extra(const Laboratory& laboratory, const std::string& csv, bool correct = false) {
    Answers answers = laboratory.answers_in(parse_csv(csv, "e"), true);
    answers.correct = correct;
    return answers;
  }
  bool is_format(const std::string& version) const {
    return read_bytes(path() + "/state.safetensors").find("\"format_version\":\"" + version + "\"") !=
           std::string::npos;
  }

  TempDir dir_;
};

constexpr const char* kLabelled = "t,y\n1,1\n2,2\n3,3\n";

TEST_F(ExtraRowsTest, TheyAreKnownByAllTheirDigits) {
  Laboratory laboratory = begin(kLabelled, "t\n4\n5\n");
  laboratory.tell(extra(laboratory, "t,y\n3.00001,1\n3.00002,2\n"), false);
  laboratory.tell(extra(laboratory, "t,y\n3.000025,3\n", true), false);
  EXPECT_EQ(laboratory.campaign().extra.inputs, (std::vector{3.00001, 3.00002, 3.000025}));
  EXPECT_NE(message_of<InputError>([&] {
              laboratory.tell(extra(laboratory, "t,y\n3.00002,4\n"), false);
            }).find("was told before"),
            std::string::npos);
  laboratory.tell(extra(laboratory, "t,y\n3.00002,4\n", true), false);
  EXPECT_EQ(laboratory.campaign().extra.targets, (std::vector<double>{1, 4, 3}));
}

TEST_F(ExtraRowsTest, ARowOfThePoolIsTakenWhereRoundingExplainsIt) {
  const Laboratory laboratory = begin(kLabelled, "t\n1700200000\n0.123456789\n");
  const Answers answers = extra(laboratory, "t,y\n1700199000,1\n0.123457,2\n");
  EXPECT_EQ(answers.extra.inputs, std::vector{1700199000.0});
  EXPECT_EQ(answers.rows, std::vector<std::size_t>{1});
  EXPECT_EQ(answers.told, Texts{"line 3 of the file is taken for row 1 of the pool, rounded: t is 0.123457 here, "
                                "0.123456789 there"});
  const Answers exact = extra(laboratory, "t,y\n1.7002e9,1\n0.1234567890,2\n");
  EXPECT_EQ(exact.rows, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(exact.told, Texts());
}

TEST_F(ExtraRowsTest, NumbersAreNumbersBesideATextThatIsNotTold) {
  const Laboratory laboratory = begin(kLabelled, "t\n4\n5\n");
  EXPECT_EQ(extra(laboratory, "t,y\n0.222,1\nn.d.,\n").extra.inputs, std::vector{0.222});
  EXPECT_EQ(message_of<InputError>([&] { extra(laboratory, "t,y\n0.5,\n0.222,1\nn.d.,2\n"); }),
            "e: column 't' row 3: 'n.d.' is text; a number is required");
}

TEST_F(ExtraRowsTest, ValuesThatTheFitNeverSawAreToldAndToldApart) {
  Laboratory laboratory = coded();
  const Answers answers = extra(laboratory, "t,code,y\n7,C3,1\n0.25,A1,2\n7,D4,3\n");
  EXPECT_EQ(answers.rows, std::vector<std::size_t>{1});
  EXPECT_EQ(answers.told, Texts{"code: 'C3', 'D4' not seen in the fit (2 rows), taken for none of its categories"});
  laboratory.tell(answers, false);
  EXPECT_EQ(laboratory.campaign().extra.size(), 2U);
  EXPECT_EQ(laboratory.campaign().extra.cells, (Texts{"7", "C3", "7", "D4"}));
}

TEST_F(ExtraRowsTest, TheExportHasTheColumnsOfTheTables) {
  {
    Laboratory laboratory = coded();
    laboratory.tell(extra(laboratory, "t,code,y\n7,C3,1\n0.5,02,2\n8,A1,3\n"), false);
  }
  const KeptCampaign kept = read_kept(CampaignDirectory(path()));
  const Table table = exported_rows(kept.campaign, kept.data, kept.pool);
  Texts names;
  for (const Column& column : table.columns) {
    names.push_back(column.name);
  }
  EXPECT_EQ(names, (Texts{"source", "round", "row", "t", "code", "y", "note", "score", "epistemic", "aleatoric",
                          "asked", "told", "why"}));
  EXPECT_EQ(table.column("code").text, (Texts{"A1", "02", "A1", "02", "C3", "A1"}));
  EXPECT_EQ(table.column("t").values, (std::vector<double>{1, 2, 4, 0.5, 7, 8}));
  EXPECT_EQ(table.column("y").values, (std::vector<double>{1, 2, 3, 2, 1, 3}));
  EXPECT_EQ(exported_json(kept.campaign, kept.data, kept.pool)["inputs"], Json({"t", "code"}));
}

// A program of version 0.4 must not read, and then write without them, what it does not know.
TEST_F(ExtraRowsTest, TheFormatSaysWhatAProgramMustKnow) {
  Laboratory laboratory = begin(kLabelled, "t\n4\n5\n6\n");
  EXPECT_TRUE(is_format("2"));
  laboratory.tell(extra(laboratory, "t,y\n4,1\n"), false);
  EXPECT_TRUE(is_format("2"));
  laboratory.tell(extra(laboratory, "t,y\n7,1\n"), false);
  EXPECT_TRUE(is_format("3"));
}

TEST_F(ExtraRowsTest, TheFormatOfCategoriesAndOfRowsThatWereDropped) {
  {
    const Laboratory laboratory = coded();
    EXPECT_TRUE(is_format("3"));
  }
  std::filesystem::remove_all(path());
  Laboratory laboratory = begin(kLabelled, "t\n4\n5\n6\n");
  Answers dropped{"d"};
  dropped.dropped = {1};
  laboratory.tell(dropped, false);
  EXPECT_TRUE(is_format("3"));
}

TEST_F(ExtraRowsTest, WhoReadsAloneSeesThatACopyWasChanged) {
  { const Laboratory laboratory = coded(); }
  EXPECT_EQ(read_kept(CampaignDirectory(path())).pool.num_rows, 2U);
  std::ofstream(path() + "/pool.csv") << "t,code,note\n0.5,02,other\n0.25,A1,new\n";
  EXPECT_NE(message_of<InputError>([&] {
              read_kept(CampaignDirectory(path()));
            }).find("pool.csv: was changed after the campaign"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
