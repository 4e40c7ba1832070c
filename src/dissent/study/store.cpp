#include "dissent/study/store.hpp"

#include <filesystem>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/study/sql_store.hpp"

namespace dissent {

std::string_view cell_state_name(CellState state) {
  constexpr std::string_view kNames[] = {"waiting", "running", "done", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

std::unique_ptr<StudyStore> StudyStore::open(const std::string& url, Access access, double patience) {
  DatabaseUrl parsed = parse_database_url(url);
  if (access == Access::kRead && parsed.kind == DatabaseKind::kSqlite) {
    std::error_code unknown;
    check(std::filesystem::exists(parsed.target, unknown), "{}: there is no such file", parsed.target);
  }
  return std::make_unique<SqlStudyStore>(std::move(parsed), access, patience);
}

}  // namespace dissent
