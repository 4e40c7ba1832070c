#include "dissent/loop/export_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/value_json.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

// A column of ours may have underscores after its name.
bool is_ours(const Column& column, std::string_view name) {
  const std::string_view own = column.name;
  return own.starts_with(name) && own.find_first_not_of('_', name.size()) == std::string_view::npos;
}

bool is_exported_table(const Table& table) {
  constexpr std::array<std::string_view, 3> kFirst{"source", "round", "row"};
  constexpr std::array<std::string_view, 3> kLast{"asked", "told", "why"};
  constexpr std::array<std::string_view, 4> kSources{"given", "chosen", "unasked", "extra"};
  const std::size_t count = table.columns.size();
  if (count < kFirst.size() + kLast.size()) {
    return false;
  }
  for (std::size_t k = 0; k < kFirst.size(); ++k) {
    if (!is_ours(table.columns[k], kFirst[k]) || !is_ours(table.columns[count - kLast.size() + k], kLast[k])) {
      return false;
    }
  }
  return std::ranges::all_of(table.columns.front().text, [&](const std::string& source) {
    return std::ranges::find(kSources, source) != kSources.end();
  });
}

bool is_exported_json(const std::string& path) {
  const MappedFile file(path);
  const auto* const begin = reinterpret_cast<const char*>(file.bytes().data());
  const Json json = Json::parse(begin, begin + file.bytes().size(), nullptr, false);
  const auto has = [&](const char* name) { return json.contains(name); };
  constexpr std::array kParts{"command", "inputs", "targets", "settings", "rounds", "rows", "pending", "dropped"};
  return json.is_object() && std::ranges::all_of(kParts, has);
}

bool is_export(const std::string& path) {
  try {
    return path.ends_with(".json") ? is_exported_json(path) : is_exported_table(read_csv(path));
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

void check_export_replaces(const std::string& path) {
  std::error_code ignored;
  const bool there = std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) > 0;
  check_in(path, !there || is_export(path), "is there and is no export of a campaign; give another name, or remove it");
}

}  // namespace dissent
