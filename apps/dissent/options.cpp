#include "options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"

namespace dissent::cli {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, description);
  command->group("Commands");
  command->footer("Examples:\n" + examples);
  return command;
}

Check number_from(double min) {
  return [min](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool valid = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
    return valid && value >= min ? "" : fmt::format("'{}' is not a number >= {}", text, min);
  };
}

Check whole_number(std::uint64_t min, std::uint64_t max) {
  return [min, max](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= min && value <= max) {
      return "";
    }
    return max == kNoLimit ? fmt::format("'{}' is not a whole number >= {}", text, min)
                           : fmt::format("'{}' is not a whole number from {} to {}", text, min, max);
  };
}

std::string not_empty(const std::string& text) { return text.empty() ? "the value is empty" : ""; }

void check_distinct(const std::string& output, const std::string& other, const std::string& why) {
  std::error_code ignored;
  const auto full = [&](const std::string& path) {  // absolute, for a name alone has no existing part to resolve
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  check(output.empty() || other.empty() || full(output) != full(other),
        "'{}' {} and would be overwritten; give the output another name", output, why);
}

void check_csv_output(const std::string& path) {
  check(path == "-" || path.ends_with(".csv"), "--output: '{}' must end in .csv; - is standard output", path);
}

void check_writable(const std::string& path) { const AtomicFile never_committed(path); }

CLI::Option* add_threads(CLI::App& command, int& threads) {
  return command.add_option("--threads", threads, "Threads to use; 0: one per core. Results do not depend on it")
      ->option_text("T=0")
      ->check(whole_number(0, 1024));
}

CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed) {
  return command.add_option("--seed", seed, "Seed of everything random; the same seed gives the same results")
      ->option_text("S=0")
      ->check(whole_number(0));
}

CLI::Option* add_json(CLI::App& command, bool& json) {
  return command.add_flag("--json", json, "Print one JSON object instead of text, for scripts");
}

CLI::Option* add_quiet(CLI::App& command, bool& quiet) {
  return command.add_flag("-q,--quiet", quiet, "Print no summary and no progress, only errors and what was asked for");
}

}  // namespace dissent::cli
