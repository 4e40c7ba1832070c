// A campaign on disk: one directory, used by one process at a time.
//
//   state.safetensors  the Campaign, replaced atomically after each step: what counts (see campaign_file.hpp)
//   model.safetensors  the model fitted last
//   rounds.csv         one row per round, one column per field of a RoundRecord
//   chosen.csv         one row per chosen row: the fields of a ChosenRow, inputs, targets; empty if pending
//   labelled.csv       if people are asked, copies of the tables: input columns, then targets
//   pool.csv           every column of the pool but its targets, so that names and notes reach those who measure
//   test.csv           as labelled.csv, if there is one
//   aim.csv            input columns of the rows at which predictions will be needed, if they are given
//   lock               held by the process at work (flock), as is the directory, so that its death releases them
//
// A process at work stops with an error before it writes if its directory was moved or replaced, or its lock is gone
// (see directory_hold.hpp).
//
// rounds.csv and chosen.csv repeat the state for other programs and are written after it; if a kill prevents that, the
// next step writes them. A step that fails leaves the state as it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dissent/loop/campaign_copies.hpp"
#include "dissent/loop/campaign_file.hpp"
#include "dissent/loop/campaign_store.hpp"
#include "dissent/loop/directory_hold.hpp"

namespace dissent {

class CampaignDirectory : public CampaignStore {
 public:
  // Touches nothing before hold(). InputError if the path is a file.
  explicit CampaignDirectory(std::string path);
  ~CampaignDirectory() override;
  CampaignDirectory(CampaignDirectory&&) noexcept;
  CampaignDirectory& operator=(CampaignDirectory&&) noexcept;

  static std::vector<std::string> files(const std::string& path);          // the paths above
  static std::vector<std::string> written_files(const std::string& path);  // those that every step may replace

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  std::string name() const override { return path_; }
  bool begun() const override;
  // Also removes what killed processes left half written. InputError if one of the files is not a regular file,
  // SystemError if the directory cannot be used.
  void hold() override;

  Campaign load() const override;
  void save(const Campaign& campaign) override;
  void save_model(const Ensemble& model) override;
  std::optional<Ensemble> load_model(std::uint64_t fingerprint) const override;
  void save_data(const CampaignTables& tables) override;
  CampaignTables load_data() const override;
  void clear() override;
  void write_tables(const Campaign& campaign, const Problem& data) override;

 private:
  void check_free() const;
  void check_held() const;

  std::string path_;
  std::unique_ptr<DirectoryHold> hold_;
  CopyDigests copies_;  // none before hold(); a read without hold() looks them up
  bool made_ = false;   // hold() made the directory
};

}  // namespace dissent
