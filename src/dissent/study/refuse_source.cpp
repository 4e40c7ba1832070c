#include "dissent/study/refuse_source.hpp"

#include <filesystem>

#include "dissent/base/error.hpp"
#include "dissent/study/source.hpp"

namespace dissent {
namespace {

bool is_campaign(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(std::filesystem::path(path) / "state.safetensors", unknown);
}

// What to do with a file of that kind; empty if there is no advice.
std::string advice_for(FileKind kind, const std::string& path) {
  if (kind == FileKind::kFolder && is_campaign(path)) {
    return fmt::format("; it is a campaign, which 'dissent report {}' shows", path);
  }
  if (kind == FileKind::kSafetensors) {
    return fmt::format("; if it is a model, 'dissent report {}' shows it", path);
  }
  if (kind == FileKind::kText && path.ends_with(".toml")) {
    return fmt::format("; if it is a grid, 'dissent study run {}' runs it and makes a store", path);
  }
  if (kind == FileKind::kText || kind == FileKind::kGzip) {
    const std::string_view ending = kExportEndings[kind == FileKind::kGzip ? 1 : 0];
    return path.ends_with(ending)
               ? fmt::format("; if 'dissent study export' wrote it, give it without {}", kSqliteScheme)
               : fmt::format("; if 'dissent study export' wrote it, let its name end in {}", ending);
  }
  return "";
}

}  // namespace

void refuse_source(const std::string& path, const std::string& why) {
  const FileLook look = look_at_file(path);
  std::string found = why;
  std::string advice;
  if (look.kind == FileKind::kMissing) {
    found = "there is no such file";
  } else if (why.empty()) {
    found = fmt::format("it looks like {}", look.name);
    advice = advice_for(look.kind, path);
  }
  throw InputError(Fault{.source = path, .rule = fmt::format("{}; give {}{}", found, kKnownSources, advice)});
}

}  // namespace dissent
