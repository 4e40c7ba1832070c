#include "dissent/loop/campaign_directory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/loop/shown_rows.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/own_columns.hpp"

namespace dissent {
namespace {

constexpr const char* kState = "state.safetensors";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kRounds = "rounds.csv";
constexpr const char* kChosen = "chosen.csv";
constexpr const char* kLock = "lock";
constexpr std::array kWritten{kState, kModel, kRounds, kChosen, kLock};
constexpr std::array kOwnFiles{kState,        kModel,        kRounds,       kChosen,
                               kCopyFiles[0], kCopyFiles[1], kCopyFiles[2], kCopyFiles[3]};

using FileType = std::filesystem::file_type;

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

void check_no_file(const std::string& path) {
  std::error_code absent;
  check_in(path, !std::filesystem::exists(path, absent) || std::filesystem::is_directory(path, absent),
           "cannot be used as a directory: it is a file");
}

void create_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check_no_file(path);
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    fail_system("{}: cannot be used as a directory: {}", path, error.message());
  }
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// ".NAME.PID-NUMBER.tmp", AtomicFile's name for a temporary, of a file of the campaign; any other such file is not
// ours.
bool is_temporary(std::string_view file, std::string_view name) {
  constexpr std::string_view kEnding = ".tmp";
  if (!file.starts_with('.') || !file.substr(1).starts_with(name) || !file.ends_with(kEnding)) {
    return false;
  }
  file.remove_prefix(1 + name.size());
  file.remove_suffix(kEnding.size());
  const std::size_t dash = file.find('-');
  return file.starts_with('.') && dash != std::string_view::npos && is_number(file.substr(1, dash - 1)) &&
         is_number(file.substr(dash + 1));
}

// Removes those whose process was killed; nobody else writes here while the directory is held.
void remove_temporaries(const std::string& path) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto is_ours = [&](const char* own) { return is_temporary(name, own); };
    if (std::ranges::any_of(kOwnFiles, is_ours) && entry.symlink_status(ignored).type() == FileType::regular) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

// A pipe in place of a file would block its writer for ever; through a link one campaign would write another's file.
void check_regular(const std::string& path) {
  for (const char* name : kOwnFiles) {
    const std::string file = path + "/" + name;
    const bool is_copy = std::ranges::find(kCopyFiles, std::string_view(name)) != kCopyFiles.end();
    std::error_code ignored;
    const FileType type = std::filesystem::symlink_status(file, ignored).type();
    check_in(file, type != FileType::symlink || (is_copy && std::filesystem::exists(file, ignored)),
             "is a symbolic link; a campaign's files are its own, so put the file itself there");
    const FileType target = std::filesystem::status(file, ignored).type();
    check_in(file, target == FileType::not_found || target == FileType::regular,
             "is not a regular file, as a campaign's files are");
  }
}

// Writes unknown values, like a metric without test rows, as missing.
void put(CsvWriter& writer, const Value& value) {
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) {
    writer.field(*whole);
  } else if (const double number = as_number(value); std::isnan(number)) {
    writer.missing();
  } else {
    writer.field(number);
  }
}

template <class S>
void put_fields(CsvWriter& writer, const S& record) {
  for (const Field<S>& field : fields<S>()) {
    put(writer, field.get(record));
  }
}

void write_rounds(const std::string& path, const Campaign& campaign) {
  CsvWriter writer(path, field_names<RoundRecord>());
  for (const RoundRecord& record : measured_models(campaign)) {
    put_fields(writer, record);
    writer.end_row();
  }
  writer.commit();
}

void write_chosen(const std::string& path, const Campaign& campaign, const Problem& data) {
  std::vector<std::string> theirs = shown_names(data);
  theirs.insert(theirs.end(), data.target_names.begin(), data.target_names.end());
  std::vector<std::string> names = own_columns(field_names<ChosenRow>(), theirs);
  names.insert(names.end(), theirs.begin(), theirs.end());
  CsvWriter writer(path, names);
  for (const ChosenRow& chosen : campaign.chosen) {
    put_fields(writer, chosen);
    put_shown(writer, data, chosen.row);
    for (std::size_t d = 0; d < campaign.num_targets; ++d) {
      chosen.targets.empty() ? writer.missing() : writer.field(chosen.targets[d]);
    }
    writer.end_row();
  }
  writer.commit();
}

}  // namespace

