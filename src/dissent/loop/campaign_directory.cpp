#include "dissent/loop/campaign_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

constexpr const char* kState = "state.safetensors";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kRounds = "rounds.csv";
constexpr const char* kChosen = "chosen.csv";
constexpr const char* kLock = "lock";

void create_directory(const std::string& path) {
  check(!path.empty(), "the campaign's directory has no name");
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::error_code ignored;
  check(!std::filesystem::is_regular_file(path, ignored), "{}: cannot be used as a directory: it is a file", path);
  if (!std::filesystem::is_directory(path, ignored)) {
    fail_system("{}: cannot be used as a directory: {}", path, error.message());
  }
}

// ".NAME.PID-NUMBER.tmp", as AtomicFile calls them.
bool is_temporary(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(".tmp")) {
    return false;
  }
  name.remove_suffix(4);
  const std::string_view number = name.substr(name.rfind('.') + 1);
  return number.find('-') != std::string_view::npos &&
         number.find_first_not_of("0123456789-") == std::string_view::npos;
}

// Those whose process was killed; nobody else writes here while the lock is held.
void remove_temporaries(const std::string& path) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    if (is_temporary(entry.path().filename().string())) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

// A number that may be unknown, as without test rows.
void put(CsvWriter& writer, double value) {
  if (std::isnan(value)) {
    writer.missing();
  } else {
    writer.field(value);
  }
}

void write_rounds(const std::string& path, const Campaign& campaign) {
  CsvWriter writer(path, {"round", "labelled", "rmse", "rmse_paper", "log_likelihood", "chosen_epistemic",
                          "fit_seconds", "score_seconds"});
  for (const RoundRecord& record : campaign.rounds) {
    writer.field(record.round);
    writer.field(record.fit.labelled);
    for (const double value : {record.fit.rmse, record.fit.rmse_paper, record.fit.log_likelihood,
                               record.chosen_epistemic, record.fit.seconds, record.score_seconds}) {
      put(writer, value);
    }
    writer.end_row();
  }
  writer.commit();
}

void write_chosen(const std::string& path, const Campaign& campaign, const Problem& data) {
  std::vector<std::string> names{"round", "row", "score", "epistemic", "aleatoric"};
  names.insert(names.end(), data.input_names.begin(), data.input_names.end());
  names.insert(names.end(), data.target_names.begin(), data.target_names.end());
  CsvWriter writer(path, names);
  const std::size_t C = data.input_names.size();
  for (const ChosenRow& chosen : campaign.chosen) {
    writer.field(chosen.round);
    writer.field(chosen.row);
    writer.field(chosen.score);
    writer.field(chosen.epistemic);
    writer.field(chosen.aleatoric);
    for (std::size_t c = 0; c < C; ++c) {
      writer.field(data.pool.inputs[chosen.row * C + c]);
    }
    for (std::size_t d = 0; d < campaign.num_targets; ++d) {
      chosen.targets.empty() ? writer.missing() : writer.field(chosen.targets[d]);
    }
    writer.end_row();
  }
  writer.commit();
}

}  // namespace

struct CampaignDirectory::Lock {
  int descriptor = -1;

  explicit Lock(const std::string& directory) {
    const std::string path = directory + "/" + kLock;
    descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      fail_system("{}: cannot be created: {}", path, std::strerror(errno));
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(descriptor);
      check(error != EWOULDBLOCK, "{}: another process is at work on this campaign; wait for its end, or stop it",
            directory);
      fail_system("{}: cannot be locked: {}", path, std::strerror(error));
    }
  }
  ~Lock() { ::close(descriptor); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

CampaignDirectory::CampaignDirectory(const std::string& path) : path_(path) {
  create_directory(path_);
  lock_ = std::make_unique<Lock>(path_);
  remove_temporaries(path_);
}

CampaignDirectory::~CampaignDirectory() = default;
CampaignDirectory::CampaignDirectory(CampaignDirectory&&) noexcept = default;
CampaignDirectory& CampaignDirectory::operator=(CampaignDirectory&&) noexcept = default;

std::vector<std::string> CampaignDirectory::files(const std::string& path) {
  std::vector<std::string> files;
  for (const char* name : {kState, kModel, kRounds, kChosen, kLock}) {
    files.push_back(path + "/" + name);
  }
  return files;
}

bool CampaignDirectory::begun() const {
  if (std::filesystem::exists(file(kState))) {
    return true;
  }
  for (const char* name : {kModel, kRounds, kChosen}) {
    check(!std::filesystem::exists(file(name)),
          "{}: has a file {}, but no campaign it could belong to; it would be replaced, so give another directory",
          path_, name);
  }
  return false;
}

Campaign CampaignDirectory::load() const { return load_campaign(file(kState)); }

void CampaignDirectory::save(const Campaign& campaign) { save_campaign(file(kState), campaign); }

void CampaignDirectory::save_model(const Ensemble& model) { model.save(file(kModel)); }

std::optional<Ensemble> CampaignDirectory::load_model(const FitRecord& record) const {
  try {
    Ensemble model = Ensemble::load(file(kModel));
    if (fingerprint(std::as_const(model).parameters()) == record.fingerprint) {
      return model;
    }
  } catch (const InputError&) {
  }
  return std::nullopt;
}

void CampaignDirectory::write_tables(const Campaign& campaign, const Problem& data) {
  write_rounds(file(kRounds), campaign);
  write_chosen(file(kChosen), campaign, data);
}

}  // namespace dissent
