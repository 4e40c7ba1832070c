#include "console.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

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

void flush_output() {
  if (std::fflush(stdout) != 0) {
    fail_output();
  }
}

}  // namespace dissent::cli
