// Campaigns that the first release began go on as if it still ran them. tests/data/campaigns_0_1 holds what it wrote:
//   learn, ask          the campaigns where they were left, after two rounds, and with one row unanswered
//   learn_end, ask_end  the tables of the same campaigns at their end, by the first release
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/table/read_table.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

std::string data_file(const std::string& name) { return fmt::format("{}/campaigns_0_1/{}", DISSENT_TEST_DATA, name); }

struct Copy {
  explicit Copy(const std::string& name) {
    std::filesystem::copy(data_file(name), dir.file(name), std::filesystem::copy_options::recursive);
  }
  TempDir dir;
};

bool is_error(std::string_view field) { return field == "rmse" || field == "rmse_paper"; }

// All columns but the times and the errors of the predictive mean, as texts; of each the first `num_rounds` rows.
std::string rounds_text(const std::string& path, std::size_t num_rounds) {
  std::ostringstream text;
  const Table table = read_table(path);
  for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
    if (!field.traits.varies && !is_error(field.name) && field.name != "expert_share") {  // later releases have it
      text << field.name;
      for (std::size_t row = 0; row < num_rounds; ++row) {
        text << fmt::format(" {}", table.column(field.name).values.at(row));
      }
      text << "\n";
    }
  }
  return text.str();
}

// The mean of a flow is taken over better points than then.
void expect_same_errors(const std::string& path, const std::string& end) {
  const Table ours = read_table(path);
  const Table theirs = read_table(end);
  for (const char* name : {"rmse", "rmse_paper"}) {
    for (std::size_t row = 0; row < theirs.num_rows; ++row) {
      const double then = theirs.column(name).values[row];
      EXPECT_NEAR(ours.column(name).values.at(row), then, 0.02 * then) << name;
    }
  }
}

