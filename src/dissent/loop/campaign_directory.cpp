#include "dissent/loop/campaign_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/loop/shown_rows.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/own_columns.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

constexpr const char* kState = "state.safetensors";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kRounds = "rounds.csv";
constexpr const char* kChosen = "chosen.csv";
constexpr const char* kLabelled = "labelled.csv";
constexpr const char* kPool = "pool.csv";
constexpr const char* kTest = "test.csv";
constexpr const char* kAim = "aim.csv";
constexpr const char* kLock = "lock";

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

// What is unknown, as a metric without test rows, is missing.
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

// A copy of a table: the table it is made from, and where and what it will be.
struct Copy {
  std::string source;
  std::string path;
  std::string text;
};

bool holds(const std::string& path, std::string_view text) {
  const MappedFile file(path);
  return std::ranges::equal(file.bytes(), std::as_bytes(std::span(text)));
}

// Copies hold less than the tables they are made from, and replace nothing of anybody else's. Those that are there
// with the same bytes are of a beginning that was cut short.
void check_copies(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    for (const Copy& other : copies) {
      in_source(other.source, [&] {
        std::error_code ignored;
        check(!std::filesystem::equivalent(copy.path, other.source, ignored),
              "would be replaced by the campaign's copy of a table; give another directory");
      });
    }
    check_in(copy.path, !exists(copy.path) || holds(copy.path, copy.text),
             "is there and would be replaced by the campaign's copy of a table; move it, or give another directory");
  }
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
      check_in(directory, error != EWOULDBLOCK,
               "another process is at work on this campaign; wait for its end, or stop it");
      fail_system("{}: cannot be locked: {}", path, std::strerror(error));
    }
  }
  ~Lock() { ::close(descriptor); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

CampaignDirectory::CampaignDirectory(std::string path) : path_(std::move(path)) {
  check(!path_.empty(), "the campaign's directory has no name");
  check_no_file(path_);
}

CampaignDirectory::~CampaignDirectory() = default;
CampaignDirectory::CampaignDirectory(CampaignDirectory&&) noexcept = default;
CampaignDirectory& CampaignDirectory::operator=(CampaignDirectory&&) noexcept = default;

std::vector<std::string> CampaignDirectory::files(const std::string& path) {
  std::vector<std::string> files;
  for (const char* name : {kState, kModel, kRounds, kChosen, kLock, kLabelled, kPool, kTest, kAim}) {
    files.push_back(path + "/" + name);
  }
  return files;
}

bool CampaignDirectory::begun() const {
  if (exists(file(kState))) {
    return true;
  }
  in_source(path_, [&] {
    for (const char* name : {kModel, kRounds, kChosen}) {
      check(!exists(file(name)),
            "has a file {}, but no campaign it could belong to; it would be replaced, so give another directory", name);
    }
  });
  return false;
}

void CampaignDirectory::hold() {
  if (lock_ == nullptr) {
    create_directory(path_);
    lock_ = std::make_unique<Lock>(path_);
    remove_temporaries(path_);
  }
}

Campaign CampaignDirectory::load() const { return load_campaign(file(kState)); }

void CampaignDirectory::save(const Campaign& campaign) { save_campaign(file(kState), campaign); }

void CampaignDirectory::save_model(const Ensemble& model) { model.save(file(kModel)); }

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
  std::vector<Copy> copies;
  copies.push_back({tables.labelled->source, file(kLabelled), format_csv(*tables.labelled)});
  copies.push_back({tables.pool->source, file(kPool), format_csv(*tables.pool)});
  const auto add = [&](const std::optional<Table>& table, const char* name, const char* argument) {
    if (table) {
      copies.push_back({table->source, file(name), format_csv(*table)});
    }
    check_in(file(name), table || !exists(file(name)),
             "is there, but `{}` is not given; remove it, or give another directory", argument);
  };
  add(tables.test, kTest, "test");
  add(tables.aim, kAim, "aim");
  check_copies(copies);
  for (const Copy& copy : copies) {
    AtomicFile out(copy.path);
    out.write(copy.text);
    out.commit();
  }
}

CampaignTables CampaignDirectory::load_data() const {
  CampaignTables tables;
  tables.labelled = read_table(file(kLabelled));
  tables.pool = read_table(file(kPool));
  if (exists(file(kTest))) {
    tables.test = read_table(file(kTest));
  }
  if (exists(file(kAim))) {
    tables.aim = read_table(file(kAim));
  }
  return tables;
}

void CampaignDirectory::write_tables(const Campaign& campaign, const Problem& data) {
  write_rounds(file(kRounds), campaign);
  write_chosen(file(kChosen), campaign, data);
}

}  // namespace dissent
