// A campaign on disk: one directory, used by one process at a time.
//
//   state.safetensors  the Campaign, replaced atomically after each step: what counts
//   model.safetensors  the model fitted last
//   rounds.csv         one row per round: round,labelled,rmse,rmse_paper,log_likelihood,chosen_epistemic,fit_seconds,
//                      score_seconds
//   chosen.csv         one row per chosen row: round, row, score, epistemic, aleatoric, inputs, targets; empty
//                      where pending
//   lock               held by the process at work (flock), so that its death releases it
//
// The tables repeat the state for other programs and are written after it; one that a kill prevented is written at the
// next step. Whatever fails leaves the state as it was.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/loop/campaign.hpp"

namespace dissent {

class CampaignDirectory {
 public:
  // Creates the directory where there is none, takes the lock and removes what killed processes left half written.
  // InputError when it is no directory or another process is at work in it, SystemError when it cannot be used.
  explicit CampaignDirectory(const std::string& path);
  ~CampaignDirectory();
  CampaignDirectory(CampaignDirectory&&) noexcept;
  CampaignDirectory& operator=(CampaignDirectory&&) noexcept;

  static std::vector<std::string> files(const std::string& path);  // the paths above

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  // Whether a campaign was begun here. InputError when there is none, but files of these names that are not ours.
  bool begun() const;
  Campaign load() const;  // InputError for a damaged file
  void save(const Campaign& campaign);

  void save_model(const Ensemble& model);
  // None when the file is missing, damaged, or not the one that `record` describes: it must be fitted again then.
  std::optional<Ensemble> load_model(const FitRecord& record) const;

  void write_tables(const Campaign& campaign, const Problem& data);

 private:
  struct Lock;
  std::string path_;
  std::unique_ptr<Lock> lock_;
};

// The state as a file; what is wrong with it is an InputError that names it.
void save_campaign(const std::string& path, const Campaign& campaign);
Campaign load_campaign(const std::string& path);
Campaign parse_campaign(std::span<const std::byte> bytes, const std::string& source);

}  // namespace dissent