// The first release was an optimised build on a CPU that multiplies and adds in one rounding: such a one must give the
// same bits.
bool as_first_release() {
#if defined(__x86_64__)
  return DISSENT_RELEASE && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// chosen.csv without its third column: scores of joint methods are what a row adds now, and were what all came to.
std::string without_scores(const std::string& path) {
  std::string result;
  std::istringstream lines(read_bytes(path));
  for (std::string line; std::getline(lines, line);) {
    std::size_t begin = 0;
    for (int comma = 0; comma < 2; ++comma) {
      begin = line.find(',', begin) + 1;
    }
    result += line.substr(0, begin) + line.substr(line.find(',', begin)) + "\n";
  }
  return result;
}

// Elsewhere last digits may differ. `same_bits` says that this must be, or that this build has computed the rounds
// before with the bits that the files have; then so must be those after.
void expect_same_end(const std::string& directory, const std::string& end, bool same_bits) {
  if (same_bits) {
    const std::size_t num_rounds = read_table(data_file(end + "/rounds.csv")).num_rows;
    EXPECT_EQ(rounds_text(directory + "/rounds.csv", num_rounds),
              rounds_text(data_file(end + "/rounds.csv"), num_rounds));
    expect_same_errors(directory + "/rounds.csv", data_file(end + "/rounds.csv"));
    const bool joint = load_campaign(directory + "/state.safetensors").settings.acquisition.text().ends_with("-joint");
    const auto text = joint ? without_scores : read_bytes;
    EXPECT_EQ(text(directory + "/chosen.csv"), text(data_file(end + "/chosen.csv")));
    return;
  }
  const Table ours = read_table(directory + "/chosen.csv");
  const Table theirs = read_table(data_file(end + "/chosen.csv"));
  EXPECT_EQ(ours.column("row").values, theirs.column("row").values);
  EXPECT_EQ(ours.column("round").values, theirs.column("round").values);
  for (std::size_t row = 0; row < theirs.num_rows; ++row) {
    EXPECT_NEAR(ours.column("epistemic").values[row], theirs.column("epistemic").values[row], 1e-4);
  }
}

// As it was typed: see the flags in the file.
TEST(FirstRelease, TheSettingsOfACampaignAreRead) {
  const Campaign learn = load_campaign(data_file("learn/state.safetensors"));
  EXPECT_EQ(learn.driver, Driver::kLearn);
  CampaignSettings expected;
  set_fields(expected, {{"model", "flow"},
                        {"log_targets", "none"},
                        {"stray_rows", false},
                        {"validation", 0.1},
                        {"scaling", "minmax"},
                        {"choose_epoch", true},
                        {"trend", false},
                        {"calibrate_spread", false},
                        {"acquisition", "bhattacharyya"},
                        {"batch", std::uint64_t{3}},
                        {"candidates", std::uint64_t{12}},
                        {"hidden", std::vector<std::uint64_t>{8}},
                        {"components", std::uint64_t{3}},
                        {"epochs", std::uint64_t{30}},
                        {"keep_probability", 0.8},
                        {"flow_hidden", std::vector<std::uint64_t>{4}},
                        {"alternate_layers", false},
                        {"share_weights", true},
                        {"batch_size", std::uint64_t{4}},
                        {"learning_rate", 0.02},
                        // Defaults of the first release.
                        {"scaling", "minmax"},
                        {"validation", 0.1},
                        {"choose_epoch", true},
                        {"trend", false},
                        {"calibrate_spread", false},
                        {"seed", std::uint64_t{3}}});
  EXPECT_EQ(get_fields(learn.settings), get_fields(expected));
  const Campaign ask = load_campaign(data_file("ask/state.safetensors"));
  EXPECT_EQ(ask.driver, Driver::kAsk);
  EXPECT_FALSE(ask.settings.fit.ensemble.bootstrap);
  EXPECT_EQ(ask.settings.fit.ensemble.keep_probability, 1);
  EXPECT_EQ(ask.settings.fit.preset, "paper");
  EXPECT_EQ(ask.settings.fit.train.learning_rate, 5e-4);
  EXPECT_EQ(ask.settings.fit.train.epochs, 20U);
  // What the preset was then.
  EXPECT_EQ(ask.settings.fit.train.validation, 0.1);
  EXPECT_EQ(ask.settings.fit.train.batch_size, 4U);  // as typed
  EXPECT_EQ(ask.settings.fit.ensemble.flow_hidden, (std::vector<std::size_t>{20, 20}));
  EXPECT_EQ(ask.settings.candidates, Candidates(MethodDefault()));
  EXPECT_EQ(ask.settings.ranking, Ranking::kDeficit);
  EXPECT_EQ(ask.num_pending(), 1U);
}

TEST(FirstRelease, LearnGoesOnToTheSameEnd) {
  const Copy copy("learn");
  const Problem data = make_problem(
      read_tables({data_file("labelled.csv"), data_file("pool.csv"), data_file("test.csv"), {{"y"}, {}}}), true);
  TableOracle oracle;
  CampaignDirectory anew(copy.dir.file("anew"));
  Campaign again = open_campaign(anew, data, load_campaign(data_file("learn/state.safetensors")).settings);
  learn(anew, again, data, oracle, 2);
  const bool same_bits =
      as_first_release() || read_bytes(anew.file("chosen.csv")) == read_bytes(data_file("learn/chosen.csv"));
  for (const std::size_t num_rounds : {3, 4}) {  // the third round leaves a state of the present format
    CampaignDirectory directory(copy.dir.file("learn"));
    const CampaignSettings settings = load_campaign(directory.file("state.safetensors")).settings;
    Campaign campaign = open_campaign(directory, data, settings);
    EXPECT_EQ(learn(directory, campaign, data, oracle, num_rounds), LearnEnd::kRoundsDone);
  }
  expect_same_end(copy.dir.file("learn"), "learn_end", same_bits);
}

TEST(FirstRelease, AskGoesOnToTheSameEnd) {
  const Copy copy("ask");
  Laboratory anew = Laboratory::open(
      copy.dir.file("anew"),
      {.tables = read_tables(
           {data_file("ask/labelled.csv"), data_file("ask/pool.csv"), data_file("ask/test.csv"), {{"y"}, {"x", "z"}}}),
       .settings = get_fields(load_campaign(data_file("ask/state.safetensors")).settings)});
  anew.ask(3);
  const bool same_bits = as_first_release() || rounds_text(copy.dir.file("anew/rounds.csv"), 1) ==
                                                   rounds_text(data_file("ask/rounds.csv"), 1);
  Laboratory laboratory = Laboratory::open(copy.dir.file("ask"), {});
  EXPECT_EQ(laboratory.ask(4), 3U);
  laboratory.tell(read_answers(read_table(data_file("answers.csv")), {"y"}), true);
  EXPECT_EQ(laboratory.ask(2), 2U);
  expect_same_end(copy.dir.file("ask"), "ask_end", same_bits);
}

}  // namespace
}  // namespace dissent
