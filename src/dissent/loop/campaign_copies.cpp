#include "dissent/loop/campaign_copies.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "dissent/base/check_in.hpp"
#include "dissent/base/digest.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/file_identity.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

constexpr auto kLabelled = kCopyFiles[0];
constexpr auto kPool = kCopyFiles[1];
constexpr auto kTest = kCopyFiles[2];
constexpr auto kAim = kCopyFiles[3];

// The table it is made from, where it goes and what it holds.
struct Copy {
  std::string source;
  std::string name;
  std::string path;
  std::string text;
};

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

bool holds(const std::string& path, std::string_view text) {
  const MappedFile file(path);
  return std::ranges::equal(file.bytes(), std::as_bytes(std::span(text)));
}

std::string digest_of(std::string_view text) { return fmt::format("{:016x}", digest(text)); }

std::string digest_of_file(const std::string& path) {
  const MappedFile file(path);
  return digest_of({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
}

// Copies hold less than the tables they are made from, and must not replace anybody else's file. A file already there
// with the same bytes is from a beginning that was cut short.
void check_copies(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    for (const Copy& other : copies) {
      check_in(other.source, !exists(copy.path) || !same_file(copy.path, other.source),
               "would be replaced by the campaign's copy of a table; give another directory");
    }
    check_in(copy.path, !exists(copy.path) || holds(copy.path, copy.text),
             "is there and would be replaced by the campaign's copy of a table; move it, or give another directory");
  }
}

}  // namespace

CopyDigests save_copies(const std::string& directory, const CampaignTables& tables) {
  std::vector<Copy> copies;
  const auto add = [&](const std::optional<Table>& table, const char* name) {
    const std::string path = directory + "/" + name;
    if (table) {
      copies.push_back({table->source, name, path, format_csv(*table, table->style)});
    }
    check_in(path, table || !exists(path), "is there, but `{}` is not given; remove it, or give another directory",
             std::string_view(name).substr(0, std::string_view(name).find('.')));
  };
  add(tables.labelled, kLabelled);
  add(tables.pool, kPool);
  add(tables.test, kTest);
  add(tables.aim, kAim);
  check_copies(copies);
  CopyDigests digests;
  for (const Copy& copy : copies) {
    AtomicFile out(copy.path);
    out.write(copy.text);
    out.commit();
    digests[copy.name] = digest_of(copy.text);
  }
  return digests;
}

CampaignTables load_copies(const std::string& directory, const CopyDigests& digests) {
  const auto read = [&](const char* name, bool needed) -> std::optional<Table> {
    const std::string path = directory + "/" + name;
    const auto known = digests.find(name);
    check_in(path, digests.empty() || known != digests.end() || !exists(path),
             "is there, but the campaign was begun without it; remove it");
    if (!needed && known == digests.end() && !exists(path)) {
      return std::nullopt;
    }
    check_in(path, known == digests.end() || digest_of_file(path) == known->second,
             "was changed after the campaign was begun; put back what it was, or begin another campaign");
    Table table = read_table(path);
    table.notes.clear();  // whoever began the campaign saw them
    return table;
  };
  CampaignTables tables;
  tables.labelled = read(kLabelled, true);
  tables.pool = read(kPool, true);
  tables.test = read(kTest, false);
  tables.aim = read(kAim, false);
  return tables;
}

}  // namespace dissent
