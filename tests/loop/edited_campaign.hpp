// A small campaign on disk, to be spoiled by tests and opened again: a few rows, a model fitted in milliseconds, one
// round answered and one that waits.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "dissent/loop/campaign_directory.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/table/csv.hpp"
#include "support/temp_dir.hpp"

namespace dissent {

using Files = std::map<std::string, std::string>;  // name -> bytes

inline Files read_files(const std::string& directory) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.symlink_status().type() == std::filesystem::file_type::regular) {
      files[entry.path().filename().string()] = read_bytes(entry.path().string());
    }
  }
  return files;
}

inline void write_files(const std::string& directory, const Files& files) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  for (const auto& [name, bytes] : files) {
    std::ofstream(directory + "/" + name, std::ios::binary) << bytes;
  }
}

// y = x0 + x1 / 2; the pool has what people need to find a row, and what nobody looks at.
inline CampaignTables small_tables(double shift) {
  const auto table = [&](const char* name, int count, double first, bool labelled) {
    std::ostringstream text;
    text << (labelled ? "x0,x1,y\n" : "x0,x1,site,depth\n");
    for (int k = 0; k < count; ++k) {
      const double a = first + shift + 0.37 * k;
      const double b = first - 0.11 * k * k;
      text << a << "," << b << ",";
      labelled ? text << a + b / 2 << "\n" : text << "site " << k % 3 << "," << 10 * k << "\n";
    }
    return parse_csv(text.str(), name);
  };
  CampaignTables tables;
  tables.labelled = table("labelled", 8, 0.1, true);
  tables.pool = table("pool", 10, 0.3, false);
  tables.test = table("test", 5, 0.7, true);
  tables.columns = {{"y"}, {"x0", "x1"}};
  return tables;
}

inline void begin_small_campaign(const std::string& directory, double shift, std::uint64_t seed) {
  Laboratory laboratory = Laboratory::open(directory, {.tables = small_tables(shift),
                                                       .settings = {{"model", "pne"},
                                                                    {"epochs", std::uint64_t{2}},
                                                                    {"hidden", std::vector<std::uint64_t>{3}},
                                                                    {"components", std::uint64_t{2}},
                                                                    {"acquisition", "kl"},
                                                                    {"seed", seed}}});
  laboratory.ask(3);
  std::ostringstream answers;
  answers << "row,y\n";
  for (const ChosenRow& chosen : laboratory.campaign().chosen) {
    answers << chosen.row << "," << 0.5 + static_cast<double>(chosen.row) << "\n";
  }
  laboratory.tell(read_answers(parse_csv(answers.str(), "answers"), {"y"}), true);
  laboratory.ask(2);
}

// All that later steps follow from, as text: state, data, pool and what the model predicts.
inline std::string text_of(Laboratory& laboratory) {
  std::ostringstream text;
  const Campaign& campaign = laboratory.campaign();
  text << driver_name(campaign.driver) << " " << campaign.num_targets << "\n";
  for (const auto& [name, value] : get_fields(campaign.settings)) {
    text << name << " " << to_text(value) << "\n";
  }
  for (const ChosenRow& chosen : campaign.chosen) {
    for (const auto& [name, value] : get_fields(chosen)) {
      text << name << " " << to_text(value) << "\n";
    }
    for (const double target : chosen.targets) {
      text << fmt::format("target {}\n", target);
    }
    text << chosen.why << "\n";
  }
  std::vector<RoundRecord> rounds = campaign.rounds;
  if (campaign.fitted) {
    rounds.push_back(*campaign.fitted);
  }
  for (const RoundRecord& round : rounds) {
    for (const auto& [name, value] : get_fields(round)) {
      text << name << " " << to_text(value) << "\n";
    }
  }
  text << fmt::format("data {} {}\n", campaign.data_fingerprint, fingerprint(laboratory.data()));
  text << format_csv(laboratory.pool());
  const Mixture<double> mixture = laboratory.model().predict(laboratory.data().test.inputs);
  text << fmt::format("{} {}\n", fmt::join(mixture.mean, ","), fmt::join(mixture.stddev, ","));
  return text.str();
}

// What opening a directory comes to: everything it goes on with, or why it was refused.
struct Opened {
  std::string text;   // empty where it was refused
  std::string error;  // empty where it was not
};

inline Opened open_again(const std::string& directory) {
  try {
    Laboratory laboratory = Laboratory::open(directory, {});
    return {text_of(laboratory), ""};
  } catch (const InputError& error) {
    return {"", error.what()};
  } catch (const SystemError& error) {
    return {"", error.what()};
  }
}

// Two campaigns of different data; each test works on a copy of the first.
class SmallCampaigns {
 public:
  SmallCampaigns() {
    begin_small_campaign(dir_.file("own"), 0, 1);
    begin_small_campaign(dir_.file("other"), 0.25, 2);
    own_ = read_files(dir_.file("own"));
    other_ = read_files(dir_.file("other"));
    write_files(path(), own_);
    whole_ = open_again(path()).text;
  }
  const Files& own() const { return own_; }
  const Files& other() const { return other_; }
  const std::string& whole() const { return whole_; }  // what an unspoiled copy goes on with
  std::string path() const { return dir_.file("copy"); }
  std::string file(const std::string& name) const { return path() + "/" + name; }
  std::string other_file(const std::string& name) const { return dir_.file("other/" + name); }
  std::string parent() const { return dir_.path(); }

 private:
  TempDir dir_;
  Files own_;
  Files other_;
  std::string whole_;
};

}  // namespace dissent
