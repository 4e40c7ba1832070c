// The store of studies as tables of a database (store_schema.hpp). Internal.
#pragma once

#include <soci/soci.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dissent/study/database.hpp"
#include "dissent/study/store.hpp"

namespace dissent {

class SqlStudyStore final : public StudyStore {
 public:
  SqlStudyStore(DatabaseUrl url, Access access, double patience);

  std::string name() const override { return database_.url().shown; }
  void set_stop(std::function<bool()> stop) override { database_.set_stop(std::move(stop)); }
  void add(const Grid& grid) override;
  std::optional<Claim> claim(const std::string& study, const std::string& worker, double lease,
                             const std::string& only) override;
  void renew(const Claim& claim) override { update(claim, fmt::format("lease_end = {}", lease_end(claim))); }
  void record(const Claim& claim, const Campaign& campaign) override;
  void record(const std::string& study, const std::vector<Measurement>& measurements) override;
  void finish(const Claim& claim) override;
  void fail(const Claim& claim, const std::string& error) override;
  void release(const Claim& claim) override { update(claim, "state = 0"); }
  std::vector<HeldCell> held(const std::string& study, const std::string& only) override;
  std::size_t num_ended(const std::string& study) override { return count(study, "state >= 2", {}); }
  std::size_t num_failed(const std::string& study, const std::string& only) override {
    return count(study, "state = 3", only);
  }
  std::size_t retry(const std::string& study) override;
  std::optional<Campaign> load(const Claim& claim) override;
  std::vector<Measurement> measurements(const std::string& study) override;
  std::vector<std::string> studies() override;
  std::vector<CellRecord> cells(const std::string& study) override;
  std::vector<CellRound> rounds(const std::string& study) override;
  std::vector<CellChoice> choices(const std::string& study) override;

 private:
  std::string lease_end(const Claim& claim) const { return fmt::format("{} + {}", database_.now(), claim.lease); }
  std::size_t count(const std::string& study, const char* condition, const std::string& only);
  void update(const Claim& claim, const std::string& assignments);
  void update_in(soci::session& sql, const Claim& claim, const std::string& assignments);

  Database database_;
};

}  // namespace dissent
