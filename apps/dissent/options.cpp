#include "options.hpp"

#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"

namespace dissent::cli {

void check_csv_output(const std::string& path) {
  check(path == "-" || path.ends_with(".csv"), "--output: '{}' must end in .csv; - is standard output", path);
}

void check_writable(const std::string& path) { const AtomicFile never_committed(path); }

void check_binary_output(const std::string& path) {
  check(path != "-", "--output: a model is not written to standard output; give a file");
  check_writable(path);
}

void add_threads(Command& command, int& threads) {
  command.option(
      "--threads", threads,
      {.help = "Threads to use; 0: one per core. Results do not depend on it", .shown = "T", .least = 0, .most = 1024});
}

void add_device(Command& command, std::string& device, std::string_view help) {
  command.option("--device", device, {.help = help, .shown = "NAME"});
}

void add_seed(Command& command, std::uint64_t& seed) {
  command.option("--seed", seed,
                 {.help = "Seed of everything random; the same seed gives the same results", .shown = "S", .least = 0});
}

void add_json(Command& command, bool& json) {
  command.flag("--json", json, "Print one JSON object instead of text, for scripts");
}

void add_quiet(Command& command, bool& quiet) {
  command.flag("-q,--quiet", quiet, "Print only errors and what was asked for: no summary, no progress");
}

}  // namespace dissent::cli
