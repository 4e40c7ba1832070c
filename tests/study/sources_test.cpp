#include "dissent/study/sources.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "dissent/base/error.hpp"
#include "dissent/study/export.hpp"
#include "dissent/study/source.hpp"
#include "study/made_results.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

StudyResults made_study(const std::string& name, const std::string& problem, std::size_t num_seeds) {
  StudyResults results{.study = name, .source = name};
  add_runs(results, problem, "pne", "kl", num_seeds, 1);
  return results;
}

TEST(Sources, OfOneStudyArePutTogether) {
  const TempDir directory;
  StudyResults here = made_study("s", "hetero", 2);
  StudyResults there = made_study("s", "hetero", 3);  // the same two, and one more
  here.runs[0].rounds.pop_back();
  there.runs[1].rounds.pop_back();
  StudyResults measured{.study = "s", .source = "s"};
  measured.measurements = {{.kind = "seconds", .estimator = "kl", .value = 1}};
  const std::vector<std::string> files = {directory.write("a.csv", rounds_csv(here)),
                                          directory.write("b.csv", rounds_csv(there)),
                                          directory.write("c.csv", measurements_csv(measured))};
  const std::vector<StudyResults> studies = read_sources(files);
  ASSERT_EQ(studies.size(), 1u);
  ASSERT_EQ(studies[0].runs.size(), 3u);
  for (const StudyRun& run : studies[0].runs) {
    EXPECT_EQ(run.rounds.size(), 3u) << run.name;
  }
  EXPECT_EQ(studies[0].measurements.size(), 1u);
}

TEST(Sources, OfOneCampaignTheOneThatEndedCounts) {
  const TempDir directory;
  StudyResults here = made_study("s", "hetero", 1);
  StudyResults there = here;
  here.runs[0].state = CellState::kRunning;
  there.runs[0].state = CellState::kDone;
  const std::string running = directory.write("a.csv", rounds_csv(here));
  const std::string done = directory.write("b.csv", rounds_csv(there));
  for (const std::vector<std::string>& files : {std::vector{running, done}, std::vector{done, running}}) {
    EXPECT_EQ(read_sources(files).at(0).runs.at(0).state, CellState::kDone);
  }
}

TEST(Sources, OfAMisspeltServerNoPasswordIsTold) {
  try {
    read_sources(std::vector<std::string>{"postgesql://me:secret@host/runs"});
    FAIL() << "such a server is known";
  } catch (const InputError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("postgesql://me@host/runs"), std::string::npos) << said;
    EXPECT_EQ(said.find("secret"), std::string::npos) << said;
  }
}

TEST(Sources, OfOtherSettingsAreRefused) {
  const TempDir directory;
  StudyResults here = made_study("s", "hetero", 1);
  StudyResults there = here;
  here.runs[0].epochs = 250;
  there.runs[0].epochs = 1000;
  const std::vector<std::string> files = {directory.write("a.csv", rounds_csv(here)),
                                          directory.write("b.csv", rounds_csv(there))};
  EXPECT_THROW(read_sources(files), InputError);
  there.runs[0].epochs = 0;  // not known
  directory.write("b.csv", rounds_csv(there));
  EXPECT_EQ(read_sources(files).at(0).runs.size(), 1u);
}

TEST(Sources, MeasurementsThatAreThereTwiceCountOnce) {
  const TempDir directory;
  StudyResults measured{.study = "s", .source = "s"};
  measured.measurements = {{.kind = "seconds", .estimator = "kl", .value = 1},
                           {.kind = "seconds", .estimator = "kl", .value = 2}};
  const std::string file = directory.write("a.csv", measurements_csv(measured));
  EXPECT_EQ(read_sources(std::vector{file, file}).at(0).measurements.size(), 2u);
}