CampaignDirectory::CampaignDirectory(std::string path) : path_(std::move(path)) {
  check(!path_.empty(), "the campaign's directory has no name");
  check_no_file(path_);
}

CampaignDirectory::~CampaignDirectory() = default;
CampaignDirectory::CampaignDirectory(CampaignDirectory&&) noexcept = default;
CampaignDirectory& CampaignDirectory::operator=(CampaignDirectory&&) noexcept = default;

std::vector<std::string> CampaignDirectory::written_files(const std::string& path) {
  std::vector<std::string> files;
  for (const char* name : kWritten) {
    files.push_back(path + "/" + name);
  }
  return files;
}

std::vector<std::string> CampaignDirectory::files(const std::string& path) {
  std::vector<std::string> files = written_files(path);
  for (const char* name : kCopyFiles) {
    files.push_back(path + "/" + name);
  }
  return files;
}

bool CampaignDirectory::begun() const { return exists(file(kState)); }

// A new campaign would replace these files.
void CampaignDirectory::check_free() const {
  in_source(path_, [&] {
    for (const char* name : {kModel, kRounds, kChosen}) {
      check(!exists(file(name)),
            "has a file {}, but no campaign it could belong to; it would be replaced, so give another directory", name);
    }
  });
}

void CampaignDirectory::hold() {
  if (hold_ != nullptr) {
    hold_->check();
  } else {
    check_regular(path_);
    if (!begun()) {
      check_free();
    }
    made_ = !exists(path_);
    create_directory(path_);
    hold_ = std::make_unique<DirectoryHold>(path_);
    check_regular(path_);
    remove_temporaries(path_);
    if (begun()) {
      copies_ = load_copy_digests(file(kState));
    }
  }
}

void CampaignDirectory::check_held() const {
  if (hold_ != nullptr) {
    hold_->check();
  }
}

Campaign CampaignDirectory::load() const { return load_campaign(file(kState)); }

void CampaignDirectory::save(const Campaign& campaign) {
  check_held();
  save_campaign(file(kState), campaign, copies_);
}

void CampaignDirectory::save_model(const Ensemble& model) {
  check_held();
  model.save(file(kModel));
}

std::optional<Ensemble> CampaignDirectory::load_model(std::uint64_t fingerprint) const {
  try {
    Ensemble model = Ensemble::load(file(kModel));
    if (dissent::fingerprint(std::as_const(model).parameters()) == fingerprint) {
      return model;
    }
  } catch (const InputError&) {
  }
  return std::nullopt;
}

void CampaignDirectory::save_data(const CampaignTables& tables) {
  check_held();
  copies_ = save_copies(path_, tables);
}

CampaignTables CampaignDirectory::load_data() const {
  return load_copies(path_, hold_ == nullptr && begun() ? load_copy_digests(file(kState)) : copies_);
}

// Removes the state last, so that a kill on the way leaves a campaign that can be cleared again.
void CampaignDirectory::clear() {
  check_held();
  std::vector<const char*> names{kModel, kRounds, kChosen};
  names.insert(names.end(), kCopyFiles.begin(), kCopyFiles.end());
  names.push_back(kState);
  for (const char* name : names) {
    std::error_code error;
    std::filesystem::remove(file(name), error);
    if (error) {
      fail_system("{}: cannot be removed: {}", file(name), error.message());
    }
  }
  copies_.clear();
  if (made_) {
    std::error_code ignored;
    std::filesystem::remove(file(kLock), ignored);
    std::filesystem::remove(path_, ignored);  // unless others have put something there
    hold_.reset();
  }
}

void CampaignDirectory::write_tables(const Campaign& campaign, const Problem& data) {
  check_held();
  write_rounds(file(kRounds), campaign);
  write_chosen(file(kChosen), campaign, data);
}

}  // namespace dissent
