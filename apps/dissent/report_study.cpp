#include "report_study.hpp"

#include <array>
#include <fstream>
#include <string_view>

#include "dissent/base/error.hpp"
#ifdef DISSENT_HAS_STUDIES
#include "dissent/report/study_page.hpp"
#include "dissent/study/sources.hpp"
#endif

namespace dissent::cli {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

bool is_url(std::string_view source) {
  return source.starts_with(kSqlite) || source.starts_with("postgresql:") || source.starts_with("postgres:");
}

bool is_table(std::string_view source) { return source.ends_with(".csv") || source.ends_with(".csv.gz"); }

bool is_sqlite_file(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::array<char, kMagic.size()> head{};
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), head.size()) && std::string_view(head.data(), head.size()) == kMagic;
}

}  // namespace

bool names_study(const std::string& source) { return is_url(source) || is_table(source) || is_sqlite_file(source); }

std::string study_file(const std::string& source) {
  if (source.starts_with(kSqlite)) {
    return source.substr(kSqlite.size());
  }
  return is_url(source) ? "" : source;
}

#ifdef DISSENT_HAS_STUDIES
report::Page study_report(const std::vector<std::string>& sources, const std::vector<std::string>& studies) {
  std::vector<std::string> urls;
  for (const std::string& source : sources) {
    urls.push_back(is_url(source) || is_table(source) ? source : std::string(kSqlite) + source);
  }
  return report::study_page(read_sources(urls, studies));
}
#else
report::Page study_report(const std::vector<std::string>& sources, const std::vector<std::string>&) {
  fail("{}: this program was built without studies; 'dissent study' says what it lacks", sources.front());
}
#endif

}  // namespace dissent::cli