TEST(Sources, AreChosenByName) {
  const TempDir directory;
  const std::vector<std::string> files = {directory.write("a.csv", rounds_csv(made_study("first", "hetero", 1))),
                                          directory.write("b.csv", rounds_csv(made_study("second", "hetero", 1)))};
  EXPECT_EQ(read_sources(files).size(), 2u);
  const std::vector<StudyResults> one = read_sources(files, std::vector<std::string>{"second"});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].study, "second");
  try {
    read_sources(files, std::vector<std::string>{"secund"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'second'?"), std::string::npos) << error.what();
  }
}

TEST(Sources, AreToldByBeginningContentAndEnding) {
  const TempDir directory;
  EXPECT_EQ(study_source("sqlite:a.csv").kind, SourceKind::kStoreFile);
  EXPECT_EQ(study_source("sqlite:a.csv").file(), "a.csv");
  EXPECT_EQ(study_source("postgresql://u@h/d").kind, SourceKind::kServer);
  EXPECT_EQ(study_source("postgres://u@h/d").file(), "");
  EXPECT_EQ(study_source("a.csv").kind, SourceKind::kExport);
  EXPECT_EQ(study_source("a.csv.gz").kind, SourceKind::kExport);
  EXPECT_EQ(study_source("a.gz").kind, SourceKind::kNone);
  EXPECT_EQ(study_source("runs.db").kind, SourceKind::kNone);  // there is no such file
  const std::string file = directory.file("runs");
  StudyStore::open("sqlite:" + file);
  EXPECT_EQ(study_source(file).kind, SourceKind::kStoreFile);
  EXPECT_EQ(study_source(file).url(), "sqlite:" + file);
}

TEST(Sources, WhatIsNoneIsDescribed) {
  const TempDir directory;
  const auto message = [&](const std::string& name, const std::string& content) {
    const std::string path = content == "-" ? directory.file(name) : directory.write(name, content);
    try {
      read_sources(std::vector{path});
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("(.csv or .csv.gz)"), std::string::npos) << error.what();
      return std::string(error.what());
    }
    ADD_FAILURE() << name << " was taken";
    return std::string();
  };
  const auto holds = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  for (const char* name : {"chart.png", "chart.csv", "chart.csv.gz"}) {
    holds(message(name, "\x89PNG\r\n"), "it looks like a PNG picture");
  }
  for (const char* name : {"empty.db", "empty.csv"}) {
    holds(message(name, ""), "it looks like an empty file");
  }
  holds(message("none.csv", "-"), "there is no such file");
  holds(message("none.db", "-"), "there is no such file");
  holds(message("grid.toml", "name = 'a'\n"), "'dissent study run");
  holds(message("rounds.txt", "study,cell\n"), "let its name end in .csv");
  holds(message("rounds.gz", "\x1f\x8b\x08"), "let its name end in .csv.gz");
  holds(message("data.csv", "a,b,c,d,e,f\n1,2,3,4,5,6\n"), "it has no column 'study', but a, b, c, d, e, ...");
  holds(message("ranks.csv", "kind,estimator,value\na,b,1\n"), "it has no column 'study', but kind, estimator, value");
  std::filesystem::create_directory(directory.file("campaign"));
  holds(message("campaign", "-"), "it looks like a folder");
  directory.write("campaign/state.safetensors", "x");
  holds(message("campaign", "-"), "it is a campaign, which 'dissent report");
  EXPECT_THROW(read_sources(std::vector{"sqlite:" + directory.write("text.db", "text")}), InputError);
}

TEST(Sources, PooledKeepMethodsOfOneTaskApart) {
  const StudyResults studies[] = {made_study("a", "hetero", 2), made_study("b", "hetero", 3),
                                  made_study("c", "bimodal", 1)};
  const StudyResults all = pooled(studies);
  EXPECT_EQ(all.study, "a, b, c");
  ASSERT_EQ(all.runs.size(), 6u);
  EXPECT_EQ(all.runs[0].method, "kl");
  EXPECT_EQ(all.runs[2].method, "kl, study=b");
  EXPECT_EQ(all.runs[4].method, "kl, study=b");
  EXPECT_EQ(all.runs[5].method, "kl");  // of another task
}

}  // namespace
}  // namespace dissent
