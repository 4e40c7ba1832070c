#include "console.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "dissent/base/error.hpp"

namespace dissent::cli {
namespace {

[[noreturn]] void fail_output() { fail_system("standard output: write failed: {}", std::strerror(errno)); }

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    fail_output();
  }
}

void print_json(const nlohmann::ordered_json& value) {
  print(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void flush_output() {
  if (std::fflush(stdout) != 0) {
    fail_output();
  }
}

}  // namespace dissent::cli
